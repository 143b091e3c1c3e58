/**
 * How much of a long proof a run plays: a share in `npm test`, all of it with `npm test -- --whole`.
 *
 * Owns: that choice. Rule: a share is a fixed part of the whole, such as its first seeds, so that the same tree gives the same answer every time.
 */
export const PLAYS_WHOLE = process.env['HOLDFAST_PROOFS'] === 'whole'

/** Seeds, events, seconds or whatever a proof counts. */
export function shareOf(whole: number, share: number): number {
  return PLAYS_WHOLE ? whole : share
}

/** How often a run has to meet what the whole proof meets at least `least` times. `part`: of the whole. A small part scatters more, so half is enough. */
export function leastInPart(least: number, part: number): number {
  return part < 1 ? (least * part) / 2 : least
}
