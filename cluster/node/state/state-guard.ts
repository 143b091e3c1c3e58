/**
 * Verifies the local state: compares it with the states of the others, and reads all of it from time to time.
 *
 * Owns: when that happens, and the present doubt. Knows nothing of: rows; what happens to a node that is found wrong.
 * Layout of `state.checksums` (docs/formats/peer-protocol.md): nil -> [[index, checksum], ...].
 * Rule: a checksum is a function of the rows at an index, so two that differ at one index are never both right.
 */
import { ChecksumPoints, type ChecksumPoint, compareChecksums, decodePoints } from './checksum-points.ts'
import type { LogIndex, NodeId } from '../../raft/types.ts'
import type { CallHandler, Transport } from '../../transport/transport.ts'
import { type Logger, StateDamagedError, type StateMachine } from '../../base/types.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'

export const CHECKSUMS_METHOD = 'state.checksums'

export interface StateGuardParts {
  readonly clock: Clock
  readonly transport: Transport
  readonly stateMachine: StateMachine
  readonly limits: NodeLimits
  readonly logger: Logger
  /** An unsigned 32-bit integer: nodes that start together must not compare together. */
  readonly random: () => number
  /** Every other member. */
  readonly peers: () => readonly NodeId[]
  /** The state is being replaced: there is nothing to read. */
  readonly isInstalling: () => boolean
  readonly onDamaged: (error: StateDamagedError) => void
}

export class StateGuard {
  readonly #parts: StateGuardParts
  readonly #points = new ChecksumPoints()
  readonly #abort = new AbortController()
  #nextComparison: Timer | null = null
  #nextVerification: Timer | null = null
  #isComparing = false
  #verifying: Promise<void> | null = null
  /** The point at which nodes differ and no majority decides which is right. */
  #doubt: LogIndex | null = null
  readonly counts = { compared: 0, undecided: 0, verified: 0 }

  constructor(parts: StateGuardParts) {
    this.#parts = parts
  }

  get points(): readonly ChecksumPoint[] {
    return this.#points.points
  }

  get doubt(): string | null {
    if (this.#doubt === null) return null
    return `The states of the nodes differ at index ${this.#doubt}, and no majority says which is right`
  }

  get handlers(): ReadonlyMap<string, CallHandler> {
    return new Map([[CHECKSUMS_METHOD, async () => ({ header: this.#points.points })]])
  }

  start(): void {
    const { limits, random } = this.#parts
    const share = random() / 2 ** 32
    this.#compareIn(limits.compareEveryMs * share)
    this.#verifyIn(limits.verifyEveryMs * share)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    this.#nextComparison?.cancel()
    this.#nextVerification?.cancel()
    await this.#verifying
  }

  /** The state holds everything up to `index` and nothing after it. The same indexes on every node. */
  onPoint(index: LogIndex, checksum: Uint8Array): void {
    this.#points.add(index, checksum)
    void this.#compare()
  }

  /** Another state replaces this one, or will: checksums of this one count no more, here and at the others. */
  forget(): void {
    this.#points.clear()
    this.#doubt = null
  }

  #compareIn(ms: number): void {
    const { clock, limits } = this.#parts
    this.#nextComparison = clock.after(ms, () => {
      this.#compareIn(limits.compareEveryMs)
      void this.#compare()
    })
  }

  #verifyIn(ms: number): void {
    const { clock, limits } = this.#parts
    this.#nextVerification = clock.after(ms, () => {
      this.#verifyIn(limits.verifyEveryMs)
      void this.#verify()
    })
  }

  async #compare(): Promise<void> {
    if (this.#isComparing || this.#abort.signal.aborted || this.#points.points.length === 0) return
    this.#isComparing = true
    const peers = this.#parts.peers()
    const answers = await Promise.all(peers.map((peer) => this.#ask(peer)))
    this.#isComparing = false
    if (this.#abort.signal.aborted) return
    this.counts.compared += 1
    this.#judge(
      answers.filter((points) => points !== null),
      peers.length + 1,
    )
  }

  async #ask(peer: NodeId): Promise<readonly ChecksumPoint[] | null> {
    const { transport, limits, logger } = this.#parts
    const options = { signal: this.#abort.signal, timeoutMs: limits.compareTimeoutMs }
    try {
      const { header, body } = await transport.call(peer, CHECKSUMS_METHOD, { header: null, ...options })
      await body[Symbol.asyncIterator]().return?.()
      return decodePoints(header)
    } catch (error) {
      // A member that does not answer has no vote; the next round asks again.
      logger.debug({ peer, err: error }, 'no checksums of this peer')
      return null
    }
  }

  #judge(others: readonly (readonly ChecksumPoint[])[], members: number): void {
    const { outcome, index } = compareChecksums(this.#points.points, others, members)
    if (outcome === 'outvoted') {
      const message = `The state differs at index ${index} from what a majority of the members has`
      this.#parts.onDamaged(new StateDamagedError(message))
    }
    // The member that differed has answered without such a point: its state has been replaced.
    const isMoot = outcome === 'unknown' && others.length === members - 1
    if (outcome === 'agreed' || isMoot) this.#doubt = null
    if (outcome !== 'undecided' || this.#doubt === index) return
    this.#doubt = index
    this.counts.undecided += 1
    this.#parts.logger.error({ index }, 'states of the nodes differ without a majority')
    void this.#verify()
  }

  /** One at a time. */
  #verify(): Promise<void> {
    this.#verifying ??= this.#readThrough().finally(() => (this.#verifying = null))
    return this.#verifying
  }

  async #readThrough(): Promise<void> {
    const { stateMachine, logger, onDamaged, isInstalling } = this.#parts
    if (this.#abort.signal.aborted || isInstalling()) return
    try {
      const wrong = await stateMachine.verify()
      this.counts.verified += 1
      if (wrong !== null)
        onDamaged(new StateDamagedError(`The state was read through and is wrong: ${wrong}`))
    } catch (error) {
      if (error instanceof StateDamagedError) onDamaged(error)
      else logger.error({ err: error }, 'state could not be read through')
    }
  }
}
