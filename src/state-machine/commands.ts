/**
 * Everything that can change the replicated metadata, and what each change answers.
 *
 * Owns: the command union. A command is plain data, complete in itself: randomness, sealed keys and digests are made
 * by the gateway before it proposes; time and version ids are given by the log in apply.
 * Rule: a new command or a changed meaning needs a feature level before a rolling upgrade may use it.
 */
import type { BlockerCode, RefusalCode } from './codes.ts'
import type { MembershipCommand, MembershipKind, MembershipReplyValues } from './member-records.ts'
import type { ObjectCommand, ObjectReplyValues } from './object-commands.ts'
import type { NotificationCommand, NotificationReplyValues } from './notification-commands.ts'
import type { Origin } from './origin.ts'
import type { TenantEndCommand, TenantEndReplyValues } from './tenant-end-commands.ts'
import type {
  AccessKeyId,
  AccessKeyRecord,
  AccountId,
  AccountRecord,
  AdminRole,
  AdminTokenRecord,
  BucketPolicyRecord,
  BucketRecord,
  ChunkId,
  ClusterKeyRecord,
  CorsRecord,
  OperationProgress,
  OperationRecord,
  OperationShare,
  QuotaRecord,
  QuotaReport,
  TenantId,
  TenantRecord,
} from './records.ts'

export type * from './notification-commands.ts'
export type * from './object-commands.ts'
export type * from './tenant-end-commands.ts'

export type SealedTenantKeys = Pick<TenantRecord, 'dataKey' | 'dedupKey'>

export type Command =
  | { readonly type: 'setClusterKey'; readonly masterKeyFingerprint: string }
  | {
      readonly type: 'createTenant'
      readonly id: TenantId
      readonly name: string
      readonly dataKey: Uint8Array
      readonly dedupKey: Uint8Array
      readonly masterKeyId: string
    }
  | {
      readonly type: 'createAccessKey'
      readonly accessKeyId: AccessKeyId
      readonly tenantId: TenantId
      readonly accountId: AccountId | null
      readonly name: string | null
      readonly scopes: string
      readonly secret: Uint8Array
      readonly expiresAt: number | null
    }
  | {
      readonly type: 'rotateAccessKey'
      readonly accessKeyId: AccessKeyId
      readonly tenantId: TenantId
      readonly secret: Uint8Array
      readonly scopes: string | null
      /** undefined is not plain data: null keeps the present expiry, 0 clears it. */
      readonly expiresAt: number | null
    }
  | {
      readonly type: 'revokeAccessKey'
      readonly accessKeyId: AccessKeyId
      readonly tenantId: TenantId
      readonly reason: string
    }
  | {
      readonly type: 'createAccount'
      readonly tenantId: TenantId
      readonly name: string
      readonly description: string
    }
  /** When keys and tokens were last seen at some node. */
  | {
      readonly type: 'noteUses'
      readonly accessKeys: readonly { readonly accessKeyId: AccessKeyId; readonly at: number }[]
      readonly adminTokens: readonly { readonly tokenId: string; readonly at: number }[]
    }
  | {
      readonly type: 'createAdminToken'
      readonly tokenId: string
      readonly name: string
      readonly role: AdminRole
      readonly tenantId: TenantId | null
      readonly expiresAt: number | null
      readonly sha256: string
    }
  | { readonly type: 'revokeAdminToken'; readonly tokenId: string }
  | {
      readonly type: 'createBucket'
      readonly tenantId: TenantId
      readonly name: string
      readonly bucketsMax: number
      readonly versioning: BucketRecord['versioning']
      readonly objectLockEnabled: boolean
    }
  | {
      readonly type: 'setBucketVersioning'
      readonly tenantId: TenantId
      readonly name: string
      readonly versioning: BucketRecord['versioning']
    }
  | ({ readonly type: 'setQuota'; readonly tenantId: TenantId } & Omit<QuotaRecord, 'updatedAt'>)
  /** `policy`: JSON that the gateway has read and found good. */
  | {
      readonly type: 'setBucketPolicy'
      readonly tenantId: TenantId
      readonly name: string
      readonly policy: string
    }
  | { readonly type: 'deleteBucketPolicy'; readonly tenantId: TenantId; readonly name: string }
  | { readonly type: 'deleteBucket'; readonly tenantId: TenantId; readonly name: string }
  | ({ readonly type: 'setBucketCors'; readonly tenantId: TenantId; readonly name: string } & CorsRecord)
  | { readonly type: 'deleteBucketCors'; readonly tenantId: TenantId; readonly name: string }
  | ObjectCommand
  | NotificationCommand
  | MembershipCommand
  /** A repair task is done: `node` now holds a verified copy of this birth. `permit`: which granting of the task. */
  | {
      readonly type: 'addReplica'
      readonly tenantId: TenantId
      readonly chunkId: ChunkId
      readonly birth: string
      readonly node: string
      readonly permit: number
    }
  /**
   * `node` found these copies of its own bad or absent: they no longer count and are to be made again. `operation`: the id of
   * the recovery that this begins, unless one of this node is under way; null: it begins none.
   */
  | {
      readonly type: 'dropReplicas'
      readonly node: string
      readonly copies: readonly CopyName[]
      readonly operation: string | null
    }
  /** Which master keys this node has, the one it wants to seal with first. */
  | {
      readonly type: 'announceMasterKeys'
      readonly nodeId: string
      readonly fingerprints: readonly string[]
    }
  /** `nodes`: all members; each must have announced `to` in first place. */
  | {
      readonly type: 'advanceClusterKey'
      readonly from: string
      readonly to: string
      readonly nodes: readonly string[]
    }
  | {
      readonly type: 'rewrapTenantKeys'
      readonly masterKeyId: string
      readonly items: readonly {
        readonly tenantId: TenantId
        readonly before: SealedTenantKeys
        readonly after: SealedTenantKeys
      }[]
    }
  | {
      readonly type: 'rewrapAccessKeys'
      readonly items: readonly {
        readonly accessKeyId: AccessKeyId
        readonly before: Uint8Array
        readonly after: Uint8Array
      }[]
    }
  | TenantEndCommand
  | { readonly type: 'planCopies'; readonly operation: string; readonly moves: readonly CopyMove[] }
  | {
      readonly type: 'endTasks'
      readonly operation: string
      readonly tasks: readonly (CopyName & { readonly target: string })[]
    }
  /** `node` has removed these copies for good. */
  | {
      readonly type: 'dropsDone'
      readonly node: string
      readonly names: readonly { readonly id: ChunkId; readonly birth: string }[]
    }
  | {
      readonly type: 'collectChunks'
      readonly chunks: readonly (CopyName & { readonly condemnedAt: number })[]
    }
  | { readonly type: 'haltCollection'; readonly reason: string }
  | { readonly type: 'resumeCollection'; readonly requestedBy: string; readonly reason: string }
  /** `node` has counted one cut of all rows anew; a difference halts the collection. `operationId`: who asked for it. */
  | {
      readonly type: 'finishRecount'
      readonly operationId: string | null
      readonly node: string
      readonly rows: number
      readonly differences: number
      readonly first: string | null
    }
  /** Of each node; null: as configured. */
  | { readonly type: 'setRepairRate'; readonly bytesPerSecond: number | null }
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
  /** A gateway begins to upload. `keep`: its older sessions that stay open; all others of this node are closed. */
  | {
      readonly type: 'openSession'
      readonly session: string
      readonly node: string
      readonly keep: readonly string[]
    }
  /** All uploads of this session below `lowWater` have ended, whatever came of them. */
  | { readonly type: 'advanceSession'; readonly session: string; readonly lowWater: number }
  | { readonly type: 'closeSession'; readonly session: string }
  /** Rows `first` and on of a spool of `node`, in the order of its writing. `digest`: of the rows before they were packed. */
  | {
      readonly type: 'shipAudit'
      readonly node: string
      readonly spool: string
      readonly first: number
      readonly count: number
      readonly digest: string
      readonly packed: Uint8Array
    }
  /** Links older than `before` may go. */
  | { readonly type: 'trimAudit'; readonly before: number }

/** What is proposed: the change, and the request that asked for it, if one did. */
export type Proposal = Command & { readonly origin?: Origin }

/** One making of one chunk. */
export interface CopyName {
  readonly tenantId: TenantId
  readonly chunkId: ChunkId
  readonly birth: string
}

export interface CopyMove extends CopyName {
  readonly target: string
  /** Whose copy goes once `target` has one, and only while `copiesKept` others stay. */
  readonly replaces: string | null
  readonly copiesKept: number
}

export type PutCommand = Extract<Command, { type: 'putObject' }>
export type CommandType = Command['type']

/** What a successful command answers. */
export interface ReplyValues
  extends ObjectReplyValues,
    NotificationReplyValues,
    TenantEndReplyValues,
    MembershipReplyValues {
  setClusterKey: ClusterKeyRecord
  createTenant: TenantRecord
  createAccessKey: AccessKeyRecord
  rotateAccessKey: AccessKeyRecord
  revokeAccessKey: AccessKeyRecord
  createAccount: AccountRecord
  noteUses: { readonly noted: number }
  createAdminToken: AdminTokenRecord
  revokeAdminToken: AdminTokenRecord
  createBucket: BucketRecord
  deleteBucket: null
  setBucketVersioning: BucketRecord
  setBucketPolicy: BucketPolicyRecord
  deleteBucketPolicy: null
  setBucketCors: CorsRecord
  deleteBucketCors: null
  setQuota: QuotaReport
  addReplica: null
  announceMasterKeys: ClusterKeyRecord
  advanceClusterKey: ClusterKeyRecord
  rewrapTenantKeys: { readonly rewrapped: number }
  rewrapAccessKeys: { readonly rewrapped: number }
  /** `last`: of so many it was the last listed copy, which stays listed. */
  dropReplicas: { readonly dropped: number; readonly last: number }
  planCopies: { readonly planned: number }
  endTasks: { readonly ended: number }
  dropsDone: null
  collectChunks: { readonly collected: number }
  haltCollection: null
  resumeCollection: null
  finishRecount: null
  setRepairRate: null
  startOperation: OperationRecord
  reportShare: OperationRecord
  advanceOperation: OperationRecord
  setOperationStatus: OperationRecord
  openSession: null
  advanceSession: null
  closeSession: null
  /** Number of the first row of the spool that is not there yet. */
  shipAudit: { readonly next: number }
  trimAudit: { readonly trimmed: number; readonly isMore: boolean }
}

export type Reply<T extends CommandType = CommandType> =
  | { readonly ok: true; readonly value: ReplyValues[T] }
  | {
      readonly ok: false
      readonly code: RefusalCode
      readonly message: string
      readonly blocker?: BlockerCode
    }
  /** putObject and putPart only: these chunks are gone, of another birth, or on too few nodes; upload them again, propose anew. */
  | {
      readonly ok: false
      readonly code: 'chunks_gone'
      readonly message: string
      readonly chunks: readonly ChunkId[]
    }
  /** putObject and putPart only: the session of these births is closed, or not open yet; upload again under another one. */
  | {
      readonly ok: false
      readonly code: 'session_ended'
      readonly message: string
      readonly births: readonly string[]
    }
