/**
 * `holdfast backup schedule set|list|show|remove`, and `holdfast backup prune`, which has the same rules.
 */
import type { BackupSchedule } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printTable, sizeText } from '../base/printing.ts'
import { type OperationOptions, reportStarted } from '../admin/operation-commands.ts'
import { type ChangeOptions, rehearsal, reportChange } from '../admin/outcome.ts'

export interface ScheduleOptions extends AdminAccessOptions, ChangeOptions {}

export interface KeepOptions {
  readonly keepLast?: number
  readonly keepHourly?: number
  readonly keepDaily?: number
  readonly keepWeekly?: number
  readonly keepMonthly?: number
  readonly keepYearly?: number
}

export interface SetScheduleOptions extends ScheduleOptions, KeepOptions {
  readonly to: string
  readonly tenant?: string
  readonly when: string
  readonly maxRate?: number
  readonly paused?: boolean
}

export interface PruneOptions extends OperationOptions, KeepOptions {
  readonly from: string
  readonly tenant?: string
  readonly reason: string
}

export function pruneBackups(options: PruneOptions): Promise<number> {
  const { from: target, tenant, reason } = options
  const scope = tenant === undefined ? {} : { tenantId: tenant }
  const body = { target, ...scope, keep: keepOf(options) ?? {}, reason }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('pruneBackups', { body, query: rehearsal(options) })
    return reportStarted(client, answer, options)
  })
}

export function setSchedule(name: string, options: SetScheduleOptions): Promise<number> {
  const { to: target, tenant: tenantId = null, when, maxRate, paused = false } = options
  const keep = keepOf(options)
  const body = { target, tenantId, when, keep, paused, maxBytesPerSecond: maxRate ?? null }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('setBackupSchedule', {
      params: { name },
      body,
      query: rehearsal(options),
    })
    return reportChange<BackupSchedule>(answer, options, printSchedule)
  })
}

export function listSchedules(options: ScheduleOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { schedules } = (await client.call('listBackupSchedules', {})).answer
    if (options.json) for (const schedule of schedules) printJson(schedule)
    else
      printTable(
        schedules.map(({ name, target, tenantId, when, nextRunAt, last, run }) => [
          name,
          target,
          tenantId ?? 'cluster',
          when,
          nextRunAt ?? 'paused',
          run === null ? (last?.outcome ?? 'none yet') : 'under way',
        ]),
      )
    return EXIT.done
  })
}

export function showSchedule(name: string, options: ScheduleOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getBackupSchedule', { params: { name } })
    if (options.json) printJson(answer)
    else printSchedule(answer)
    return EXIT.done
  })
}

export function removeSchedule(name: string, options: ScheduleOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('deleteBackupSchedule', {
      params: { name },
      query: rehearsal(options),
    })
    if (answer === undefined && !options.json) note(`${name} starts no backup any more; its backups stay`)
    return reportChange<object>(answer, options, () => {})
  })
}

/** Null: no option was given. */
export function keepOf(options: KeepOptions): Readonly<Record<string, number>> | null {
  const { keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly } = options
  const given = Object.entries({
    last: keepLast,
    hourly: keepHourly,
    daily: keepDaily,
    weekly: keepWeekly,
    monthly: keepMonthly,
    yearly: keepYearly,
  }).filter((rule): rule is [string, number] => rule[1] !== undefined)
  return given.length === 0 ? null : Object.fromEntries(given)
}

function printSchedule(schedule: BackupSchedule): void {
  const { name, target, tenantId, when, keep, nextRunAt, maxBytesPerSecond } = schedule
  const { run, last, lastGood, failures } = schedule
  const kept = Object.entries(keep ?? {}).filter(([, count]) => count > 0)
  printFacts({
    name,
    target,
    of: tenantId ?? 'the whole cluster',
    when: `${when} (UTC)`,
    keeps: keep === null ? 'all' : kept.map(([rule, count]) => `${rule} ${count}`).join(', '),
    ...(maxBytesPerSecond === null ? {} : { 'bytes a second': sizeText(maxBytesPerSecond) }),
    'next run': nextRunAt ?? 'paused',
    'under way': run?.operationId ?? 'no',
    last: last === null ? 'none yet' : `${last.outcome} at ${last.endedAt}, ${sizeText(last.bytesSent)} sent`,
    ...(typeof last?.error === 'string' ? { error: last.error } : {}),
    'last good': lastGood === null ? 'none yet' : `${lastGood.backupId} at ${lastGood.endedAt}`,
    'failures in a row': failures,
  })
}
