/**
 * How the replicated state says that it cannot go on: its bytes are damaged, or an entry is not to be applied to them.
 *
 * Rule: the two are never mixed: a damaged state is replaced by that of another node, and an entry that fails here fails on every
 * state that is equal.
 */
import type { LogIndex } from '../raft/types.ts'

/** The local state cannot be trusted any more. The node must distrust it and replace it by that of a peer. */
export class StateDamagedError extends Error {
  override readonly name: string = 'StateDamagedError'
}

/** An entry cannot be applied by this version to this state. Nothing of its batch has taken effect; the cause says why. */
export class EntryFailedError extends Error {
  override readonly name: string = 'EntryFailedError'
  readonly index: LogIndex

  constructor(index: LogIndex, cause: unknown) {
    super(`Entry ${index} cannot be applied`, { cause })
    this.index = index
  }
}
