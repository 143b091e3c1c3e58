/**
 * How long nobody could write, by nemesis. Pure.
 */
import type { NemesisName } from './strikes.ts'

/** One strike as it went. Times in milliseconds of performance.now(). */
export interface Struck {
  readonly nemesis: NemesisName
  readonly what: string
  readonly at: number
  /** The fault was taken away. */
  readonly healedAt: number
  /** Every node was ready again. */
  readonly readyAt: number
  /** Whose disk was full. */
  readonly excused: string | null
}

export interface NemesisSummary {
  readonly nemesis: NemesisName
  readonly strikes: number
  /** The longest time from one acknowledged write, of any client through any node, to the next. */
  readonly withoutWritesMs: number
}

/** `writes`: when they were acknowledged, rising. Looks at gaps that reach into [from, to]. */
export function longestGap(
  writes: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const before = writes.findLast((at) => at <= from) ?? from
  const after = writes.find((at) => at >= to) ?? to
  const inside = writes.filter((at) => at > from && at < to)
  const marks = [before, ...inside, after]
  return Math.round(Math.max(...marks.slice(1).map((at, index) => at - (marks[index] ?? at))))
}

export function summarize(struck: readonly Struck[], writes: readonly number[]): readonly NemesisSummary[] {
  const names = [...new Set(struck.map(({ nemesis }) => nemesis))].sort()
  return names.map((nemesis) => {
    const own = struck.filter((one) => one.nemesis === nemesis)
    const gaps = own.map(({ at, readyAt }) => longestGap(writes, { from: at, to: readyAt }))
    return { nemesis, strikes: own.length, withoutWritesMs: Math.max(...gaps) }
  })
}
