/**
 * The known name that a wrong one was probably meant to be.
 */
const DISTANCE_MAX = 3

/** Null: none is near. Capital letters do not count. */
export function closest(wrong: string, known: readonly string[]): string | null {
  const distances = known.map((name) => [distance(wrong.toLowerCase(), name.toLowerCase()), name] as const)
  const [best] = distances.toSorted(([a], [b]) => a - b)
  return best !== undefined && best[0] <= Math.min(DISTANCE_MAX, wrong.length / 2) ? best[1] : null
}

/** Letters to insert, remove or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
