/**
 * Judges the schedules of backups of a running node.
 *
 * Owns: the judgement. Knows nothing of: sockets, times of schedules. Rule: a cluster without a schedule is no finding: backups may be made elsewhere.
 */
import type { BackupStatus } from '../api/local/node-status.ts'
import type { ScheduleStatus } from '../backup/schedules/schedule-status.ts'
import { error, type Finding, warning, well } from './finding.ts'

const SHOWN_CHARACTERS_MAX = 300

export function checkBackups(status: BackupStatus | null): readonly Finding[] {
  if (status === null) return []
  const findings = status.schedules.flatMap(findingsOf)
  return findings.length > 0 ? findings : [well('backups', summary(status))]
}

function findingsOf(schedule: ScheduleStatus): readonly Finding[] {
  const { name, isPaused, isLate, failures, error: why, waitsFor } = schedule
  const findings: Finding[] = []
  if (isLate)
    findings.push(
      error('backups', {
        found: `schedule "${name}" has no good backup since its last time but one; the last good one is ${goodOf(schedule)}`,
        expected: 'a good backup from each time of the schedule',
        action: `See holdfast backup schedule show ${name}. What was stored since then is in no backup of it.`,
      }),
    )
  if (failures > 0)
    findings.push(
      warning('backups', {
        found: `${failures} backups of schedule "${name}" failed in a row: ${why?.slice(0, SHOWN_CHARACTERS_MAX) ?? 'cancelled'}`,
        expected: 'a last backup that succeeded',
        action: `Remove the reason, then run holdfast backup create --to its target, or wait for the next time. Earlier backups are as they were.`,
      }),
    )
  if (waitsFor !== null) findings.push(waiting(name, waitsFor))
  if (isPaused)
    findings.push(
      warning('backups', {
        found: `schedule "${name}" is paused; its last good backup is ${goodOf(schedule)}`,
        expected: 'schedules that run; those of a restored cluster come back paused',
        action: `Set it again without --paused, or remove it: holdfast backup schedule set ${name}, or remove ${name}.`,
      }),
    )
  return findings
}

function waiting(
  name: string,
  { operationId, kind, status }: NonNullable<ScheduleStatus['waitsFor']>,
): Finding {
  const isPaused = status === 'paused'
  return warning('backups', {
    found: `the time of schedule "${name}" has come, and operation ${operationId} (${kind}, ${status}) keeps its backup from starting`,
    expected: 'no backup, prune of backups or exchange of a data key that is unfinished for long',
    action: isPaused
      ? `Resume it: holdfast cluster operations resume ${operationId}. The backup starts when it has ended.`
      : `See holdfast cluster operations get ${operationId}. The backup starts by itself when it has ended.`,
  })
}

const goodOf = ({ lastGoodAt }: ScheduleStatus): string =>
  lastGoodAt === null ? 'none' : `that of ${new Date(lastGoodAt).toISOString()}`

function summary({ schedules }: BackupStatus): string {
  if (schedules.length === 0) return 'there is no schedule of backups'
  return schedules.map((one) => `schedule "${one.name}": the last good backup is ${goodOf(one)}`).join('; ')
}
