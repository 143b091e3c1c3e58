/**
 * Replaces the damaged state of a running node by that of a peer.
 *
 * Owns: the mark, the attempts and their bound, and why nothing can be read meanwhile. Knows nothing of: rows, elections, how a
 * state travels. Rules: the quarantine mark is durable before any other step, so that a crash at any moment leads to a start that
 * repairs; damage of the state is no damage of the log, so votes and acknowledgements, which depend only on the log, continue; a state
 * that cannot be replaced within the bound ends the process.
 */
import { quarantine } from './quarantine.ts'
import type { MachineRecord } from '../base/machine-record.ts'
import { type Logger, StateDamagedError, type StateMachine } from '../../base/types.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'

export interface StateRebuildParts {
  readonly clock: Clock
  readonly stateMachine: StateMachine
  readonly limits: NodeLimits
  readonly logger: Logger
  /** From now on the state is not used: neither applied to, nor read, nor given to peers. */
  readonly onStarted: () => void
  /** A node with a usable state is the better leader. Before each attempt. */
  readonly handOver: () => void
  /** One round over all peers; false when none has applied as much. Reports the new state before anything is applied to it. */
  readonly pull: (onReplaced: (record: MachineRecord) => void) => Promise<boolean>
  readonly onReplaced: (record: MachineRecord) => void
  /** The node has to stop. */
  readonly onGivenUp: (damage: StateDamagedError) => void
}

export class StateRebuild {
  readonly #parts: StateRebuildParts
  #damage: StateDamagedError | null = null
  #isClosed = false
  #work: Promise<void> = Promise.resolve()
  #wake: () => void = () => undefined
  #count = 0

  constructor(parts: StateRebuildParts) {
    this.#parts = parts
  }

  /** Started by this process. Count. */
  get count(): number {
    return this.#count
  }

  get isUnderWay(): boolean {
    return this.#damage !== null
  }

  /** Why the state cannot be used now, as a sentence; null when it can. */
  get reason(): string | null {
    if (this.#damage === null) return null
    return `The state of this node is damaged and is being replaced by that of another node: ${this.#damage.message}`
  }

  begin(damage: StateDamagedError): void {
    if (this.isUnderWay || this.#isClosed) return
    this.#damage = damage
    this.#count += 1
    this.#parts.onStarted()
    this.#work = this.#run(damage)
  }

  /** Starts nothing more; a replacement under way ends with its pull. */
  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Resolves when nothing is under way any more. After `close`. */
  ended(): Promise<void> {
    return this.#work
  }

  async #run(damage: StateDamagedError): Promise<void> {
    const { stateMachine, logger, onGivenUp } = this.#parts
    const isMarked = await quarantine(stateMachine, damage, logger)
    const isReplaced = isMarked && (await this.#isReplaced())
    if (!isReplaced && !this.#isClosed) onGivenUp(damage)
  }

  async #isReplaced(): Promise<boolean> {
    const { limits, logger, handOver, pull } = this.#parts
    for (let attempt = 1; attempt <= limits.rebuildAttemptsMax && !this.#isClosed; attempt += 1) {
      handOver()
      logger.warn({ attempt }, 'damaged state is being replaced by that of another node')
      try {
        if (await pull((record) => this.#finish(record))) return true
        logger.warn({ attempt }, 'no other node has applied as much as this one yet')
      } catch (error) {
        logger.warn({ attempt, err: error }, 'no other node could give its state')
        if (error instanceof StateDamagedError) return false
      }
      await this.#pause(attempt)
    }
    return false
  }

  #finish(record: MachineRecord): void {
    this.#parts.logger.warn(
      { index: record.appliedIndex, why: this.#damage?.message },
      'damaged state is replaced, the node continues',
    )
    this.#damage = null
    this.#parts.onReplaced(record)
  }

  #pause(attempt: number): Promise<void> {
    const { clock, limits } = this.#parts
    if (this.#isClosed) return Promise.resolve()
    const ms = Math.min(limits.repairRetryMinMs * 2 ** Math.min(attempt - 1, 16), limits.repairRetryMaxMs)
    return new Promise((resolve) => {
      const timer: Timer = clock.after(ms, resolve)
      this.#wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }
}
