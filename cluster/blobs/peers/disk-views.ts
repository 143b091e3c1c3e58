/**
 * The latest known state of the disks of all members, this node included.
 *
 * Owns: the latest answer of each member, for how long it counts, and what follows for new copies. Knows nothing of: who asks.
 * Rule: this is a hint for the placement of copies. A node without an answer in the last `believedMs` counts as willing: it is
 * tried, and refuses the copy itself if it has no space. The committed row says where copies are.
 */
import type { Clock } from '../../base/clock.ts'
import type { PlacementStatus } from '../../placement/rendezvous.ts'
import type { NodeId } from '../../base/types.ts'
import { type DiskView, takesNewBlobs } from '../../base/disk-level.ts'

export interface DiskViewsOptions {
  readonly clock: Clock
  readonly believedMs: number
}

/** The view of a node without a recent answer. */
const UNKNOWN: DiskView = { level: 'open', isSuspect: false }

export class DiskViews {
  readonly #options: DiskViewsOptions
  /** As many as there are members. */
  readonly #views = new Map<NodeId, DiskView & { readonly until: number }>()

  constructor(options: DiskViewsOptions) {
    this.#options = options
  }

  /** The node itself has just reported this. */
  note(node: NodeId, { level, isSuspect }: DiskView): void {
    const { clock, believedMs } = this.#options
    this.#views.set(node, { level, isSuspect, until: clock.now() + believedMs })
  }

  /** The node refused a copy because its disk is full; this overrides its earlier answer. */
  refused(node: NodeId): void {
    const { level, isSuspect } = this.#viewOf(node)
    this.note(node, { level: takesNewBlobs(level) ? 'stopWriting' : level, isSuspect })
  }

  /** Null without a recent answer. */
  latest(node: NodeId): DiskView | null {
    const view = this.#views.get(node)
    return view !== undefined && this.#options.clock.now() < view.until ? view : null
  }

  /** The node takes no new copy. */
  isFull(node: NodeId): boolean {
    return !takesNewBlobs(this.#viewOf(node).level)
  }

  /** Bytes that are written to this disk may not be readable later. */
  isSuspect(node: NodeId): boolean {
    return this.#viewOf(node).isSuspect
  }

  /** For a new copy. */
  placementStatusOf(node: NodeId): PlacementStatus {
    if (this.isFull(node) || this.isSuspect(node)) return 'unfit'
    return this.#viewOf(node).level === 'open' ? 'willing' : 'sparing'
  }

  #viewOf(node: NodeId): DiskView {
    return this.latest(node) ?? UNKNOWN
  }
}
