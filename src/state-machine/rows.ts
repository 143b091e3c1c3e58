/**
 * Which record lies under which kind of key.
 *
 * Owns: the list of all kinds. The `keys.ts` of each family spells the keys; docs/formats/keyspace.md shows them as a table.
 */
import type { ChainRecord, ObjectRecord, VersionRecord } from './versions/records.ts'
import type { QuotaRecord, UsageRecord } from './usage/records.ts'
import type {
  AccessKeyRecord,
  AccountRecord,
  AdminTokenRecord,
  ClusterKeyRecord,
  TenantAccessRecord,
  TenantRecord,
} from './tenants/records.ts'
import type { OperationRecord } from './operations/records.ts'
import type { CompletedRecord, ExpiryRecord, IdempotencyRecord, UploadRecord } from './objects/records.ts'
import type { ClusterRecovery, MembersRecord } from './members/records.ts'
import type {
  DeliveryName,
  DeliveryRecord,
  HookRecord,
  NotificationsRecord,
  OutboxRecord,
  OutboxTotalRecord,
} from './events/records.ts'
import type {
  ChunkRecord,
  CondemnedRecord,
  DropRecord,
  MakingRecord,
  RepairRecord,
  SessionRecord,
  SettingsRecord,
} from './chunks/records.ts'
import type { BucketPolicyRecord, BucketRecord, CorsRecord } from './buckets/records.ts'
import type {
  DiscardedBodyRecord,
  DiscardRecord,
  InlineBodyRecord,
  ManifestPageRecord,
  PartPageRecord,
  UploadPageRecord,
} from './bodies/records.ts'
import type { AccessKeyId, AccountId, BucketId, HookId, VersionId } from './base/record-ids.ts'
import type {
  AuditHeadRecord,
  AuditKeysRecord,
  AuditLinkRecord,
  AuditSegmentRecord,
  AuditSpoolRecord,
} from './audit/records.ts'

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
  discarded: DiscardedBodyRecord
  settings: SettingsRecord
  members: MembersRecord
  /** Index: nodes that take nothing new. Absent while there is none. */
  leavingNodes: { readonly nodes: readonly string[] }
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
  auditSegment: AuditSegmentRecord
  auditKeys: AuditKeysRecord
}

export type RowKind = keyof RowTypes
