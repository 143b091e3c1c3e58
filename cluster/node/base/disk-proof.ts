/**
 * Whether the data directory of this process is the newest that this node had.
 *
 * Owns: the port. Knows nothing of: files, hosts, what follows in the core.
 * Rule: the answer rests on what lies outside of the directory's data, because an older copy of it is as consistent as the newest. What
 * cannot be proved is `suspect`, for the life of the directory, until `confirm`.
 */
import type { DiskTrust } from '../../raft/types.ts'

export interface DiskFindings {
  /** Number of the last batch of the log; null: not known. */
  readonly lastBatch: number | null
  /** The state holds more than the log, and was not installed from elsewhere: what the log had flushed is gone. */
  readonly hasLostTail: boolean
}

export interface DiskProof {
  /** Called once, before anything is promised. What it noted, and that no orderly stop counts any more, is durable when it resolves. */
  judge(findings: DiskFindings): Promise<DiskTrust>
  /** The directory holds all that counts: a later process on this host may rely on it. Durable when it resolves. */
  confirm(): Promise<void>
  /** Everything was stopped in order: a later process may rely on it on any host that has this very directory. */
  stopped(): Promise<void>
}

/** For nodes without a disk. */
export const TRUSTED_DISK: DiskProof = {
  judge: async () => 'proved',
  confirm: async () => undefined,
  stopped: async () => undefined,
}
