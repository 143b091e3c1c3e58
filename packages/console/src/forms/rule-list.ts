/**
 * The rules of a bucket as they are to be set: all of them, with one changed. Pure.
 */

/** With one of them replaced, or added (`at` null). */
export function rulesWith<T>(rules: readonly T[], at: number | null, rule: T): readonly T[] {
  return at === null ? [...rules, rule] : rules.map((one, n) => (n === at ? rule : one))
}

export const rulesWithout = <T>(rules: readonly T[], at: number | null): readonly T[] =>
  rules.filter((_, n) => n !== at)
