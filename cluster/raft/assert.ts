/**
 * The invariants of the core, checked in production too.
 *
 * Owns: the one way to say "this cannot be". Knows nothing of: logging, recovery.
 * Rule: a false invariant of this member stops the process; a node that continues after it spreads the damage. What a peer claims is
 * no invariant of this member: doubts.ts drops it.
 */

export class InvariantError extends Error {
  override readonly name: string = 'InvariantError'
}

/** The log of this member and that of the leader differ where both count as committed: one of the two disks has lost something. */
export class ContradictionError extends InvariantError {
  override readonly name = 'ContradictionError'
}

export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new InvariantError(`Raft invariant broken: ${why}`)
}
