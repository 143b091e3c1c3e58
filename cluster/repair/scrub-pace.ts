/**
 * How fast a scrub goes: evenly over the time it has left. Pure.
 *
 * Rule: the share of the way that is done is read off the name where the scrub stands. Ids are digests, so names, and with
 * them bytes, lie evenly between the first possible and the last; nobody has to count what is stored.
 */
import type { BlobName } from '../base/types.ts'

const DIGITS = 12

/** [0, 1); 0 for the beginning. */
export function positionOf(name: BlobName | null): number {
  if (name === null) return 0
  return Number.parseInt(name.id.slice(0, DIGITS).padEnd(DIGITS, '0'), 16) / 16 ** DIGITS
}

/** How long to rest on the step between two positions so that the way from `from` to the end takes `leftMs`. None when late. */
export function restMs({ from, to, leftMs }: { from: number; to: number; leftMs: number }): number {
  if (leftMs <= 0 || to <= from) return 0
  return ((to - from) / (1 - from)) * leftMs
}
