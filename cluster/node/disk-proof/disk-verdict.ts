/**
 * The verdict on a data directory by its evidence: proved current, suspect or rolled back.
 *
 * Owns: the order of the questions (docs/formats/disk-proof.md). Knows nothing of: where the evidence comes from. Pure.
 * Rules: a directory is proved when it was stopped in order, or runs on the host that it ran on before, and its marker is exactly
 * the noted file (a copy has another inode or time of birth); a witness that saw more flushes than the log holds proves a
 * rollback. A verdict against the directory stays until the directory is confirmed.
 */
import type { DiskTrust } from '../../raft/types.ts'
import type { DiskFindings } from '../base/disk-proof.ts'

export type ProofState = 'running' | 'stopped' | Exclude<DiskTrust, 'proved'>

/** Written into the directory by the process before. */
export interface NotedDisk {
  readonly state: ProofState
  /** Of the host, as its kernel names it; null where it has no name. */
  readonly hostBoot: string | null
  /** Inode and time of birth of the marker. */
  readonly marker: string
}

export interface DiskEvidence {
  readonly findings: DiskFindings
  /** The last flush that the witness saw; null: there is no credible one. */
  readonly seen: number | null
  /** Null: missing or damaged. */
  readonly noted: NotedDisk | null
  /** As they are now. */
  readonly marker: string | null
  readonly hostBoot: string | null
}

export interface DiskVerdict {
  readonly trust: DiskTrust
  /** Empty when it is proved. */
  readonly why: string
}

export function verdictOf({ findings, seen, noted, marker, hostBoot }: DiskEvidence): DiskVerdict {
  const { lastBatch, hasLostTail } = findings
  if (hasLostTail) return { trust: 'rolledBack', why: 'the state holds entries that the log has lost' }
  if (seen !== null && lastBatch !== null && seen > lastBatch)
    return { trust: 'rolledBack', why: `the log ends at flush ${lastBatch}, and flush ${seen} was seen` }
  if (noted === null) return suspect('disk-proof.json is missing or damaged')
  if (noted.state === 'suspect' || noted.state === 'rolledBack')
    return { trust: noted.state, why: 'the process before it was not proved current either' }
  if (noted.marker !== marker) return suspect('the directory is a copy')
  const isSameHost = noted.hostBoot !== null && noted.hostBoot === hostBoot
  if (noted.state === 'stopped' || isSameHost) return { trust: 'proved', why: '' }
  return suspect('the host was restarted, or another one, and the node was not stopped in order')
}

function suspect(why: string): DiskVerdict {
  return { trust: 'suspect', why }
}
