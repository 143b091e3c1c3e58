/**
 * Judges the audit log of a running node: unsealed links, segments, their copies.
 *
 * Owns: the judgement and its limits. Knows nothing of: sockets, rows.
 */
import type { AuditStatus } from '../api/local/node-status.ts'
import { error, type Finding, warning, well } from './finding.ts'

/** Twice as long as links normally wait: they become a segment within an hour. */
const WAIT_MS_MAX = 2 * 3_600_000

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function checkAudit(status: AuditStatus | null): readonly Finding[] {
  if (status === null) return []
  const { incomplete, lost, lookedAt, isSealing, now, unsealed } = status
  const findings: Finding[] = []
  if (lost > 0)
    findings.push(
      error('audit_log', {
        found: `${lost} of ${lookedAt} segments of the audit log have copies only on lost members`,
        expected: 'at least one copy of each segment on a member that is not lost',
        action:
          'Run holdfast audit verify to see which rows these segments contain. The rows are lost unless the disks of the lost members come back; GET /audit reports them as gaps.',
      }),
    )
  if (incomplete > 0)
    findings.push(
      warning('audit_log', {
        found: `${incomplete} of ${lookedAt} segments of the audit log have a copy missing`,
        expected: 'as many copies of each segment as objects have',
        action:
          'See holdfast cluster repair get: the member that owes the copy makes it when it runs and has free space.',
      }),
    )
  if (isSealing && unsealed.oldest !== null && now - unsealed.oldest > WAIT_MS_MAX)
    findings.push(
      warning('audit_log', {
        found: `${unsealed.links} links of the audit log wait in the state to become a segment, the oldest since ${timeOf(unsealed.oldest)}`,
        expected: `no link waits longer than ${WAIT_MS_MAX / 3_600_000} hours`,
        action:
          'Nothing is lost. Free space for copies on two nodes, see deploy/runbooks/full-blob-disk.md; the log of the leader names the blocker ("audit rows wait to be sealed"). After an upgrade, wait.',
      }),
    )
  return findings.length > 0 ? findings : [well('audit_log', summary(status))]
}

function summary({ segments, bytes, lookedAt, isSealing, unsealed }: AuditStatus): string {
  const { links, oldest } = unsealed
  const since = oldest === null ? '' : `, the oldest since ${timeOf(oldest)}`
  const waiting = `${links} links in rows${since}`
  if (!isSealing) return `${waiting}; the feature level of the cluster does not include segments yet`
  const sample = lookedAt < segments ? ` (${lookedAt} were checked)` : ''
  const copies = segments === 0 ? '' : `, according to their rows no copy is missing${sample}`
  return `${segments} segments with ${sizeOf(bytes)}${copies}; ${waiting}`
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

function sizeOf(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`
}
