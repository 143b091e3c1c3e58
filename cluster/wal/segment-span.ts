/**
 * Which closed segments still hold live entries.
 *
 * Owns: the rule by which segments may be deleted. Knows nothing of: open files, bytes.
 * Rule: segments are deleted oldest first, and only when neither they nor an older one holds a live entry above the base.
 */
import type { LogIndex } from '../raft/types.ts'

export interface SegmentSpan {
  readonly number: number
  readonly path: string
  /** The last entry of the log when the segment was closed, or the last one before it that has not been replaced since. */
  lastLive: LogIndex
}

/** Entries from `index` on have been replaced by a later segment. */
export function truncateSpans(spans: readonly SegmentSpan[], index: LogIndex): void {
  for (const span of spans) span.lastLive = Math.min(span.lastLive, index - 1)
}

export function voidSpans(spans: readonly SegmentSpan[]): void {
  for (const span of spans) span.lastLive = 0
}

/** Removes the spans that are no longer needed from the list, oldest first, and returns them. */
export function takeDead(spans: SegmentSpan[], base: LogIndex): SegmentSpan[] {
  const alive = spans.findIndex((span) => span.lastLive > base)
  return spans.splice(0, alive === -1 ? spans.length : alive)
}
