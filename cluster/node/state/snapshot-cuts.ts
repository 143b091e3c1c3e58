/**
 * The cuts of the local state that other nodes are reading.
 *
 * Owns: how many there are, and when one is dropped. Knows nothing of: why a node reads.
 * Rule: a cut keeps data that LevelDB could delete, so each cut ends: its reader closes it or opens another, or is silent for too
 * long, or this node stops. A reader whose cut is gone opens a new one and continues where it was.
 */
import { decodeMachineRecord } from '../base/machine-record.ts'
import {
  decodeBlockRequest,
  decodeId,
  encodeBlock,
  encodeOpened,
  SNAPSHOT_METHODS,
} from './snapshot-calls.ts'
import { type CallHandler, PeerRefusedError } from '../../transport/transport.ts'
import type { LogIndex, NodeId } from '../../raft/types.ts'
import { type StateCut, StateDamagedError, type StateMachine } from '../../base/types.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import type { LogPin } from '../log/log-keeper.ts'
import type { NodeLimits } from '../base/limits.ts'

export interface SnapshotCounts {
  served: number
  blocks: number
  installed: number
  failed: number
  /** Of rows that came from other nodes, and of rows that the state here had already. */
  fetchedBytes: number
  reusedBytes: number
}

export interface SnapshotCutsParts {
  readonly stateMachine: StateMachine
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly counts: SnapshotCounts
  /** Ids of different processes must differ. */
  readonly boot: number
  readonly appliedIndex: () => LogIndex
  readonly onDamaged: (error: StateDamagedError) => void
}

interface Served {
  readonly cut: StateCut
  readonly reader: NodeId
  /** The last entry in it: its reader needs the log from there on. */
  readonly index: LogIndex
  /** Blocks that are being read. The cut is released after the last of them. */
  uses: number
  isOver: boolean
  idle: Timer
}

export class SnapshotCuts {
  readonly #parts: SnapshotCutsParts
  readonly #served = new Map<string, Served>()
  #opening = 0
  #lastId = 0

  constructor(parts: SnapshotCutsParts) {
    this.#parts = parts
  }

  get handlers(): ReadonlyMap<string, CallHandler> {
    return new Map([
      [SNAPSHOT_METHODS.open, this.#open],
      [SNAPSHOT_METHODS.block, this.#block],
      [SNAPSHOT_METHODS.close, this.#close],
    ])
  }

  get pins(): readonly LogPin[] {
    return [...this.#served.values()].map(({ reader: nodeId, index }) => ({ nodeId, index }))
  }

  /** Every cut is released, or will be when its last block has been read. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#served.keys()].map((id) => this.#giveUp(id)))
  }

  readonly #open: CallHandler = async ({ from }) => {
    const { stateMachine, limits, counts, boot, appliedIndex } = this.#parts
    if (appliedIndex() === 0) throw new PeerRefusedError('nothing_applied', 'This node has no state yet')
    for (const [id, { reader }] of this.#served) if (reader === from) await this.#giveUp(id)
    if (this.#served.size + this.#opening >= limits.snapshotsServedMax)
      throw new PeerRefusedError('slow_down', 'This node sends snapshots already')
    this.#opening += 1
    try {
      const cut = await this.#trusting(() => stateMachine.snapshot())
      this.#lastId += 1
      const id = `${boot}.${this.#lastId}`
      const { appliedIndex: index, appliedTerm: term } = decodeMachineRecord(cut.record)
      this.#served.set(id, { cut, reader: from, index, uses: 0, isOver: false, idle: this.#idleTimer(id) })
      counts.served += 1
      const header = encodeOpened({ id, base: { index, term }, checksum: cut.checksum })
      return { header, body: cut.record }
    } finally {
      this.#opening -= 1
    }
  }

  readonly #block: CallHandler = async ({ from, header }) => {
    const { id, ...request } = decodeBlockRequest(header)
    const served = this.#served.get(id)
    if (served === undefined || served.reader !== from)
      throw new PeerRefusedError('unknown_snapshot', `Snapshot ${id} is not open here any more`)
    served.uses += 1
    served.idle.cancel()
    try {
      const block = await this.#trusting(() => served.cut.block(request))
      this.#parts.counts.blocks += 1
      return { header: encodeBlock(block), body: block.rows ?? new Uint8Array(0) }
    } finally {
      served.uses -= 1
      if (served.isOver && served.uses === 0) await served.cut.release()
      else if (served.uses === 0) served.idle = this.#idleTimer(id)
    }
  }

  readonly #close: CallHandler = async ({ from, header }) => {
    const id = decodeId(header)
    if (this.#served.get(id)?.reader === from) await this.#giveUp(id)
    return { header: null }
  }

  #idleTimer(id: string): Timer {
    const { clock, limits } = this.#parts
    return clock.after(limits.snapshotIdleMs, () => void this.#giveUp(id))
  }

  async #giveUp(id: string): Promise<void> {
    const served = this.#served.get(id)
    if (!served) return
    this.#served.delete(id)
    served.idle.cancel()
    served.isOver = true
    if (served.uses === 0) await served.cut.release()
  }

  /** Damage that is found while reading for others is damage of this node. */
  async #trusting<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof StateDamagedError)) throw error
      this.#parts.onDamaged(error)
      throw new PeerRefusedError('state_damaged', 'The state of this node is damaged', { cause: error })
    }
  }
}
