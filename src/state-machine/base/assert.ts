/**
 * Assertions of the state machine; they stay on in production.
 *
 * Rule: a failed assertion is a bug or damaged state, never a caller's mistake: it stops the node.
 */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${why}`)
}
