/**
 * The longest time without a successful write, by nemesis. Pure.
 */
/** One strike, or one step of a walk, as it went. Times in milliseconds of performance.now(). */
export interface Struck {
  readonly nemesis: string
  readonly what: string
  readonly at: number
  /** The fault was taken away. */
  readonly healedAt: number
  /** Every node was ready again. */
  readonly readyAt: number
  /** Whose disks were full. */
  readonly excused: readonly string[]
}

export interface NemesisSummary {
  readonly nemesis: string
  readonly strikes: number
  /** The longest time from one acknowledged write, of any client through any node, to the next. */
  readonly withoutWritesMs: number
}

/** `writes`: when they were acknowledged, rising. Only the part of a gap before `to` counts. */
export function longestGap(
  writes: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const before = writes.findLast((at) => at <= from) ?? from
  const marks = [before, ...writes.filter((at) => at > from && at < to), to]
  return Math.round(Math.max(...marks.slice(1).map((at, index) => at - (marks[index] ?? at))))
}

/** The effects of a strike count until the next one. */
export function summarize(struck: readonly Struck[], writes: readonly number[]): readonly NemesisSummary[] {
  const gaps = struck.map(({ nemesis, at, readyAt }, index) => {
    const to = struck[index + 1]?.at ?? readyAt
    return { nemesis, gapMs: longestGap(writes, { from: at, to }) }
  })
  const names = [...new Set(gaps.map(({ nemesis }) => nemesis))].sort()
  return names.map((nemesis) => {
    const own = gaps.filter((one) => one.nemesis === nemesis)
    return {
      nemesis,
      strikes: own.length,
      withoutWritesMs: Math.max(...own.map(({ gapMs }) => gapMs)),
    }
  })
}
