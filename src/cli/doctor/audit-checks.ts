/**
 * What is to be said of the audit log of a running node: rows that wait, segments, their copies.
 *
 * Owns: the judgement and its bounds. Knows nothing of: sockets, rows.
 */
import type { AuditStanding } from '../../api/local/node-status.ts'
import { error, type Finding, warning, well } from './finding.ts'

/** Rows become a segment within an hour. */
const WAIT_MS_MAX = 2 * 3_600_000

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function checkAudit(standing: AuditStanding | null): readonly Finding[] {
  if (standing === null) return []
  const { incomplete, lost, lookedAt, isSealing, now, unsealed } = standing
  const findings: Finding[] = []
  if (lost > 0)
    findings.push(
      error('audit_log', {
        found: `${lost} of ${lookedAt} segments of the audit log have copies on lost members alone`,
        expected: 'a copy of each on a member that is not lost',
        action:
          'See holdfast audit verify for which rows they hold. They are lost unless their disks come back; answers of GET /audit name them as gaps.',
      }),
    )
  if (incomplete > 0)
    findings.push(
      warning('audit_log', {
        found: `${incomplete} of ${lookedAt} segments of the audit log lack a copy that is owed`,
        expected: 'as many copies of each as objects have',
        action: 'See holdfast cluster repair get: it is made when the member that owes it runs and has room.',
      }),
    )
  if (isSealing && unsealed.oldest !== null && now - unsealed.oldest > WAIT_MS_MAX)
    findings.push(
      warning('audit_log', {
        found: `${unsealed.links} links of the audit log wait in the state to become a segment, the oldest since ${timeOf(unsealed.oldest)}`,
        expected: `none for longer than ${WAIT_MS_MAX / 3_600_000} hours`,
        action:
          'Nothing is lost. Make room for copies on two nodes, see deploy/runbooks/full-blob-disk.md; the log of the leader says what stands in the way ("audit rows wait to be sealed"). After an upgrade, wait.',
      }),
    )
  return findings.length > 0 ? findings : [well('audit_log', summary(standing))]
}

function summary({ segments, bytes, lookedAt, isSealing, unsealed }: AuditStanding): string {
  const { links, oldest } = unsealed
  const since = oldest === null ? '' : `, the oldest since ${timeOf(oldest)}`
  const waiting = `${links} links in rows${since}`
  if (!isSealing) return `${waiting}; the feature level of the cluster knows no segments yet`
  const sample = lookedAt < segments ? ` (of ${lookedAt} that were looked at)` : ''
  const copies = segments === 0 ? '' : `, by their rows none lacks a copy${sample}`
  return `${segments} segments with ${sizeOf(bytes)}${copies}; ${waiting}`
}

const timeOf = (ms: number): string => new Date(ms).toISOString()

function sizeOf(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`
}
