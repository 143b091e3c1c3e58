/**
 * Schedules of backups: authorize -> read -> commit. The node on duty starts a backup when one is due.
 */
import { adminToken } from '../../access/rights.ts'
import { type Cron, nextTime, parseCron, ScheduleError } from '../../backup/schedules/cron.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { backupKeys } from '../../state-machine/backup-plans/keys.ts'
import { schedulesOf } from '../../state-machine/backup-plans/plans.ts'
import type { BackupScheduleRecord } from '../../state-machine/backup-plans/records.ts'
import type { KeepRules } from '../../state-machine/long-operations/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

interface Named {
  readonly name: string
}

export interface ScheduleRequest {
  readonly target: string
  /** Absent or null: the whole cluster. */
  readonly tenantId?: string | null
  readonly when: string
  /** Absent or null: all backups stay. */
  readonly keep?: Partial<KeepRules> | null
  readonly paused?: boolean
  readonly maxBytesPerSecond?: number | null
}

export interface Schedule {
  readonly record: BackupScheduleRecord
  /** By the confirmed time of this node. ms since 1970; null: it is paused. */
  readonly nextRunAt: number | null
}

/** At most BACKUP_SCHEDULES_MAX, so there are no pages. */
export const listBackupSchedules = adminOperation(
  {
    id: 'listBackupSchedules',
    requires: adminToken('viewer', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services): Promise<readonly Schedule[]> =>
    services.state.cut(schedulesOf).map((record) => scheduled(services, record)),
)

export const getBackupSchedule = adminOperation(
  {
    id: 'getBackupSchedule',
    requires: adminToken('viewer', 'cluster'),
    refuses: ['not_found'],
    target: noTarget,
  },
  async (services, principal, { name }: Named): Promise<Schedule> => {
    const found = services.state.get(backupKeys.backupSchedule(name))
    if (found !== undefined) return scheduled(services, found)
    throw new Refusal('not_found', `There is no backup schedule "${name.slice(0, 80)}"`)
  },
)

export const setBackupSchedule = adminOperation(
  {
    id: 'setBackupSchedule',
    requires: adminToken('operator', 'cluster'),
    refuses: ['invalid_argument', 'precondition_failed', 'quota_exceeded'],
    target: noTarget,
  },
  async (services, principal, { name, ...request }: Named & ScheduleRequest): Promise<Schedule> => {
    const { target, tenantId = null, when, keep = null } = request
    const { paused: isPaused = false, maxBytesPerSecond = null } = request
    readCron(when)
    const plan = {
      target,
      ...(tenantId === null ? {} : { tenantId }),
      when,
      keep: keep === null ? null : wholeKeep(keep),
      isPaused,
      maxBytesPerSecond,
    }
    return scheduled(services, settle(await services.propose({ type: 'setBackupSchedule', name, plan })))
  },
)

/** Repeating it is safe. A backup that is under way continues, and backups stay. */
export const deleteBackupSchedule = adminOperation(
  {
    id: 'deleteBackupSchedule',
    requires: adminToken('operator', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, { name }: Named): Promise<null> => {
    return settle(await services.propose({ type: 'deleteBackupSchedule', name }))
  },
)

/** The next `count` times of a schedule that was accepted. ms since 1970 */
export function nextRuns(
  { cluster }: Pick<Services, 'cluster'>,
  { when }: BackupScheduleRecord,
  count: number,
): readonly number[] {
  const cron = parseCron(when)
  const times: number[] = []
  for (let at: number | null = cluster.time.status().confirmedTime; times.length < count; ) {
    at = nextTime(cron, at)
    if (at === null) break
    times.push(at)
  }
  return times
}

function scheduled(services: Pick<Services, 'cluster'>, record: BackupScheduleRecord): Schedule {
  const [nextRunAt = null] = record.isPaused ? [] : nextRuns(services, record, 1)
  return { record, nextRunAt }
}

/** Throws Refusal invalid_argument. */
function readCron(when: string): Cron {
  try {
    return parseCron(when)
  } catch (cause) {
    if (!(cause instanceof ScheduleError)) throw cause
    throw new Refusal('invalid_argument', `Cannot set the schedule: ${cause.message}`, { cause })
  }
}

export function wholeKeep(keep: Partial<KeepRules>): KeepRules {
  const { last = 0, hourly = 0, daily = 0, weekly = 0, monthly = 0, yearly = 0 } = keep
  return { last, hourly, daily, weekly, monthly, yearly }
}
