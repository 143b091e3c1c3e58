/**
 * The scheduler of the simulated world: runs one event after the other, each to its end.
 *
 * Owns: the queue, the moment, the count, the rolling hash, the first violation, the trace.
 * Knows nothing of: nodes, disks, networks. Rule: between two events every pending promise reaction has run, so only the
 * queue decides what comes next.
 */
import { drainMicrotasks } from './drain-microtasks.ts'
import { EventQueue, type Owner, type QueuedEvent } from './event-queue.ts'
import { RollingHash, textHash } from './rolling-hash.ts'

export interface SchedulerOptions {
  /** Called after each event, once everything has settled. `owner` is the process of the event. */
  readonly afterEvent: (owner: Owner | null) => void
  /** Lines kept for the trace; 0: none. */
  readonly traceLines: number
}

export class SimScheduler {
  readonly hash = new RollingHash()
  readonly #options: SchedulerOptions
  readonly #queue = new EventQueue()
  readonly #kindHashes = new Map<string, number>()
  readonly #trace: string[] = []
  /** ms */
  now = 0
  events = 0
  /** The first broken promise. Nothing happens after it. */
  violation: string | null = null

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  get isTracing(): boolean {
    return this.#options.traceLines > 0
  }

  get pending(): number {
    return this.#queue.size
  }

  /** `owner` null: it happens to the world, or to the process at `host` by then. */
  after(
    ms: number,
    kind: string,
    target: { readonly owner?: Owner; readonly host?: QueuedEvent['host'] },
    run: () => void,
  ): QueuedEvent {
    const { owner = null, host = null } = target
    const event = { time: this.now + ms, order: 0, kind, owner, host, run, isCancelled: false }
    this.#queue.push(event)
    return event
  }

  /** Releases the events of a paused owner now, in their order. */
  release(owner: Owner): void {
    for (const event of owner.held.splice(0)) {
      event.time = this.now
      this.#queue.push(event)
    }
  }

  /** False: no event is left. */
  step(): boolean {
    const event = this.#queue.pop()
    if (event === undefined) return false
    if (event.isCancelled || event.owner?.isDead === true) return true
    const owner = event.owner ?? event.host?.process ?? null
    this.now = event.time
    if (owner !== null && owner.isPaused) {
      owner.held.push(event)
      return true
    }
    this.events += 1
    this.#addToHash(event)
    if (this.isTracing) this.#traceEvent(event)
    this.#run(event)
    this.#options.afterEvent(owner)
    return true
  }

  violate(broken: string): void {
    if (this.violation !== null) return
    this.violation = broken
    this.note(() => `VIOLATION ${broken}`)
  }

  note(line: () => string): void {
    if (!this.isTracing) return
    this.#trace.push(`${this.events} ${this.now.toFixed(3)} ${line()}`)
    if (this.#trace.length > 2 * this.#options.traceLines)
      this.#trace.splice(0, this.#trace.length - this.#options.traceLines)
  }

  get trace(): readonly string[] {
    return this.#trace.slice(-this.#options.traceLines)
  }

  #run(event: QueuedEvent): void {
    try {
      event.run()
      drainMicrotasks()
    } catch (error) {
      this.violate(
        `'${event.kind}' threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      )
    }
  }

  #addToHash(event: QueuedEvent): void {
    let kindHash = this.#kindHashes.get(event.kind)
    if (kindHash === undefined) {
      kindHash = textHash(event.kind)
      this.#kindHashes.set(event.kind, kindHash)
    }
    this.hash.add(kindHash + (event.owner?.place ?? event.host?.place ?? 99))
    this.hash.add((event.time * 4096) | 0)
  }

  #traceEvent(event: QueuedEvent): void {
    const place = event.owner?.place ?? event.host?.place
    this.note(() => `${place === undefined ? '--' : `n${place + 1}`} ${event.kind}`)
  }
}
