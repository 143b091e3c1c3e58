/**
 * Starts backups when their schedules are due, and records how they ended. [docs/adr/0087-backup-targets-and-schedules.md]
 *
 * Owns: when a schedule is looked at, the figures of all of them. Knows nothing of: how a backup is made; apply decides whether one starts. Rules: only the node
 * on duty starts anything; by the confirmed time of the log, so one wrong clock starts nothing; a schedule is not read again before its next time.
 */
import { randomUUID } from 'node:crypto'
import { type Cluster, gauge, type Logger, type MetricSample } from '../../cluster/index.ts'
import { newBackupId } from '../backup/format/names.ts'
import { decideSchedule } from '../backup/schedules/due.ts'
import { cronOf, type ScheduleStatus, scheduleStatus } from '../backup/schedules/schedule-status.ts'
import { newOperationId } from '../commands/operation-id.ts'
import type { Propose } from '../commands/propose.ts'
import { schedulesOf } from '../state-machine/backup-plans/plans.ts'
import type { TenantId } from '../state-machine/base/record-ids.ts'
import type { BackupScheduleRecord } from '../state-machine/backup-plans/records.ts'
import { type Origin, SYSTEM_ORIGIN } from '../state-machine/base/origin.ts'
import { inTheWay } from '../state-machine/long-operations/backups.ts'
import { isFinished, unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import type { BackupPrune } from '../state-machine/long-operations/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'

export interface BackupSchedulesParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'nodeId'>
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
    const unfinished = schedules.length === 0 ? [] : unfinishedOperations(state)
    const statuses = schedules.map((schedule) => scheduleStatus(schedule, unfinished, now))
    return [
      gauge(
        'holdfast_backup_schedules',
        'Schedules of backups that are not paused.',
        schedules.filter(({ isPaused }) => !isPaused).length,
      ),
      gauge(
        'holdfast_backup_schedules_late',
        'Schedules of backups without a good backup from their last time but one or later.',
        statuses.filter(({ isLate }) => isLate).length,
      ),
      ...schedules.flatMap((schedule, at) => {
        const status = statuses[at]
        return status === undefined ? [] : samplesOf(schedule, status)
      }),
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

  /** A refusal is a row of the audit log as well: what is known to be in the way is not asked for each second. */
  async #start({ name, revision }: BackupScheduleRecord, slotAt: number): Promise<void> {
    const { propose, logger, state, cluster } = this.#parts
    const present = inTheWay(unfinishedOperations(state), 'backup')
    if (present !== undefined) {
      logger.debug({ schedule: name, operation: present.operationId }, 'scheduled backup must wait')
      return
    }
    const operationId = newOperationId()
    const backupId = newBackupId(new Date(slotAt))
    const asked = { name, revision, slotAt, operationId, backupId } as const
    const origin = originOf(cluster.nodeId, name, 'startScheduledBackup')
    const reply = await propose({ type: 'startScheduledBackup', ...asked }, origin)
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
    const { propose, logger, cluster } = this.#parts
    const operationId = newOperationId()
    const by = byOf(name)
    const scope = { tenantId, bucket: null, node: null, maxBytesPerSecond: null }
    const asked = { operationId, kind: 'backupPrune', requestedBy: by, reason: by, ...scope, prune } as const
    const origin = originOf(cluster.nodeId, name, 'pruneBackups')
    const reply = await propose({ type: 'startOperation', ...asked }, origin)
    if (!reply.ok) logger.warn({ schedule: name, reason: reply.message }, 'prune of backups not started')
  }
}

function originOf(nodeId: string, schedule: string, operation: string): Origin {
  return {
    ...SYSTEM_ORIGIN,
    requestId: randomUUID(),
    operation,
    method: 'WORK',
    path: `/cluster/backup-schedules/${schedule}`,
    reason: byOf(schedule),
    elapsedMs: 0,
    successStatus: 202,
    nodeId,
  }
}

const byOf = (schedule: string): string => `schedule ${schedule}`

function samplesOf(
  schedule: BackupScheduleRecord,
  { isLate, isPaused, waitsFor }: ScheduleStatus,
): readonly MetricSample[] {
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
      Number(isLate),
      labels,
    ),
    gauge(
      'holdfast_backup_paused',
      '1: the schedule is paused: an operator has paused it, or the cluster was restored from a backup.',
      Number(isPaused),
      labels,
    ),
    gauge(
      'holdfast_backup_waiting',
      '1: the time of the schedule has come, and another unfinished operation keeps its backup from starting.',
      Number(waitsFor !== null),
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
