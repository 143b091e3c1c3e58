/**
 * The check that a belief about this program holds. Stays on in production: a wrong belief must stop the node
 * before it can write anything down.
 */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed'
}

export function assert(claim: boolean, why: string): asserts claim {
  if (!claim) throw new AssertionFailed(why)
}
