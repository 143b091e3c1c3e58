/**
 * One write to several nodes: which nodes to contact, when the write succeeds, when it fails.
 *
 * Owns: the W-of-R decision, its zones, and the hand-off to the next member. Knows nothing of: bytes, sockets, disks.
 * Rules: `replicas` names only nodes that confirmed a durable copy. The round settles once, and no node is contacted after it
 * settled. If every durable copy is in one zone, the round waits up to `zoneWaitMs` for a second zone; after that it succeeds
 * and reports the copy in another zone as missing, for repair.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { NodeId, WrittenBlob } from '../../base/types.ts'

export interface CopyRoundOptions {
  /** Every member that may take a copy, best first. The first `wanted` are where the copies should be. */
  readonly ranked: readonly NodeId[]
  readonly wanted: number
  readonly needed: number
  readonly zoneOf: (node: NodeId) => string
  /** Once `needed` copies are durable in as many zones as they could be: how long to wait for the remaining copies. */
  readonly graceMs: number
  /** Once `needed` copies are durable, but in fewer zones than they could be: how long to wait for another zone. */
  readonly zoneWaitMs: number
  readonly clock: Clock
  /** Resolves when this node's copy is durable. */
  readonly writeCopy: (node: NodeId, signal: AbortSignal) => Promise<void>
  /** False for a node that is known to be unreliable: it is contacted only if `needed` cannot be reached without it. */
  readonly mayTry: (node: NodeId) => boolean
  /** True for a node without free space: it is never contacted, but may be listed in `missing`. Called once for each node. */
  readonly isFull: (node: NodeId) => boolean
  /** Permission for a copy to continue after the answer: the function to call at its end, or null to abort the copy. */
  readonly keepLate: () => (() => void) | null
}

/** Too few copies can become durable. `errors` holds the error of each node. */
export class CopiesFailedError extends AggregateError {
  override readonly name = 'CopiesFailedError'
}

export class CopyRound {
  readonly #options: CopyRoundOptions
  /** Every node that may be contacted. */
  readonly #takers: readonly NodeId[]
  /** Nodes not contacted yet, best first. */
  readonly #untried: NodeId[]
  readonly #durable: NodeId[] = []
  readonly #failures: unknown[] = []
  readonly #pending = new Map<NodeId, AbortController>()
  readonly #lateEnds = new Map<NodeId, () => void>()
  #resolve: (written: WrittenBlob) => void = () => undefined
  #reject: (failed: CopiesFailedError) => void = () => undefined
  #grace: Timer | null = null
  #zoneWait: Timer | null = null
  #zonesGivenUp = false
  #settled = false

  constructor(options: CopyRoundOptions) {
    this.#options = options
    this.#takers = options.ranked.filter((node) => !options.isFull(node))
    this.#untried = [...this.#takers]
  }

  /** Throws CopiesFailedError. */
  run(): Promise<WrittenBlob> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      // Without enough takers every copy would be garbage, on one of the last disks with free space.
      if (this.#takers.length < this.#options.needed) this.#fail()
      else this.#proceed()
    })
  }

  #proceed(): void {
    this.#askMore()
    const { wanted, needed, clock, graceMs, zoneWaitMs } = this.#options
    const copies = this.#durable.length
    if (copies + this.#pending.size < needed) this.#fail()
    else if (copies < needed) return
    else if (this.#pending.size === 0) this.#succeed()
    else if (!this.#zonesGivenUp && this.#needsZone(this.#durable, this.#takers))
      this.#zoneWait ??= clock.after(zoneWaitMs, () => this.#giveZonesUp())
    else if (copies >= wanted) this.#succeed()
    else this.#grace ??= clock.after(graceMs, () => this.#succeed())
  }

  #giveZonesUp(): void {
    this.#zonesGivenUp = true
    this.#proceed()
  }

  #askMore(): void {
    const { wanted, needed, mayTry } = this.#options
    for (const node of this.#untried.slice()) {
      if (this.#underWay() >= wanted) break
      if (mayTry(node)) this.#ask(node)
    }
    for (const node of this.#untried.slice()) {
      if (this.#underWay() >= needed) break
      this.#ask(node)
    }
    for (const node of this.#untried.slice()) {
      const nodes = [...this.#durable, ...this.#pending.keys()]
      if (this.#zonesGivenUp || !this.#needsZone(nodes, this.#takers)) return
      if (!this.#zones(nodes).has(this.#options.zoneOf(node)) && mayTry(node)) this.#ask(node)
    }
  }

  /** Whether copies on `nodes` cover fewer zones than W copies on `members` could. */
  #needsZone(nodes: readonly NodeId[], members: readonly NodeId[]): boolean {
    return this.#zones(nodes).size < Math.min(this.#options.needed, this.#zones(members).size)
  }

  #zones(nodes: readonly NodeId[]): ReadonlySet<string> {
    return new Set(nodes.map(this.#options.zoneOf))
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
    this.#resolve({ replicas, missing: this.#missing(replicas) })
  }

  /**
   * A hand-off counts as a copy, so `missing` has as many nodes as there are copies too few, and at least one when a zone is
   * missing. Late copies come first, because they are the cheapest to finish, but a node in another zone precedes them.
   */
  #missing(replicas: readonly NodeId[]): readonly NodeId[] {
    const { ranked, wanted, zoneOf } = this.#options
    const late = ranked.filter((node) => this.#pending.has(node))
    const absent = ranked.filter((node) => !replicas.includes(node) && !this.#pending.has(node))
    const candidates = [...late, ...absent]
    if (!this.#needsZone(replicas, ranked)) return candidates.slice(0, Math.max(0, wanted - replicas.length))
    const taken = this.#zones(replicas)
    const elsewhere = candidates.filter((node) => !taken.has(zoneOf(node))).slice(0, 1)
    const rest = candidates.filter((node) => !elsewhere.includes(node))
    return [...elsewhere, ...rest].slice(0, Math.max(1, wanted - replicas.length))
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
    this.#zoneWait?.cancel()
  }
}
