/**
 * Which closed segments still hold live entries.
 *
 * Owns: the rule by which segments may be deleted. Knows nothing of: files being open, bytes.
 * Rule: segments go from the oldest on and only when no entry above the base lives in them or in an older one.
 */
import type { LogIndex } from '../raft/types.ts'

export interface SegmentSpan {
  readonly number: number
  readonly path: string
  /** Last entry that was the last of the log when the segment was closed and has not been replaced since. */
  lastLive: LogIndex
}

/** Entries from `index` on have been replaced by a later segment. */
export function truncateSpans(spans: readonly SegmentSpan[], index: LogIndex): void {
  for (const span of spans) span.lastLive = Math.min(span.lastLive, index - 1)
}

export function voidSpans(spans: readonly SegmentSpan[]): void {
  for (const span of spans) span.lastLive = 0
}

/** Takes the spans that nothing needs any more off the list, oldest first. */
export function takeDead(spans: SegmentSpan[], base: LogIndex): SegmentSpan[] {
  const alive = spans.findIndex((span) => span.lastLive > base)
  return spans.splice(0, alive === -1 ? spans.length : alive)
}
