/**
 * The order of keys as text: that of their UTF-8 bytes, which is the order of code points.
 *
 * Owns: the comparison. Rule: both texts are well formed, as row keys are.
 */

const SURROGATES = 0xd800
const BEHIND_SURROGATES = 0xe000

export function comesBefore(one: string, other: string): boolean {
  const both = Math.min(one.length, other.length)
  for (let i = 0; i < both; i++) {
    const unit = one.charCodeAt(i)
    const otherUnit = other.charCodeAt(i)
    if (unit !== otherUnit) return rank(unit) < rank(otherUnit)
  }
  return one.length < other.length
}

/** A half of a surrogate pair belongs to a code point above all that one unit can name. */
function rank(unit: number): number {
  if (unit < SURROGATES) return unit
  return unit < BEHIND_SURROGATES ? unit + BEHIND_SURROGATES : unit - (BEHIND_SURROGATES - SURROGATES)
}
