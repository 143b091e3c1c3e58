/**
 * The invariants of the core, checked in production too.
 *
 * Owns: the assertion that every file of the core uses. Knows nothing of: logging, recovery.
 * Rule: a false invariant of this member stops the process; a node that continues after it spreads the damage. A claim of a peer is
 * not an invariant of this member: doubts.ts drops it.
 */

export class InvariantError extends Error {
  override readonly name: string = 'InvariantError'
}

/** The logs of this member and of the leader differ where both are committed: one of the two disks has lost something. */
export class ContradictionError extends InvariantError {
  override readonly name = 'ContradictionError'
}

export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new InvariantError(`Raft invariant broken: ${why}`)
}
