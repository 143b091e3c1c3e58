/**
 * Lets requests wait for their turn.
 *
 * Owns: the timers and promises around FairQueue. Knows nothing of: whose limits hold. Rules: a wait to begin is bounded, a wait to
 * continue ends when the request does; whatever ends a turn, or lets another begin, is followed by `advance`.
 */
import { LatencyHistogram } from '../../cluster/index.ts'
import { FairQueue, type FairQueueOptions, type Turn } from './fair-queue.ts'

/** Why a request did not get its turn. */
export type NoTurn = 'full' | 'late' | 'gone'

export interface WaitingTurn extends Turn {
  /** Called once for each time that it gets its turn, before another can. */
  started(): void
}

export interface TurnsOptions<T extends WaitingTurn> extends FairQueueOptions<T> {
  readonly waitMsMax: number
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export class Turns<T extends WaitingTurn> {
  readonly #options: TurnsOptions<T>
  readonly #queue: FairQueue<T>
  readonly #waiting = new Map<T, (why: NoTurn | null) => void>()
  /** Runs while there are waiting turns: leases end without a call. */
  #timer: NodeJS.Timeout | null = null
  waitedSeconds = 0
  /** Of turns that did not start at once. */
  readonly waits = new LatencyHistogram()

  constructor(options: TurnsOptions<T>) {
    this.#options = options
    this.#queue = new FairQueue(options)
  }

  get working(): number {
    return this.#queue.working
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  /** `client`: whose signal ends the wait. Null: the turn has started. Otherwise resolves when it has, with null, or with the reason why it gets none. */
  take(turn: T, client: { readonly signal: AbortSignal } | null): null | Promise<NoTurn | null> {
    if (!this.#queue.begin(turn, this.#options.now())) return this.#wait(turn, client?.signal ?? null)
    turn.started()
    return null
  }

  /** Its work is done, or interrupted. */
  give(turn: T): void {
    this.#queue.end(turn)
    this.#waiting.get(turn)?.('gone')
    if (this.#queue.waiting > 0) this.advance()
  }

  /** Lets all begin that may. */
  advance(): void {
    for (;;) {
      const turn = this.#queue.next(this.#options.now())
      if (turn === null) break
      turn.started()
      this.#waiting.get(turn)?.(null)
    }
    this.#watch()
  }

  async #wait(turn: T, signal: AbortSignal | null): Promise<NoTurn | null> {
    if (signal?.aborted === true) return 'gone'
    if (!this.#queue.wait(turn)) return 'full'
    const { now, waitMsMax } = this.#options
    const sinceMs = now()
    this.#watch()
    const outcome = await new Promise<NoTurn | null>((resolve) => {
      const settle = (why: NoTurn | null): void => {
        if (why !== null) this.#queue.end(turn)
        clearTimeout(late)
        signal?.removeEventListener('abort', gone)
        this.#waiting.delete(turn)
        resolve(why)
      }
      const gone = (): void => settle('gone')
      const late = turn.isContinued ? undefined : setTimeout(() => settle('late'), waitMsMax)
      signal?.addEventListener('abort', gone, { once: true })
      this.#waiting.set(turn, settle)
    })
    const seconds = (now() - sinceMs) / 1000
    this.waitedSeconds += seconds
    this.waits.observe(seconds)
    return outcome
  }

  #watch(): void {
    if (this.#timer !== null || this.#queue.waiting === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.advance()
    }, this.#options.leaseMs).unref()
  }
}
