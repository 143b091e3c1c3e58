/**
 * Errors with which the replicated state refuses to continue: its bytes are damaged, or an entry cannot be applied to them.
 *
 * Rule: the two are never mixed: a damaged state is replaced by that of another node, and an entry that fails here fails on every
 * equal state.
 */
import type { LogIndex } from '../raft/types.ts'

/** The local state is damaged. The node must quarantine it and replace it by that of a peer. */
export class StateDamagedError extends Error {
  override readonly name: string = 'StateDamagedError'
}

/** This version cannot apply an entry to this state. Nothing of the entry's batch has taken effect; `cause` has the reason. */
export class EntryFailedError extends Error {
  override readonly name: string = 'EntryFailedError'
  readonly index: LogIndex

  constructor(index: LogIndex, cause: unknown) {
    super(`Entry ${index} cannot be applied`, { cause })
    this.index = index
  }
}
