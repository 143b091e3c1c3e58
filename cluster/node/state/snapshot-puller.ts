/**
 * Brings this node to a snapshot of another one, when the core orders it or the state here is damaged.
 *
 * Owns: the one pull under way. Knows nothing of: the transport's wire, the rows, the order of peers; why a state is replaced.
 * Rule: nothing is applied while the state is being replaced, and the core is notified only after the new state is durable.
 */
import { assert } from '../../base/assert.ts'
import type { MachineRecord } from '../base/machine-record.ts'
import type { SnapshotCounts } from './snapshot-cuts.ts'
import { pullState } from './state-pull.ts'
import type { Input, LogBase, NodeId } from '../../raft/types.ts'
import type { Transport } from '../../transport/transport.ts'
import type { Logger, StateMachine } from '../../base/types.ts'
import type { Applier } from './applier.ts'
import type { NodeLimits } from '../base/limits.ts'

export interface SnapshotPullerParts {
  readonly transport: Transport
  readonly stateMachine: StateMachine
  readonly applier: Applier
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly counts: SnapshotCounts
  readonly submit: (input: Input) => void
  /** Every other member, leader or not: any of them that has applied enough may be the source. */
  readonly peers: () => readonly NodeId[]
  /** The state has jumped to this record. Called before the core is notified. */
  readonly onInstalled: (record: MachineRecord) => void
}

export class SnapshotPuller {
  readonly #parts: SnapshotPullerParts
  readonly #abort = new AbortController()
  #pull: Promise<void> = Promise.resolve()
  #isPulling = false

  constructor(parts: SnapshotPullerParts) {
    this.#parts = parts
  }

  get isPulling(): boolean {
    return this.#isPulling
  }

  fetch(from: NodeId, atLeast: LogBase): void {
    if (this.#abort.signal.aborted) return
    assert(!this.#isPulling, 'the core orders a pull only after the one before was answered')
    this.#isPulling = true
    this.#pull = this.#run(from, atLeast)
  }

  /**
   * Replaces the state here by that of a peer that has applied as much; false when no peer has. Runs after the pull that the core
   * ordered, if one is under way: it orders no other meanwhile. Throws the error of the last peer that failed.
   */
  async replace(from: NodeId | null, onReplaced: (record: MachineRecord) => void): Promise<boolean> {
    await this.#pull
    if (this.#abort.signal.aborted) return false
    assert(!this.#isPulling, 'the core orders no pull while the state is replaced')
    const { applier } = this.#parts
    this.#isPulling = true
    const isWanted = ({ index }: LogBase): boolean => index >= applier.appliedIndex
    const pulled = applier.install(() => this.#pullInto(from, isWanted), onReplaced)
    this.#pull = pulled.then(
      () => undefined,
      () => undefined,
    )
    try {
      return (await pulled) !== null
    } finally {
      this.#isPulling = false
    }
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#pull
  }

  async #run(from: NodeId, atLeast: LogBase): Promise<void> {
    const { applier, counts, logger, submit, onInstalled } = this.#parts
    logger.info({ peer: from, index: atLeast.index, term: atLeast.term }, 'snapshot pull begins')
    let record: MachineRecord | null = null
    try {
      const isWanted = ({ index }: LogBase): boolean => index >= atLeast.index && index > applier.appliedIndex
      record = await applier.install(() => this.#pullInto(from, isWanted))
    } catch (error) {
      // Nothing was switched: the old state stays and the leader offers again.
      counts.failed += 1
      logger.warn({ peer: from, err: error }, 'snapshot pull failed')
    }
    this.#isPulling = false
    if (record === null) {
      submit({ type: 'snapshotFailed' })
      return
    }
    counts.installed += 1
    const base = { index: record.appliedIndex, term: record.appliedTerm }
    logger.info({ peer: from, ...base }, 'snapshot installed')
    onInstalled(record)
    const { configuration, configurationIndex } = record
    submit({ type: 'snapshotInstalled', base, configuration, configurationIndex })
  }

  /** `first`, unless it is null, and then every other member. */
  #pullInto(first: NodeId | null, isWanted: (base: LogBase) => boolean): Promise<Uint8Array | null> {
    const { peers } = this.#parts
    const { signal } = this.#abort
    const others = peers().filter((peer) => peer !== first)
    return pullState(
      { ...this.#parts, signal },
      { peers: first === null ? others : [first, ...others], isWanted },
    )
  }
}
