/**
 * The future events, in order of (time, order of creation).
 *
 * Owns: a binary heap. Knows nothing of: the effects of an event. Rule: two events are never equal, so every run of the same
 * program takes them in the same order.
 */

/** The owner of an event. While it is paused its events wait; once it is dead they never happen. */
export interface Owner {
  /** Place of its host. */
  readonly place: number
  readonly isDead: boolean
  readonly isPaused: boolean
  readonly held: QueuedEvent[]
}

export interface QueuedEvent {
  /** ms */
  time: number
  order: number
  readonly kind: string
  readonly owner: Owner | null
  /** The host at which it arrives, for any process there by then. */
  readonly host: { readonly place: number; readonly process: Owner | null } | null
  readonly run: () => void
  isCancelled: boolean
}

export class EventQueue {
  readonly #heap: QueuedEvent[] = []
  #created = 0

  get size(): number {
    return this.#heap.length
  }

  push(event: QueuedEvent): void {
    event.order = this.#created
    this.#created += 1
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const parentAt = (at - 1) >> 1
      const parent = heap[parentAt] as QueuedEvent
      if (!isBefore(event, parent)) break
      heap[at] = parent
      at = parentAt
    }
    heap[at] = event
  }

  pop(): QueuedEvent | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || first === last) return first
    const length = heap.length
    let at = 0
    for (;;) {
      let childAt = 2 * at + 1
      if (childAt >= length) break
      let child = heap[childAt] as QueuedEvent
      const right = heap[childAt + 1]
      if (right !== undefined && childAt + 1 < length && isBefore(right, child)) {
        child = right
        childAt += 1
      }
      if (!isBefore(child, last)) break
      heap[at] = child
      at = childAt
    }
    heap[at] = last
    return first
  }
}

function isBefore(a: QueuedEvent, b: QueuedEvent): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order)
}
