/**
 * Row keys of backup targets and schedules.
 */
import { join, type RowKey } from '../base/row-key.ts'
import type {
  BackupChecksRecord,
  BackupNamesRecord,
  BackupScheduleRecord,
  BackupTargetRecord,
} from './records.ts'

export const backupKeys = {
  backupTarget: (name: string): RowKey<BackupTargetRecord> => join('backupTarget', name),
  backupSchedule: (name: string): RowKey<BackupScheduleRecord> => join('backupSchedule', name),
  backupNames: (): RowKey<BackupNamesRecord> => join('backupNames'),
  backupChecks: (): RowKey<BackupChecksRecord> => join('backupChecks'),
} as const
