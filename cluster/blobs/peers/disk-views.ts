/**
 * What this node believes about the disks of all members, itself included.
 *
 * Owns: the latest word of each, for how long it is believed, and what follows for new copies. Knows nothing of: who asks.
 * Rule: this is a hint for where to put copies. A node that was not heard for `believedMs` counts as willing: it is asked,
 * and says itself that it has no room. Where copies are, the committed row says.
 */
import type { Clock } from '../../base/clock.ts'
import type { MemberStanding } from '../../placement/rendezvous.ts'
import type { NodeId } from '../../base/types.ts'
import { type DiskView, takesNewBlobs } from '../../base/disk-level.ts'

export interface DiskViewsOptions {
  readonly clock: Clock
  readonly believedMs: number
}

/** What an unheard node counts as. */
const UNKNOWN: DiskView = { level: 'open', isSuspect: false }

export class DiskViews {
  readonly #options: DiskViewsOptions
  /** As many as there are members. */
  readonly #views = new Map<NodeId, DiskView & { readonly until: number }>()

  constructor(options: DiskViewsOptions) {
    this.#options = options
  }

  /** The node itself said so just now. */
  note(node: NodeId, { level, isSuspect }: DiskView): void {
    const { clock, believedMs } = this.#options
    this.#views.set(node, { level, isSuspect, until: clock.now() + believedMs })
  }

  /** It refused a copy for want of room, whatever it said before. */
  refused(node: NodeId): void {
    const { level, isSuspect } = this.#viewOf(node)
    this.note(node, { level: takesNewBlobs(level) ? 'stopWriting' : level, isSuspect })
  }

  /** Null when it was not heard lately. */
  latest(node: NodeId): DiskView | null {
    const view = this.#views.get(node)
    return view !== undefined && this.#options.clock.now() < view.until ? view : null
  }

  /** It takes no new copy. */
  isFull(node: NodeId): boolean {
    return !takesNewBlobs(this.#viewOf(node).level)
  }

  /** What is written there may not come back. */
  isSuspect(node: NodeId): boolean {
    return this.#viewOf(node).isSuspect
  }

  /** Of a new copy. */
  standingOf(node: NodeId): MemberStanding {
    if (this.isFull(node) || this.isSuspect(node)) return 'unfit'
    return this.#viewOf(node).level === 'open' ? 'willing' : 'sparing'
  }

  #viewOf(node: NodeId): DiskView {
    return this.latest(node) ?? UNKNOWN
  }
}
