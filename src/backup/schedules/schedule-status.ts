/**
 * How schedules of backups stand: what is late, failed, paused, or kept from starting. Pure.
 *
 * Owns: these judgements, for metrics, alerts and the doctor alike. Knows nothing of: what a backup is. Rule: a run that takes as long as the time between two
 * runs is not late yet.
 */
import { inTheWay } from '../../state-machine/long-operations/backups.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import type { BackupScheduleRecord } from '../../state-machine/backup-plans/records.ts'
import { type Cron, lastTime, parseCron, ScheduleError } from './cron.ts'
import { decideSchedule } from './due.ts'

export interface ScheduleStatus {
  readonly name: string
  readonly isPaused: boolean
  /** No good backup is there from its last time but one or later. */
  readonly isLate: boolean
  /** In a row, up to the last one. */
  readonly failures: number
  /** Why the last one failed. */
  readonly error: string | null
  /** For what time the last good one was made. ms since 1970 */
  readonly lastGoodAt: number | null
  /** Its time has come, and this unfinished operation keeps it from starting. */
  readonly waitsFor: Pick<LongOperation, 'operationId' | 'kind' | 'status'> | null
}

/** `now`: a confirmed time. */
export function scheduleStatus(
  schedule: BackupScheduleRecord,
  unfinished: readonly LongOperation[],
  now: number,
): ScheduleStatus {
  const { name, isPaused, failures, last, lastGood } = schedule
  const blocker = isDue(schedule, now) ? inTheWay(unfinished, 'backup') : undefined
  return {
    name,
    isPaused,
    isLate: isLate(schedule, now),
    failures,
    error: failures === 0 ? null : (last?.error ?? null),
    lastGoodAt: lastGood?.slotAt ?? null,
    waitsFor:
      blocker === undefined
        ? null
        : { operationId: blocker.operationId, kind: blocker.kind, status: blocker.status },
  }
}

/** Null: a version of the program wrote it that reads more than this one. */
export function cronOf({ when }: Pick<BackupScheduleRecord, 'when'>): Cron | null {
  try {
    return parseCron(when)
  } catch (error) {
    if (error instanceof ScheduleError) return null
    throw error
  }
}

function isDue(schedule: BackupScheduleRecord, now: number): boolean {
  const { markAt, isPaused, run } = schedule
  const when = cronOf(schedule)
  return (
    when !== null && decideSchedule({ when, markAt, isPaused, isRunning: run !== null }, now).kind === 'run'
  )
}

function isLate(schedule: BackupScheduleRecord, now: number): boolean {
  const cron = schedule.isPaused ? null : cronOf(schedule)
  const last = cron === null ? null : lastTime(cron, now)
  const before = cron === null || last === null ? null : lastTime(cron, last - 1)
  const since = Math.max(schedule.lastGood?.slotAt ?? 0, schedule.updatedAt)
  return before !== null && since < before
}
