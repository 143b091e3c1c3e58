/**
 * Commands about long operations, and their replies.
 */
import type { TenantId } from '../base/record-ids.ts'
import type { MembershipKind, OperationProgress, OperationRecord, OperationShare } from './records.ts'

export type OperationCommand =
  | {
      readonly type: 'startOperation'
      readonly operationId: string
      readonly kind: Exclude<OperationRecord['kind'], MembershipKind>
      readonly requestedBy: string
      readonly reason: string | null
      readonly tenantId: TenantId | null
      readonly bucket: string | null
      readonly node: string | null
      readonly maxBytesPerSecond: number | null
      /** Those that do a part each. */
      readonly nodes?: readonly string[]
    }
  /** How far `node` is with its part, all in all. */
  | {
      readonly type: 'reportShare'
      readonly operationId: string
      readonly node: string
      readonly share: OperationShare
    }
  /** What its driver did since the cursor stood at `from`. */
  | {
      readonly type: 'advanceOperation'
      readonly operationId: string
      readonly from: string
      readonly cursor: string
      readonly phase: string
      readonly counted: Partial<Omit<OperationProgress, 'tasksOpen' | 'bytesMoved'>>
    }
  | {
      readonly type: 'setOperationStatus'
      readonly operationId: string
      readonly action: 'pause' | 'resume' | 'cancel' | 'finish' | 'fail'
      readonly error: string | null
    }

export interface OperationReplies {
  startOperation: OperationRecord
  reportShare: OperationRecord
  advanceOperation: OperationRecord
  setOperationStatus: OperationRecord
}
