/**
 * The invariants of the core, checked in production too.
 *
 * Owns: the one way to say "this cannot be". Knows nothing of: logging, recovery.
 * Rule: a false invariant stops the process. A node that goes on after a broken invariant spreads the damage.
 */

export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new InvariantError(`Raft invariant broken: ${why}`)
}
