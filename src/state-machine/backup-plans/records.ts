/**
 * Rows of backup targets and schedules, and their bounds.
 */
import type { TenantId } from '../base/record-ids.ts'
import type { KeepRules } from '../long-operations/records.ts'

/** Of the cluster. A second without work reads them all. */
export const BACKUP_TARGETS_MAX = 64
export const BACKUP_SCHEDULES_MAX = 64
/** Where the bytes lie. */
export type BackupPlace =
  | {
      readonly kind: 'directory'
      /** Below the directory that the settings of each node name; empty: that directory itself. */
      readonly folder: string
    }
  | {
      readonly kind: 's3'
      /** An origin, with a path where the store has one. */
      readonly endpoint: string
      readonly bucket: string
      /** Empty: the whole bucket. */
      readonly prefix: string
      readonly region: string
      readonly accessKeyId: string
      /** Sealed under the master key. */
      readonly secret: Uint8Array
      /** PEM; null: the authorities that Node.js knows. */
      readonly ca: string | null
    }

export interface BackupTargetRecord {
  readonly name: string
  readonly place: BackupPlace
  /** Names the marker that lies in the target: a directory without it is not the target, but what was mounted or unmounted over it. */
  readonly markerId: string
  readonly updatedAt: number
}

/** A run that a schedule has started. Times in ms since 1970. */
export interface ScheduledRun {
  readonly operationId: string
  readonly backupId: string
  /** The time of the schedule that it stands for. */
  readonly slotAt: number
  readonly startedAt: number
}

export interface EndedRun extends ScheduledRun {
  readonly endedAt: number
  readonly outcome: 'succeeded' | 'failed' | 'cancelled'
  /** Sealed bytes that were sent. */
  readonly bytesMoved: number
  /** One sentence; null: it succeeded, or was cancelled. */
  readonly error: string | null
}

/** What an operator sets. */
export interface BackupPlan {
  /** Name of the target. */
  readonly target: string
  /** The tenant whose backups are made. Absent: the whole cluster. */
  readonly tenantId?: TenantId
  /** Five fields in UTC; read by the gateway and by the node on duty. */
  readonly when: string
  /** null: all backups stay. */
  readonly keep: KeepRules | null
  readonly isPaused: boolean
  readonly maxBytesPerSecond: number | null
}

export interface BackupScheduleRecord extends BackupPlan {
  readonly name: string
  readonly updatedAt: number
  /** Index in the log of the entry that set the plan. */
  readonly revision: number
  /** Times up to this confirmed time are dealt with. */
  readonly markAt: number
  /** null: none is under way. */
  readonly run: ScheduledRun | null
  readonly last: EndedRun | null
  readonly lastGood: EndedRun | null
  /** In a row, up to `last`. */
  readonly failures: number
}

/** One for each target and scope, the one that ended last behind the others; at most BACKUP_CHECKS_MAX. Absent until the first one. */
export interface BackupChecksRecord {
  readonly checks: readonly BackupCheck[]
}

export const BACKUP_CHECKS_MAX = 64

/** What the last verification of a backup in a target has found. Times in ms since 1970. */
export interface BackupCheck {
  readonly target: string
  /** null: of the whole cluster. */
  readonly tenantId: TenantId | null
  readonly backupId: string
  readonly operationId: string
  /** Of what the backup shows. */
  readonly cutAt: number
  readonly checkedAt: number
  readonly chunks: number
  /** Parts of it that are missing, damaged or do not open. */
  readonly damageCount: number
}

/** In the order of names. Absent until the first one is set. */
export interface BackupNamesRecord {
  readonly targets: readonly string[]
  readonly schedules: readonly string[]
}
