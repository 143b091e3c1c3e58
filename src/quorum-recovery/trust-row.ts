/**
 * The audit row about a disk that an operator declares current.
 *
 * Owns: the row, and how it is stored for a stopped node: in the spool, from which the node adds it to the log exactly once when it is
 * back. Knows nothing of: how a disk is proved current. Rule: the row is durable before the declaration takes effect, so that every
 * declaration has an audit row.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { cipherOf, type Logger, type ProofState, StartError } from '../../cluster/index.ts'
import { AuditSpool } from '../audit/audit-spool.ts'
import type { AuditRow } from '../state-machine/audit/records.ts'
import { SYSTEM_ORIGIN } from '../state-machine/base/origin.ts'

/** No limit: only this row is written. */
const SPOOL_BYTES_MAX = Number.MAX_SAFE_INTEGER

export interface DiskTrusted {
  readonly nodeId: string
  readonly incarnation: string
  /** The recorded state of the disk; null: none that can be read. */
  readonly before: ProofState | null
  readonly reason: string | null
}

/** `now`: ms since 1970, by the clock of this machine. */
export function trustRow({ nodeId, incarnation, before, reason }: DiskTrusted, now: number): AuditRow {
  return {
    ...SYSTEM_ORIGIN,
    time: now,
    requestId: `td_${now.toString(36).padStart(9, '0')}${randomBytes(6).toString('hex')}`,
    operation: 'trustDisk',
    method: 'OFFLINE',
    path: '/recover/trust-disk',
    reason,
    status: 200,
    code: null,
    bytesOut: null,
    durationMs: 0,
    nodeId,
    details: { incarnation, before },
  }
}

/** For a stopped node whose data directory is locked. Durable when it resolves. Throws StartError `audit_unwritable`. */
export async function leaveRow(
  dataDir: string,
  row: AuditRow,
  { logger, metadataKey }: { readonly logger: Logger; readonly metadataKey: Uint8Array | null },
): Promise<void> {
  const dir = join(dataDir, 'audit')
  const cipher = cipherOf(metadataKey, 'audit')
  try {
    const spool = await AuditSpool.open({ dir, isStrict: true, bytesMax: SPOOL_BYTES_MAX, logger, cipher })
    spool.append(row)
    await spool.durable().finally(() => spool.close())
  } catch (cause) {
    throw new StartError(
      'audit_unwritable',
      `Cannot write the audit row about the disk of ${row.nodeId} into ${dir}`,
      {
        cause,
        hint: 'Nothing was changed. Free space on that disk, or make the folder writable, and repeat the command.',
      },
    )
  }
}
