/**
 * Checks an invariant of this program. Stays on in production: a broken invariant must stop the node before it writes anything.
 */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed'
}

export function assert(claim: boolean, why: string): asserts claim {
  if (!claim) throw new AssertionFailed(why)
}
