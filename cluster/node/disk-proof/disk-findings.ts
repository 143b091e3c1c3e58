/**
 * What log and state together show about their disk.
 *
 * Owns: whether the log has lost its end, and at which level of the state it matters. Knows nothing of: hosts, files. Pure.
 * Rule: an entry is applied only after the log holds it durably, so a state that is ahead of the log was installed, or the log was cut.
 */
import { decodeMachineRecord, type MachineRecord } from '../base/machine-record.ts'
import type { DiskTrust } from '../../raft/types.ts'
import type { OpenedState } from '../../base/types.ts'
import { termIn } from '../../wal/entry-spans.ts'
import type { WalContent } from '../../wal/wal.ts'
import type { DiskFindings } from '../base/disk-proof.ts'

/** Below it other nodes may not know suspects: all nodes follow the older rule. */
const SUSPECT_LEVEL = 3

export function findingsIn(log: WalContent, state: OpenedState): DiskFindings {
  return { lastBatch: log.lastBatch ?? null, hasLostTail: hasLostTail(log, state) }
}

export function trustAt({ featureLevel }: MachineRecord, trust: DiskTrust): DiskTrust {
  return featureLevel < SUSPECT_LEVEL ? 'proved' : trust
}

function hasLostTail(log: WalContent, { record, isInstalled }: OpenedState): boolean {
  if (record === null || isInstalled !== false || log.holes.length > 0) return false
  const { appliedIndex, appliedTerm } = decodeMachineRecord(record)
  if (appliedIndex <= log.base.index) return false
  return termIn(log, appliedIndex) !== appliedTerm
}
