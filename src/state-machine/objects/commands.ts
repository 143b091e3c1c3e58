/**
 * Commands that change objects, and their replies.
 */
import type { ApprovalUse } from '../approvals/commands.ts'
import type { RefusalCode } from '../base/codes.ts'
import type { TenantId, VersionId } from '../base/record-ids.ts'
import type {
  ChecksumAlgorithm,
  Checksums,
  ChecksumType,
  CompositeChecksum,
  CustomerSeal,
  PartRecord,
} from '../bodies/records.ts'
import type { PutBody } from '../chunks/commands.ts'
import type { UploadRecord } from './records.ts'
import type {
  ObjectRecord,
  Representation,
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
  /** A hash over everything that identifies the request. */
  readonly fingerprint: string
}

/** The object key that a command concerns. */
export interface ObjectName {
  readonly tenantId: TenantId
  readonly bucket: string
  readonly key: string
}

export interface GovernanceBypass {
  /** Since level 4. Present: the caller may set retention in mode GOVERNANCE aside, and asks for it. Never that of mode COMPLIANCE. */
  readonly bypassGovernance?: true
}

/** The version that the gateway read. */
export interface CopySource {
  readonly bucket: string
  readonly key: string
  readonly versionId: VersionId
}

/** What a gateway stored for a copy. */
export interface StoredCopy {
  readonly size: number
  readonly etag: string
  readonly checksums: Checksums
  readonly body: PutBody
}

/** The common members of all commands that make a version. */
export interface NewVersion extends ObjectName, VersionSettings {
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  /** Since level 4. Absent: nothing is said. */
  readonly representation?: Representation
  readonly masterKeyId: string
  /** Since level 7. Present: the client has the key of the body. */
  readonly customerSeal?: CustomerSeal
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
  /**
   * `versionId` null: deletes the key, which makes a delete marker in a bucket with versions. `ifMatch`: etags of the version
   * to delete.
   */
  | (ObjectName &
      GovernanceBypass & {
        readonly type: 'deleteObject'
        readonly versionId: string | null
        readonly ifMatch: readonly string[] | null
        /** Since level 4. Absent: none was required. */
        readonly approval?: ApprovalUse
        /** Since level 7. The mark of a deletion of another site that it repeats: it is not sent on to one. Absent: a client deletes. */
        readonly replicaOf?: string
      })
  | (GovernanceBypass & {
      readonly type: 'deleteObjects'
      readonly tenantId: TenantId
      readonly bucket: string
      readonly items: readonly DeletionItem[]
    })
  /** The source is the exact version that the gateway read; the copy is refused if it is gone. */
  | (NewVersion & {
      readonly type: 'copyObject'
      readonly source: CopySource
      /** Since level 4. Of all bytes: the copy has them beside those of the source, and no composite one. Absent: it has what the source has. */
      readonly checksums?: Checksums
      /** Since level 7. The bytes of the source, sealed with another key than there. Absent: the copy names the chunks of the source. */
      readonly stored?: StoredCopy
    })
  | (ObjectName & {
      readonly type: 'setObjectTags'
      readonly versionId: string | null
      readonly tags: Tags
    })
  /** `retention` null, since level 4: there is none from now on. */
  | (ObjectName &
      GovernanceBypass & {
        readonly type: 'setObjectRetention'
        readonly versionId: string | null
        readonly retention: RetentionRecord | null
        /** Since level 4. Absent: none was required. */
        readonly approval?: ApprovalUse
      })
  | (ObjectName & {
      readonly type: 'setObjectLegalHold'
      readonly versionId: string | null
      readonly legalHold: boolean
      /** Absent: none was required. */
      readonly approval?: ApprovalUse
    })
  | (Omit<NewVersion, 'precondition'> & {
      readonly type: 'createUpload'
      readonly initiator: string
      readonly expiresInMs: number
      readonly checksumAlg: ChecksumAlgorithm | null
      /** Since level 4. Absent: nothing was said. */
      readonly checksumType?: ChecksumType
    })
  | (ObjectName & {
      readonly type: 'putPart'
      readonly uploadId: string
      readonly partNumber: number
      readonly size: number
      readonly etag: string
      readonly checksums: Checksums
      readonly body: PutBody
      /** Since level 4. The version whose bytes were copied, for the audit log. Absent: its client sent them. */
      readonly source?: CopySource
    })
  /**
   * `etag`, `checksums` and `composite` are computed from those of the parts; part etags are compared one by one. `fingerprint`: a hash over
   * the numbers and etags of all parts, to recognize a repeated request.
   */
  | (ObjectName & {
      readonly type: 'completeUpload'
      readonly uploadId: string
      readonly parts: readonly { readonly partNumber: number; readonly etag: string }[]
      readonly fingerprint: string
      readonly etag: string
      readonly checksums: Checksums
      /** Since level 4. Absent: the object has none. */
      readonly composite?: CompositeChecksum
      readonly precondition: WritePrecondition
    })
  | (ObjectName & { readonly type: 'abortUpload'; readonly uploadId: string })
  | { readonly type: 'expire'; readonly items: readonly { readonly at: number; readonly id: string }[] }

export interface DeletionItem {
  readonly key: string
  readonly versionId: string | null
  /** Since level 4. Etags of the version to delete. Absent: no such condition. */
  readonly ifMatch?: readonly string[]
  /** The gateway has refused it: it only appears in the audit row. */
  readonly refused?: ItemRefused
}

/** The reply values of successful commands. */
export interface ObjectReplies {
  /** `replayed`: `object` is from an earlier request with the same idempotency key. */
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

/** `existed` false: there was nothing to delete, which is not an error. */
export interface Deleted {
  readonly existed: boolean
  /** The removed version, or the new delete marker; null: there was nothing to delete. */
  readonly version: VersionRecord | null
  /** Whether this command made `version`. */
  readonly isMade: boolean
}

/** One item of a batch was refused; the others are processed. */
export interface ItemRefused {
  readonly code: RefusalCode
  readonly message: string
}
