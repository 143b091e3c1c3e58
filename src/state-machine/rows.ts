/**
 * The record type of each kind of row.
 *
 * Owns: the list of all kinds. The `keys.ts` of each family spells the keys; docs/formats/keyspace.md shows them as a table.
 */
import type { ChainRecord, ObjectRecord, VersionRecord } from './versions/records.ts'
import type { QuotaRecord, UsageRecord } from './usage/records.ts'
import type { TenantLimitsRecord } from './limits/records.ts'
import type { ApprovalListRecord, ApprovalRecord } from './approvals/records.ts'
import type {
  AccessKeyRecord,
  AccountRecord,
  AdminSessionsRecord,
  AdminTokenRecord,
  ClusterKeyRecord,
  SealedRecord,
  TenantAccessRecord,
  TenantRecord,
} from './tenants/records.ts'
import type { LifecycleRecord, LifecycleTurnRecord, LifecycleWalkRecord } from './lifecycle/records.ts'
import type {
  BackupChecksRecord,
  BackupNamesRecord,
  BackupScheduleRecord,
  BackupTargetRecord,
} from './backup-plans/records.ts'
import type { LongOperation } from './long-operations/records.ts'
import type { CompletedRecord, ExpiryRecord, IdempotencyRecord, UploadRecord } from './objects/records.ts'
import type { BusySite } from './sites/keys.ts'
import type {
  SiteChangeRecord,
  SiteRecord,
  SiteStateRecord,
  TenantSiteRecord,
  WaitingSiteRecord,
} from './sites/records.ts'
import type { ClusterRecovery, MembersRecord } from './members/records.ts'
import type {
  DeliveryName,
  DeliveryRecord,
  HookCountRecord,
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
  UploadSessionRecord,
  SettingsRecord,
} from './chunks/records.ts'
import type { BucketPolicyRecord, BucketRecord, BucketTagsRecord, CorsRecord } from './buckets/records.ts'
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
  AuditExportRecord,
  AuditHeadRecord,
  AuditKeysRecord,
  AuditLinkRecord,
  AuditSegmentRecord,
  AuditSpoolRecord,
} from './audit/records.ts'

/** By kind, the first part of the key or the third of a key under `in`. */
export interface RowTypes {
  clusterKey: ClusterKeyRecord
  tenant: TenantRecord
  /** What is sealed with the present data key of a tenant, during an exchange. */
  sealed: SealedRecord
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
  /** Index: the admin tokens that are sessions. Absent while there is none. */
  adminSessions: AdminSessionsRecord
  bucket: BucketRecord
  bucketPolicy: BucketPolicyRecord
  cors: CorsRecord
  bucketTags: BucketTagsRecord
  lifecycle: LifecycleRecord
  lifecycleWalk: LifecycleWalkRecord
  /** Index: buckets with lifecycle rules, in the order of their turns. */
  lifecycleTurn: LifecycleTurnRecord
  site: SiteRecord
  siteState: SiteStateRecord
  /** Index: buckets whose replication has something to do. */
  busySite: BusySite
  /** Changes that wait for the other site, in the order of the log. */
  siteChange: SiteChangeRecord
  /** Changes that were given up. */
  failedSiteChange: SiteChangeRecord
  /** Where buckets of a tenant go that have no replication of their own. */
  tenantSite: TenantSiteRecord
  /** Buckets that are to follow their tenant and do not yet. */
  waitingSite: WaitingSiteRecord
  object: ObjectRecord
  version: VersionRecord
  /** Index: versions that carry a lock setting, ended or not. */
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
  /** The number of repair rows, over all targets. */
  repairTotal: { readonly count: number }
  session: UploadSessionRecord
  /** Index: the open sessions of a node. */
  nodeUploadSessions: { readonly node: string; readonly open: readonly string[] }
  usage: UsageRecord
  quota: QuotaRecord
  limits: TenantLimitsRecord
  approval: ApprovalRecord
  approvalList: ApprovalListRecord
  expiry: ExpiryRecord
  discard: DiscardRecord
  discarded: DiscardedBodyRecord
  settings: SettingsRecord
  members: MembersRecord
  /** Index: nodes that get no new copies. Absent while there are none. */
  leavingNodes: { readonly nodes: readonly string[] }
  /** Oldest first. Absent until the first quorum recovery. */
  clusterRecoveries: { readonly recoveries: readonly ClusterRecovery[] }
  notifications: NotificationsRecord
  hook: HookRecord
  /** Index: hooks that have deliveries to make, now or later. */
  busyHook: { readonly bucketId: BucketId; readonly hookId: HookId }
  /** Number of hooks of a tenant, and of a tenant at one origin. Absent while there is none. */
  tenantHooks: HookCountRecord
  originHooks: HookCountRecord
  delivery: DeliveryRecord
  /** Index: pending deliveries. */
  due: DeliveryName
  /** Index: deliveries that are delivered or dead. */
  settled: DeliveryName
  outbox: OutboxRecord
  outboxTotal: OutboxTotalRecord
  operation: LongOperation
  /** `unfinished` in the order of the requests, `finished` in the order of the ends. */
  operationList: { readonly unfinished: readonly string[]; readonly finished: readonly string[] }
  backupTarget: BackupTargetRecord
  backupSchedule: BackupScheduleRecord
  backupNames: BackupNamesRecord
  backupChecks: BackupChecksRecord
  auditLink: AuditLinkRecord
  auditExport: AuditExportRecord
  auditHead: AuditHeadRecord
  auditSpool: AuditSpoolRecord
  auditSegment: AuditSegmentRecord
  auditKeys: AuditKeysRecord
}

export type RowKind = keyof RowTypes
