/**
 * The pace of a scrub: evenly over its remaining time. Pure.
 *
 * Rule: the progress is computed from the name at which the scrub is. Ids are digests, so names, and with them bytes, are evenly
 * distributed between the first possible name and the last; the stored copies need not be counted.
 */
import type { BlobName } from '../base/types.ts'

const DIGITS = 12

/** [0, 1); 0 at the start. */
export function positionOf(name: BlobName | null): number {
  if (name === null) return 0
  return Number.parseInt(name.id.slice(0, DIGITS).padEnd(DIGITS, '0'), 16) / 16 ** DIGITS
}

/** How long to rest after the step between two positions, so that the rest of the pass from `from` takes `leftMs`. 0 when late. */
export function restMs({ from, to, leftMs }: { from: number; to: number; leftMs: number }): number {
  if (leftMs <= 0 || to <= from) return 0
  return ((to - from) / (1 - from)) * leftMs
}
