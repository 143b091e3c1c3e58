/**
 * Linearizable reads at any node by ReadIndex. [thesis 6.4]
 *
 * Owns: the callers that wait. Callers of one turn share one round, and while the allowed number of rounds is under way later
 * callers gather for the next one. Knows nothing of: how the core confirms a leader.
 * Rule: a caller is released only by a round that started after it called, and only to a readable state; a repeated round has a fresh
 * id, never the old one.
 */
import { Condition } from '../../base/types.ts'
import type { Input, LogIndex } from '../../raft/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { NodeLimits } from '../base/limits.ts'

export interface ReadBarriersParts {
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly submit: (input: Input) => void
  readonly appliedIndex: () => LogIndex
  readonly hasLeader: () => boolean
  /** Why the state cannot be read now, as a sentence, regardless of the applied index; null when it can. */
  readonly unreadable: () => string | null
  /** The group has removed this node permanently: waiting is useless. */
  readonly hasLeft: () => boolean
}

interface Reader {
  readonly deadline: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

interface Round {
  readers: Reader[]
  /** When to ask again after a refusal; null while the core still owes its answer. */
  repeatAt: number | null
  attempts: number
}

export class ReadBarriers {
  readonly #parts: ReadBarriersParts
  #gathering: Reader[] = []
  /** By the id of the latest question. */
  readonly #asked = new Map<number, Round>()
  /** Confirmed; wait for the apply of an index. */
  #confirmed: { readonly index: LogIndex; readonly readers: readonly Reader[] }[] = []
  #lastReadId = 0
  #readerCount = 0
  #isScheduled = false
  #closed: Condition | null = null

  constructor(parts: ReadBarriersParts) {
    this.#parts = parts
  }

  get readerCount(): number {
    return this.#readerCount
  }

  async barrier(): Promise<void> {
    if (this.#closed) throw this.#closed
    const { clock, limits } = this.#parts
    if (this.#readerCount >= limits.readersMax) {
      throw new Condition('slow_down', `Cannot read: ${this.#readerCount} readers wait already`)
    }
    this.#readerCount += 1
    const deadline = clock.now() + limits.readDeadlineMs
    return new Promise((resolve, reject) => {
      this.#gathering.push({ deadline, resolve, reject })
      this.#schedule()
    })
  }

  onReady(readId: number, index: LogIndex): void {
    const round = this.#asked.get(readId)
    if (!round) return
    this.#asked.delete(readId)
    this.#confirmed.push({ index, readers: round.readers })
    this.onApplied()
    this.#schedule()
  }

  onRefused(readId: number): void {
    const round = this.#asked.get(readId)
    if (!round) return
    const { clock, limits } = this.#parts
    round.repeatAt = clock.now() + Math.min(limits.retryMinMs * 2 ** round.attempts, limits.retryMaxMs)
  }

  /** More is applied, or another state is there. */
  onApplied(): void {
    if (this.#parts.unreadable() !== null) return
    const applied = this.#parts.appliedIndex()
    const waiting = this.#confirmed
    this.#confirmed = waiting.filter(({ index }) => index > applied)
    for (const { index, readers } of waiting) {
      if (index > applied) continue
      this.#readerCount -= readers.length
      for (const reader of readers) reader.resolve()
    }
  }

  onTick(): void {
    const now = this.#parts.clock.now()
    this.#expire(this.#parts.hasLeft() ? Number.POSITIVE_INFINITY : now)
    this.#repeat(now)
    this.#schedule()
  }

  /** A leader became known: rounds that were refused without one are repeated at once. */
  onLeaderView(): void {
    if (this.#parts.hasLeader()) this.#repeat(Number.POSITIVE_INFINITY)
  }

  close(why: Condition): void {
    this.#closed ??= why
    const rounds = [...this.#asked.values(), ...this.#confirmed, { readers: this.#gathering }]
    this.#asked.clear()
    this.#confirmed = []
    this.#gathering = []
    this.#readerCount = 0
    for (const { readers } of rounds) for (const reader of readers) reader.reject(why)
  }

  #schedule(): void {
    if (this.#isScheduled || this.#gathering.length === 0) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      if (this.#gathering.length === 0 || this.#asked.size >= this.#parts.limits.readRoundsMax) return
      const readers = this.#gathering
      this.#gathering = []
      this.#ask({ readers, repeatAt: null, attempts: 0 })
    })
  }

  #repeat(dueBy: number): void {
    const due = [...this.#asked].filter(([, { repeatAt }]) => repeatAt !== null && repeatAt <= dueBy)
    for (const [readId, round] of due) {
      this.#asked.delete(readId)
      round.attempts += 1
      this.#ask(round)
    }
  }

  #ask(round: Round): void {
    this.#lastReadId += 1
    round.repeatAt = null
    this.#asked.set(this.#lastReadId, round)
    this.#parts.submit({ type: 'read', readId: this.#lastReadId })
  }

  #expire(now: number): void {
    const keep = (readers: readonly Reader[], awaited: LogIndex | null = null): Reader[] => {
      const kept = readers.filter(({ deadline }) => deadline > now)
      if (kept.length === readers.length) return kept
      this.#readerCount -= readers.length - kept.length
      for (const reader of readers) if (reader.deadline <= now) reader.reject(this.#missed(awaited))
      return kept
    }
    for (const [readId, round] of this.#asked) {
      round.readers = keep(round.readers)
      if (round.readers.length === 0) this.#asked.delete(readId)
    }
    this.#confirmed = this.#confirmed.flatMap(({ index, readers }) => {
      const kept = keep(readers, index)
      return kept.length > 0 ? [{ index, readers: kept }] : []
    })
    this.#gathering = keep(this.#gathering)
  }

  /** `awaited`: the index that the apply did not reach; null: no round was confirmed. */
  #missed(awaited: LogIndex | null): Condition {
    const { readDeadlineMs } = this.#parts.limits
    const why = this.#parts.unreadable()
    if (why !== null) return new Condition('leader_not_ready', `Cannot read: ${why}`)
    if (awaited !== null)
      return new Condition(
        'slow_down',
        `Cannot read: this node has applied ${this.#parts.appliedIndex()} of ${awaited} entries after ${readDeadlineMs} ms`,
      )
    return this.#parts.hasLeader()
      ? new Condition(
          'no_quorum',
          `Cannot read: no majority confirmed the leader within ${readDeadlineMs} ms`,
        )
      : new Condition('no_leader', `Cannot read: no leader is known for ${readDeadlineMs} ms`)
  }
}
