/**
 * Assertions of the pure room; they stay on in production.
 *
 * Rule: a failed assertion is a bug or damaged state, never something a caller did: it stops the node.
 */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${why}`)
}
