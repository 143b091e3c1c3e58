/**
 * Commands about long operations, and their replies.
 */
import type { TenantId } from '../base/record-ids.ts'
import type {
  BackupPrune,
  BackupRun,
  BackupVerify,
  LongOperation,
  LongOperationProgress,
  LongOperationShare,
  MembershipKind,
  RestoreScope,
} from './records.ts'

export type LongOperationCommand =
  | {
      readonly type: 'startOperation'
      readonly operationId: string
      readonly kind: Exclude<LongOperation['kind'], MembershipKind>
      readonly requestedBy: string
      readonly reason: string | null
      readonly tenantId: TenantId | null
      readonly bucket: string | null
      readonly node: string | null
      readonly maxBytesPerSecond: number | null
      /** Nodes that each do a share. */
      readonly nodes?: readonly string[]
      /** Of a backup, and of no other kind. Since level 7. */
      readonly backup?: Pick<BackupRun, 'backupId' | 'target'>
      /** Of a prune of backups, and of no other kind. Since level 7. */
      readonly prune?: BackupPrune
      /** Of a restore into the running cluster, and of no other kind. Since level 7. */
      readonly restore?: RestoreScope
      /** Of a verification of a backup, and of no other kind. Since level 7. */
      readonly verify?: BackupVerify
    }
  /** The whole progress of `node` in its share so far. */
  | {
      readonly type: 'reportShare'
      readonly operationId: string
      readonly node: string
      readonly share: LongOperationShare
    }
  /** What the driver did since the cursor was at `from`. */
  | {
      readonly type: 'advanceOperation'
      readonly operationId: string
      readonly from: string
      readonly cursor: string
      readonly phase: string
      /** `bytesMoved`: of a backup and its verification alone; other kinds count them in the entries that end their tasks. */
      readonly counted: Partial<Omit<LongOperationProgress, 'tasksOpen'>>
    }
  | {
      readonly type: 'setOperationStatus'
      readonly operationId: string
      readonly action: 'pause' | 'resume' | 'cancel' | 'finish' | 'fail'
      readonly error: string | null
    }

export interface LongOperationReplies {
  startOperation: LongOperation
  reportShare: LongOperation
  advanceOperation: LongOperation
  setOperationStatus: LongOperation
}
