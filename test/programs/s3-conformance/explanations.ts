/**
 * Tests of the suite that are in scope and fail, each with the reason.
 *
 * Rule: a reason says what the test expects and what happens here instead. A row whose tests all pass is reported as stale.
 */
export interface Explanation {
  readonly names: readonly RegExp[]
  readonly reason: string
}

export const EXPLANATIONS: readonly Explanation[] = []

export function explanationOf(name: string): Explanation | undefined {
  return EXPLANATIONS.find(({ names }) => names.some((pattern) => pattern.test(name)))
}
