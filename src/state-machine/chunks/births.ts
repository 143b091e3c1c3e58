/**
 * Births, the names of chunk uploads: `<session>-<sequence>`, the sequence in base 36.
 *
 * Owns: the spelling. Knows nothing of: which sessions exist.
 * Rule: a gateway uses a birth for one chunk of one upload, and proposes it in a second command only if the first
 * was refused.
 */
const SEQUENCE = /^(0|[1-9a-z][0-9a-z]{0,9})$/

export interface Birth {
  readonly session: string
  readonly sequence: number
}

export function birthOf(session: string, sequence: number): string {
  return `${session}-${sequence.toString(36)}`
}

/** Null: no gateway makes such a name. */
export function parseBirth(birth: string): Birth | null {
  const dash = birth.lastIndexOf('-')
  const sequence = birth.slice(dash + 1)
  if (dash < 1 || !SEQUENCE.test(sequence)) return null
  return { session: birth.slice(0, dash), sequence: Number.parseInt(sequence, 36) }
}
