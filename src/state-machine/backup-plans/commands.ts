/**
 * Commands about backup targets and schedules, and their replies.
 */
import type {
  BackupCheck,
  BackupPlace,
  BackupPlan,
  BackupScheduleRecord,
  BackupTargetRecord,
} from './records.ts'

export type BackupPlanCommand =
  /** Replaces the whole; the gateway has tried the place. */
  | {
      readonly type: 'setBackupTarget'
      readonly name: string
      readonly place: BackupPlace
      readonly markerId: string
    }
  /** Refused while a schedule names it. */
  | { readonly type: 'deleteBackupTarget'; readonly name: string }
  /** Replaces the plan. Times up to now are dealt with; what ran before stays known. */
  | { readonly type: 'setBackupSchedule'; readonly name: string; readonly plan: BackupPlan }
  | { readonly type: 'deleteBackupSchedule'; readonly name: string }
  /** The node on duty found the schedule due. Starts a backup unless one of the schedule is under way or the time was dealt with. */
  | {
      readonly type: 'startScheduledBackup'
      readonly name: string
      readonly revision: number
      readonly slotAt: number
      readonly operationId: string
      readonly backupId: string
    }
  /** The operation of the run has ended; how is read from its row. */
  | { readonly type: 'endScheduledBackup'; readonly name: string; readonly operationId: string }
  /** Puts a mark that lies behind the confirmed time back to it. */
  | { readonly type: 'alignBackupSchedule'; readonly name: string }
  /** The verification `operationId` has ended with this. */
  | {
      readonly type: 'recordBackupCheck'
      readonly operationId: string
      readonly check: Omit<BackupCheck, 'operationId' | 'checkedAt'>
    }
  | {
      readonly type: 'rewrapBackupSecrets'
      readonly items: readonly {
        readonly name: string
        readonly before: Uint8Array
        readonly after: Uint8Array
      }[]
    }

export interface BackupPlanReplies {
  setBackupTarget: BackupTargetRecord
  deleteBackupTarget: null
  setBackupSchedule: BackupScheduleRecord
  deleteBackupSchedule: null
  startScheduledBackup: BackupScheduleRecord
  endScheduledBackup: BackupScheduleRecord
  alignBackupSchedule: BackupScheduleRecord
  recordBackupCheck: BackupCheck
  rewrapBackupSecrets: { readonly rewrapped: number }
}
