/**
 * Commands that change objects, and their replies.
 */
import type { RefusalCode } from '../base/codes.ts'
import type { TenantId, VersionId } from '../base/record-ids.ts'
import type { ChecksumAlgorithm, Checksums, PartRecord } from '../bodies/records.ts'
import type { PutBody } from '../chunks/commands.ts'
import type { UploadRecord } from './records.ts'
import type {
  ObjectRecord,
  RetentionRecord,
  Tags,
  VersionRecord,
  VersionSettings,
} from '../versions/records.ts'

/** Entity tags without quotes, or `*`; null: no such condition. */
export interface WritePrecondition {
  readonly ifMatch: readonly string[] | null
  readonly ifNoneMatch: readonly string[] | null
}

export interface IdempotencyRequest {
  /** 1 to 255 ASCII characters, chosen by the client. */
  readonly key: string
  /** Of everything that makes the request the same request. */
  readonly fingerprint: string
}

/** Which key a command is about. */
export interface ObjectName {
  readonly tenantId: TenantId
  readonly bucket: string
  readonly key: string
}

/** What every new version of an object says. */
export interface NewVersion extends ObjectName, VersionSettings {
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly masterKeyId: string
  readonly precondition: WritePrecondition
}

export type ObjectCommand =
  | (NewVersion & {
      readonly type: 'putObject'
      readonly size: number
      readonly etag: string
      readonly checksums: Checksums
      readonly body: PutBody
      readonly idempotency: IdempotencyRequest | null
    })
  /** `versionId` null: of the key, which leaves a delete marker where there are versions. `ifMatch`: of what is to go. */
  | (ObjectName & {
      readonly type: 'deleteObject'
      readonly versionId: string | null
      readonly ifMatch: readonly string[] | null
    })
  | {
      readonly type: 'deleteObjects'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly items: readonly DeletionItem[]
    }
  /** The source as the gateway saw it, by its own id: another version, or other bytes, are refused. */
  | (NewVersion & {
      readonly type: 'copyObject'
      readonly source: { readonly bucket: string; readonly key: string; readonly versionId: VersionId }
    })
  | (ObjectName & {
      readonly type: 'setObjectTags'
      readonly versionId: string | null
      readonly tags: Tags
    })
  | (ObjectName & {
      readonly type: 'setObjectRetention'
      readonly versionId: string | null
      readonly retention: RetentionRecord
    })
  | (ObjectName & {
      readonly type: 'setObjectLegalHold'
      readonly versionId: string | null
      readonly legalHold: boolean
    })
  | (Omit<NewVersion, 'precondition'> & {
      readonly type: 'createUpload'
      readonly initiator: string
      readonly expiresInMs: number
      readonly checksumAlg: ChecksumAlgorithm | null
    })
  | (ObjectName & {
      readonly type: 'putPart'
      readonly uploadId: string
      readonly partNumber: number
      readonly size: number
      readonly etag: string
      readonly checksums: Checksums
      readonly body: PutBody
    })
  /**
   * `etag` and `checksums` are made of those of the parts, which are compared one by one. `fingerprint`: of the numbers and
   * etags of all parts, for those who ask again.
   */
  | (ObjectName & {
      readonly type: 'completeUpload'
      readonly uploadId: string
      readonly parts: readonly { readonly partNumber: number; readonly etag: string }[]
      readonly fingerprint: string
      readonly etag: string
      readonly checksums: Checksums
      readonly precondition: WritePrecondition
    })
  | (ObjectName & { readonly type: 'abortUpload'; readonly uploadId: string })
  | { readonly type: 'expire'; readonly items: readonly { readonly at: number; readonly id: string }[] }

export interface DeletionItem {
  readonly key: string
  readonly versionId: string | null
  /** The gateway refused it already: nothing becomes of it but a line in the audit log. */
  readonly refused?: ItemRefused
}

/** What a successful command answers. */
export interface ObjectReplies {
  /** `replayed`: the answer to an earlier request with the same idempotency key. */
  putObject: { readonly object: ObjectRecord; readonly replayed: boolean }
  deleteObject: Deleted
  /** In the order of the items. */
  deleteObjects: readonly (Deleted | ItemRefused)[]
  copyObject: ObjectRecord
  setObjectTags: ObjectRecord
  setObjectRetention: ObjectRecord
  setObjectLegalHold: ObjectRecord
  createUpload: UploadRecord
  putPart: PartRecord
  completeUpload: ObjectRecord
  abortUpload: null
  expire: { readonly expired: number }
}

/** `existed` false: nothing was there, which is no error. */
export interface Deleted {
  readonly existed: boolean
  /** What was removed, or the delete marker that was made; null: nothing was there. */
  readonly version: VersionRecord | null
  /** Whether `version` was made by this. */
  readonly isMade: boolean
}

/** One item of many was refused; the others go on. */
export interface ItemRefused {
  readonly code: RefusalCode
  readonly message: string
}
