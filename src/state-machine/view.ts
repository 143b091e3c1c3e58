/**
 * What apply sees of the stored rows, and what it hands back.
 *
 * Owns: the kinds of rows, the typed read view and writes as data. Knows nothing of: LevelDB, encodings, disks.
 * Rule: rows are immutable values; a change is a new row in a Write.
 */
import type { AuditHeadRecord, AuditLinkRecord, AuditSpoolRecord, TextDigest } from './audit-records.ts'
import type { Origin } from './origin.ts'
import type {
  AccessKeyId,
  AccessKeyRecord,
  AccountId,
  AccountRecord,
  AdminTokenRecord,
  BucketPolicyRecord,
  BucketId,
  BucketRecord,
  ChainRecord,
  ChunkRecord,
  ClusterKeyRecord,
  CompletedRecord,
  ClusterRecovery,
  CondemnedRecord,
  CorsRecord,
  DeliveryName,
  DeliveryRecord,
  DiscardRecord,
  DropRecord,
  ExpiryRecord,
  HookId,
  HookRecord,
  IdempotencyRecord,
  InlineBodyRecord,
  MakingRecord,
  ManifestPageRecord,
  MembersRecord,
  NotificationsRecord,
  ObjectRecord,
  OperationRecord,
  OutboxRecord,
  OutboxTotalRecord,
  PartPageRecord,
  QuotaRecord,
  RepairRecord,
  SessionRecord,
  SettingsRecord,
  TenantAccessRecord,
  TenantRecord,
  UploadPageRecord,
  UploadRecord,
  UsageRecord,
  VersionId,
  VersionRecord,
} from './records.ts'

/** Which record lies under which kind of key. The layout of the keys is in keys.ts. */
export interface RowTypes {
  clusterKey: ClusterKeyRecord
  tenant: TenantRecord
  accessKey: AccessKeyRecord
  /** Index: the access keys of a tenant. */
  tenantAccessKey: { readonly accessKeyId: AccessKeyId }
  account: AccountRecord
  /** Index: an account by its name. */
  accountName: { readonly accountId: AccountId }
  tenantAccess: TenantAccessRecord
  adminToken: AdminTokenRecord
  /** Index: an admin token by its hash. */
  adminTokenHash: { readonly tokenId: string }
  bucket: BucketRecord
  bucketPolicy: BucketPolicyRecord
  cors: CorsRecord
  object: ObjectRecord
  version: VersionRecord
  /** Index: versions that carry a lock, whether it has ended or not. */
  lockedVersion: { readonly key: string; readonly versionId: VersionId }
  chain: ChainRecord
  idempotency: IdempotencyRecord
  upload: UploadRecord
  uploadPage: UploadPageRecord
  partPage: PartPageRecord
  completed: CompletedRecord
  inlineBody: InlineBodyRecord
  manifestPage: ManifestPageRecord
  chunk: ChunkRecord
  making: MakingRecord
  condemned: CondemnedRecord
  drop: DropRecord
  repair: RepairRecord
  /** How many repair rows there are, over all targets. */
  repairTotal: { readonly count: number }
  session: SessionRecord
  /** Index: the open sessions of a node. */
  nodeSessions: { readonly node: string; readonly open: readonly string[] }
  usage: UsageRecord
  quota: QuotaRecord
  expiry: ExpiryRecord
  discard: DiscardRecord
  settings: SettingsRecord
  members: MembersRecord
  /** Index: nodes that take nothing new. Absent while there is none. */
  leavers: { readonly nodes: readonly string[] }
  /** The oldest first. Absent while there was none. */
  clusterRecoveries: { readonly recoveries: readonly ClusterRecovery[] }
  notifications: NotificationsRecord
  hook: HookRecord
  /** Index: hooks that have something to deliver now or later. */
  busyHook: { readonly bucketId: BucketId; readonly hookId: HookId }
  delivery: DeliveryRecord
  /** Index: deliveries that wait. */
  due: DeliveryName
  /** Index: deliveries that are done or dead. */
  settled: DeliveryName
  outbox: OutboxRecord
  outboxTotal: OutboxTotalRecord
  operation: OperationRecord
  /** In the order in which they were asked for, and in which they ended. */
  operationList: { readonly unfinished: readonly string[]; readonly finished: readonly string[] }
  auditLink: AuditLinkRecord
  auditHead: AuditHeadRecord
  auditSpool: AuditSpoolRecord
}

export type RowKind = keyof RowTypes
export type Row = RowTypes[RowKind]

/** A row key that remembers what lies under it: only keys.ts makes one. */
export type RowKey<K extends RowKind = RowKind> = string & { readonly flavour?: K }

export interface View {
  get<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined
}

/** `row` null removes the row. */
export interface Write {
  readonly key: RowKey
  readonly row: Row | null
}

/** Where in the log a command stands. `time` is the leader's stamp, strictly monotonic from entry to entry. */
export interface ApplyContext {
  readonly index: number
  readonly time: number
  /** Position of the command inside its entry. */
  readonly ordinal: number
  /** Absent: no request stands behind it. */
  readonly origin?: Origin
  /** For the audit log. Absent where nothing comes with an origin: in rehearsals. */
  readonly digest?: TextDigest
}
