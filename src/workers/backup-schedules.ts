/**
 * Starts backups when their schedules are due, and records how they ended. [docs/adr/0087-backup-targets-and-schedules.md]
 *
 * Owns: when a schedule is looked at, the figures of all of them. Knows nothing of: how a backup is made; apply decides whether one starts. Rules: only the node
 * on duty starts anything; by the confirmed time of the log, so one wrong clock starts nothing; a schedule is not read again before its next time.
 */
import { type Cluster, gauge, type Logger, type MetricSample } from '../../cluster/index.ts'
import { newBackupId } from '../backup/format/names.ts'
import { type Cron, lastTime, parseCron, ScheduleError } from '../backup/schedules/cron.ts'
import { decideSchedule } from '../backup/schedules/due.ts'
import { newOperationId } from '../commands/operation-id.ts'
import type { Propose } from '../commands/propose.ts'
import { schedulesOf } from '../state-machine/backup-plans/plans.ts'
import type { TenantId } from '../state-machine/base/record-ids.ts'
import type { BackupScheduleRecord } from '../state-machine/backup-plans/records.ts'
import { isFinished } from '../state-machine/long-operations/operations.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import type { BackupPrune } from '../state-machine/long-operations/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'

export interface BackupSchedulesParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: StateReader
  readonly propose: Propose
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  readonly logger: Logger
}

export class BackupSchedules {
  readonly #parts: BackupSchedulesParts
  /** Until when a schedule waits, under what it was decided by. */
  readonly #waits = new Map<string, { readonly decidedBy: string; readonly until: number }>()

  constructor(parts: BackupSchedulesParts) {
    this.#parts = parts
  }

  /** Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isJobRunner()) return false
    for (const schedule of state.cut(schedulesOf)) {
      if (schedule.run === null) await this.#look(schedule)
      else await this.#end(schedule, schedule.run.operationId)
    }
    return false
  }

  /** Of the state that this node has: the same at every node. */
  metrics(): readonly MetricSample[] {
    const { state } = this.#parts
    const now = this.#parts.confirmedTime()
    const schedules = state.usable === null ? [] : state.cut(schedulesOf)
    return [
      gauge(
        'holdfast_backup_schedules',
        'Schedules of backups that are not paused.',
        schedules.filter(({ isPaused }) => !isPaused).length,
      ),
      gauge(
        'holdfast_backup_schedules_late',
        'Schedules of backups without a good backup from their last time but one or later.',
        schedules.filter((schedule) => isLate(schedule, now)).length,
      ),
      ...schedules.flatMap((schedule) => samplesOf(schedule, now)),
    ]
  }

  async #look(schedule: BackupScheduleRecord): Promise<void> {
    const { confirmedTime, logger } = this.#parts
    const now = confirmedTime()
    const { name, revision, markAt } = schedule
    const decidedBy = `${revision}/${markAt}/${schedule.isPaused}`
    const wait = this.#waits.get(name)
    if (wait?.decidedBy === decidedBy && now < wait.until && markAt <= now) return
    const when = cronOf(schedule)
    if (when === null) {
      logger.error({ schedule: name }, 'backup schedule cannot be read')
      return
    }
    const { isPaused } = schedule
    const decision = decideSchedule({ when, markAt, isPaused, isRunning: false }, now)
    if (decision.kind === 'run') await this.#start(schedule, decision.slotAt)
    else if (decision.kind === 'align') await this.#parts.propose({ type: 'alignBackupSchedule', name })
    else this.#waits.set(name, { decidedBy, until: decision.until ?? Number.POSITIVE_INFINITY })
  }

  async #start({ name, revision }: BackupScheduleRecord, slotAt: number): Promise<void> {
    const { propose, logger } = this.#parts
    const operationId = newOperationId()
    const backupId = newBackupId(new Date(slotAt))
    const reply = await propose({
      type: 'startScheduledBackup',
      name,
      revision,
      slotAt,
      operationId,
      backupId,
    })
    if (reply.ok) logger.info({ schedule: name, operation: operationId }, 'scheduled backup started')
    else logger.debug({ schedule: name, reason: reply.message }, 'scheduled backup must wait')
  }

  async #end({ name }: BackupScheduleRecord, operationId: string): Promise<void> {
    const { propose, logger, state } = this.#parts
    const operation = state.get(longOperationKeys.operation(operationId))
    if (operation !== undefined && !isFinished(operation.status)) return
    const reply = await propose({ type: 'endScheduledBackup', name, operationId })
    if (!reply.ok) return
    const { last, target, tenantId, keep } = reply.value
    if (last?.outcome === 'succeeded' && keep !== null)
      await this.#prune(name, tenantId ?? null, { target, keep })
    if (last?.outcome === 'failed')
      logger.error({ schedule: name, operation: operationId, reason: last.error }, 'scheduled backup failed')
    else
      logger.info(
        { schedule: name, operation: operationId, outcome: last?.outcome },
        'scheduled backup ended',
      )
  }

  /** Refused while another one is under way: the next good backup asks again. */
  async #prune(name: string, tenantId: TenantId | null, prune: BackupPrune): Promise<void> {
    const { propose, logger } = this.#parts
    const operationId = newOperationId()
    const by = `schedule ${name}`
    const scope = { tenantId, bucket: null, node: null, maxBytesPerSecond: null }
    const asked = { operationId, kind: 'backupPrune', requestedBy: by, reason: by, ...scope, prune } as const
    const reply = await propose({ type: 'startOperation', ...asked })
    if (!reply.ok) logger.warn({ schedule: name, reason: reply.message }, 'prune of backups not started')
  }
}

/** Null: a version of the program wrote it that reads more than this one. */
function cronOf({ when }: BackupScheduleRecord): Cron | null {
  try {
    return parseCron(when)
  } catch (error) {
    if (error instanceof ScheduleError) return null
    throw error
  }
}

/** A run that takes as long as the time between two runs is not late yet. */
function isLate(schedule: BackupScheduleRecord, now: number): boolean {
  const cron = schedule.isPaused ? null : cronOf(schedule)
  const last = cron === null ? null : lastTime(cron, now)
  const before = cron === null || last === null ? null : lastTime(cron, last - 1)
  const since = Math.max(schedule.lastGood?.slotAt ?? 0, schedule.updatedAt)
  return before !== null && since < before
}

function samplesOf(schedule: BackupScheduleRecord, now: number): readonly MetricSample[] {
  const labels = { schedule: schedule.name }
  const { last, lastGood, failures, run } = schedule
  return [
    gauge(
      'holdfast_backup_last_good_timestamp_seconds',
      'For what time of its schedule the last good backup was made. 0: there is none.',
      (lastGood?.slotAt ?? 0) / 1000,
      labels,
    ),
    gauge(
      'holdfast_backup_late',
      '1: no good backup is there from the last time but one of the schedule or later.',
      Number(isLate(schedule, now)),
      labels,
    ),
    gauge(
      'holdfast_backup_failures',
      'Backups of the schedule that failed or were cancelled in a row.',
      failures,
      labels,
    ),
    gauge(
      'holdfast_backup_running',
      '1: a backup of the schedule is under way.',
      Number(run !== null),
      labels,
    ),
    gauge(
      'holdfast_backup_last_seconds',
      'How long the last backup of the schedule took.',
      last === null ? 0 : (last.endedAt - last.startedAt) / 1000,
      labels,
    ),
    gauge(
      'holdfast_backup_last_sent_bytes',
      'Sealed bytes that the last backup of the schedule sent to its target.',
      last?.bytesMoved ?? 0,
      labels,
    ),
  ]
}
