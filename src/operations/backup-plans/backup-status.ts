/**
 * How the schedules of backups stand, by the state that this node has: for the doctor of the same machine.
 */
import { scheduleStatus, type ScheduleStatus } from '../../backup/schedules/schedule-status.ts'
import { schedulesOf } from '../../state-machine/backup-plans/plans.ts'
import { unfinishedOperations } from '../../state-machine/long-operations/operations.ts'
import type { Services } from '../base/services.ts'

export interface BackupStatus {
  /** At most BACKUP_SCHEDULES_MAX. */
  readonly schedules: readonly ScheduleStatus[]
}

/** Throws Condition while the state is being replaced. */
export function backupStatus({
  state,
  cluster,
}: {
  readonly state: Services['state']
  readonly cluster: { readonly time: { status(): { readonly confirmedTime: number } } }
}): BackupStatus {
  const now = cluster.time.status().confirmedTime
  const unfinished = unfinishedOperations(state)
  return { schedules: state.cut(schedulesOf).map((one) => scheduleStatus(one, unfinished, now)) }
}
