/**
 * One write to several nodes: whom to ask, when enough is enough, when it has failed.
 *
 * Owns: the W-of-R decision and the hand-off to the next member. Knows nothing of: bytes, sockets, disks.
 * Rules: `replicas` names only nodes that said "durable"; the round settles once; nobody is asked after it settled.
 */
import type { Clock, Timer } from '../node/clock.ts'
import type { NodeId, WrittenBlob } from '../types.ts'

export interface CopyRoundOptions {
  /** Every member that may take a copy, best first. The first `wanted` are where the copies should be. */
  readonly ranked: readonly NodeId[]
  readonly wanted: number
  readonly needed: number
  readonly graceMs: number
  readonly clock: Clock
  /** Resolves when this node's copy is durable. */
  readonly writeCopy: (node: NodeId, signal: AbortSignal) => Promise<void>
  /** False for a node that is known not to answer: it is asked only if there is no other way to reach `needed`. */
  readonly mayTry: (node: NodeId) => boolean
  /** Permission for a copy to go on after the answer: the function to call at its end, or null to cut it off. */
  readonly keepLate: () => (() => void) | null
}

/** Too few copies can become durable. `errors` holds what each node said. */
export class CopiesFailedError extends AggregateError {
  override readonly name = 'CopiesFailedError'
}

export class CopyRound {
  readonly #options: CopyRoundOptions
  /** Not asked yet, best first. */
  readonly #untried: NodeId[]
  readonly #durable: NodeId[] = []
  readonly #failures: unknown[] = []
  readonly #pending = new Map<NodeId, AbortController>()
  readonly #lateEnds = new Map<NodeId, () => void>()
  #resolve: (written: WrittenBlob) => void = () => undefined
  #reject: (failed: CopiesFailedError) => void = () => undefined
  #grace: Timer | null = null
  #settled = false

  constructor(options: CopyRoundOptions) {
    this.#options = options
    this.#untried = [...options.ranked]
  }

  /** Throws CopiesFailedError. */
  run(): Promise<WrittenBlob> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#proceed()
    })
  }

  #proceed(): void {
    this.#askMore()
    const { wanted, needed, clock, graceMs } = this.#options
    if (this.#durable.length >= wanted || (this.#durable.length >= needed && this.#pending.size === 0))
      this.#succeed()
    else if (this.#durable.length >= needed) this.#grace ??= clock.after(graceMs, () => this.#succeed())
    else if (this.#durable.length + this.#pending.size < needed) this.#fail()
  }

  #askMore(): void {
    const { wanted, needed, mayTry } = this.#options
    for (const node of this.#untried.slice()) {
      if (this.#underWay() >= wanted) return
      if (mayTry(node)) this.#ask(node)
    }
    for (const node of this.#untried.slice()) {
      if (this.#underWay() >= needed) return
      this.#ask(node)
    }
  }

  #underWay(): number {
    return this.#durable.length + this.#pending.size
  }

  #ask(node: NodeId): void {
    this.#untried.splice(this.#untried.indexOf(node), 1)
    const abort = new AbortController()
    this.#pending.set(node, abort)
    this.#options.writeCopy(node, abort.signal).then(
      () => this.#onEnd(node, () => this.#durable.push(node)),
      (cause: unknown) => this.#onEnd(node, () => this.#failures.push(cause)),
    )
  }

  #onEnd(node: NodeId, count: () => void): void {
    this.#pending.delete(node)
    this.#lateEnds.get(node)?.()
    if (this.#settled) return
    count()
    this.#proceed()
  }

  #succeed(): void {
    this.#settle()
    for (const [node, abort] of this.#pending) {
      const end = this.#options.keepLate()
      if (end === null) abort.abort()
      else this.#lateEnds.set(node, end)
    }
    const replicas = [...this.#durable]
    // A hand-off counts as a copy, so only as many are missing as there are too few; late copies are the cheapest to finish.
    const late = this.#options.ranked.filter((node) => this.#pending.has(node))
    const absent = this.#options.ranked.filter((node) => !replicas.includes(node) && !this.#pending.has(node))
    const missing = [...late, ...absent].slice(0, Math.max(0, this.#options.wanted - replicas.length))
    this.#resolve({ replicas, missing })
  }

  #fail(): void {
    this.#settle()
    for (const abort of this.#pending.values()) abort.abort()
    const { needed } = this.#options
    const message = `Cannot write a blob: ${this.#durable.length} of ${needed} needed copies are durable`
    this.#reject(new CopiesFailedError(this.#failures, message))
  }

  #settle(): void {
    this.#settled = true
    this.#grace?.cancel()
  }
}
