/**
 * The port through which an upload gets names for its chunks.
 *
 * Owns: the contract. Knows nothing of: sessions, commits.
 * Rule: until `end` is called, whatever was written under the births of an upload is kept.
 */

/** `known`: it was committed or refused, or was never proposed. `unknown`: it may still commit. */
export type UploadOutcome = 'known' | 'unknown'

export interface Upload {
  /** Never given before. */
  newBirth(): string
  /** After the last proposal that names its births has ended. Idempotent. */
  end(outcome: UploadOutcome): void
}

export interface Uploads {
  /** Throws Condition while no session can be opened. */
  begin(): Promise<Upload>
}
