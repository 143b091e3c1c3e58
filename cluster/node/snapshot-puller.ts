/**
 * Brings this node to a snapshot of another one when the core orders it.
 *
 * Owns: the one pull under way. Knows nothing of: the transport's wire, the rows.
 * Rule: while the state is being replaced nothing is applied, and the core hears of it only after the new state is durable.
 */
import { assert } from './assert.ts'
import { callSnapshot, type SnapshotCounts } from './snapshot-call.ts'
import { decodeMachineRecord, type MachineRecord } from './machine-record.ts'
import type { Input, LogBase, NodeId } from '../raft/types.ts'
import type { Transport } from '../transport/transport.ts'
import type { Logger, StateMachine } from '../types.ts'
import type { Applier } from './applier.ts'
import type { NodeLimits } from './limits.ts'

export interface SnapshotPullerParts {
  readonly transport: Transport
  readonly stateMachine: StateMachine
  readonly applier: Applier
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly counts: SnapshotCounts
  readonly submit: (input: Input) => void
  /** The state has jumped to this record. Called before the core hears of it. */
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

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#pull
  }

  async #run(from: NodeId, atLeast: LogBase): Promise<void> {
    const { applier, counts, logger, submit, onInstalled } = this.#parts
    logger.info({ peer: from, index: atLeast.index, term: atLeast.term }, 'snapshot pull begins')
    let record: MachineRecord | null = null
    try {
      record = await applier.install(() => this.#pullInto(from, atLeast))
    } catch (error) {
      // Nothing was switched: the old state stands and the leader offers again.
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
    submit({ type: 'snapshotInstalled', base, configuration: record.configuration, configurationIndex: 0 })
  }

  async #pullInto(from: NodeId, atLeast: LogBase): Promise<Uint8Array | null> {
    const { transport, stateMachine, applier, limits } = this.#parts
    const options = { signal: this.#abort.signal, timeoutMs: limits.snapshotCallTimeoutMs }
    const { base, stream } = await callSnapshot(transport, from, options)
    if (base.index < atLeast.index || base.index <= applier.appliedIndex) {
      await stream[Symbol.asyncIterator]().return?.()
      return null
    }
    const bytes = await stateMachine.install(stream)
    const { appliedIndex, appliedTerm } = decodeMachineRecord(bytes)
    assert(appliedIndex === base.index && appliedTerm === base.term, 'a snapshot holds what its header says')
    return bytes
  }
}
