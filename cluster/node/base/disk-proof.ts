/**
 * Whether the data directory of this process is the newest one of this node.
 *
 * Owns: the port. Knows nothing of: files, hosts, what follows in the core.
 * Rule: the answer rests on evidence outside of the directory's data, because an older copy of it is as consistent as the newest. A
 * directory that cannot be proved newest is `suspect` for its whole life, until `confirm`.
 */
import type { DiskTrust } from '../../raft/types.ts'

export interface DiskFindings {
  /** Number of the last batch of the log; null: not known. */
  readonly lastBatch: number | null
  /** The state holds more than the log and was not installed from elsewhere: flushed entries of the log are gone. */
  readonly hasLostTail: boolean
}

export interface DiskProof {
  /** Called once, before anything is promised. When it resolves, its notes are durable, and any earlier orderly stop is void. */
  judge(findings: DiskFindings): Promise<DiskTrust>
  /** The directory holds everything that counts: a later process on this host may rely on it. Durable when it resolves. */
  confirm(): Promise<void>
  /** The node stopped in order: a later process may rely on it on any host that has exactly this directory. */
  stopped(): Promise<void>
}

/** For nodes without a disk. */
export const TRUSTED_DISK: DiskProof = {
  judge: async () => 'proved',
  confirm: async () => undefined,
  stopped: async () => undefined,
}
