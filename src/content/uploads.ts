/**
 * The port through which an upload gets births for its chunks.
 *
 * Owns: the contract. Knows nothing of: sessions, commits.
 * Rule: until `end` is called, all blobs that were written under the births of an upload are kept.
 */

/** `known`: committed, refused, or never proposed. `unknown`: the proposal may still commit. */
export type UploadOutcome = 'known' | 'unknown'

export interface Upload {
  /** Returns a birth that was never used before. */
  newBirth(): string
  /** Call it after the last proposal that names these births has ended. Idempotent. */
  end(outcome: UploadOutcome): void
}

export interface Uploads {
  /** Throws Condition while no session can be opened. */
  begin(): Promise<Upload>
}
