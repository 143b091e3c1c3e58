/**
 * The methods of the admin plane as docs/openapi/admin.json has them. Made by `node scripts/pages/client-types.ts`.
 */
import { DryMethods, Methods, type Planned } from '../methods/methods-base.ts'
import type { MethodOptions } from '../call/methods.ts'
import type { AdminOperations } from './admin-operations.ts'

export interface GetAdminOpenAPIInput {
  /** The ETag of a copy that the client has */ readonly ifNoneMatch?: string
}

export interface ListTenantsInput {
  readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface CreateTenantInput {
  /** Slug of 2 to 63 of a-z, 0-9 and "-"; made from the name if absent */ readonly id?: string
  readonly name: string
}

export interface GetTenantInput {
  readonly id: string
}

export interface DisableTenantInput {
  readonly id: string
  readonly reason: string
}

export interface DeleteTenantInput {
  readonly id: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly reason: string
  /** The id of the tenant once more */ readonly confirm: string
}

export interface GetTenantEncryptionInput {
  readonly id: string
}

export interface ExchangeDataKeyInput {
  readonly id: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly reason: string
  /** Of sealed bytes; absent: it rests as long as it works */ readonly maxBytesPerSecond?: number
}

export interface GetTenantReplicationInput {
  readonly id: string
}

export interface SetTenantReplicationInput {
  readonly id: string
  readonly target: { /** Address of the store, without a bucket */ readonly endpoint: string; /** Usually us-east-1 */ readonly region?: string; /** The bucket is part of the name of the host */ readonly virtualHost?: boolean; readonly accessKeyId: string; /** The name of a bucket there is this and the name of the bucket here; usually empty */ readonly bucketPrefix?: string; /** Never shown again. Absent: the present one stays, with endpoint and accessKeyId */ readonly secretKey?: string }
  readonly rules?: readonly ({ readonly id?: string; readonly status?: "Enabled" | "Disabled"; /** Every condition has to hold; none: all objects */ readonly filter?: { readonly prefix?: string; /** At most 10; values of at most 256 characters */ readonly tags?: Readonly<Record<string, string>> }; /** Which deletions go there: none; markers, which name no version; all, also of versions by their id. Usually markers, and none of a rule with tags */ readonly deletes?: "none" | "markers" | "all" })[]
  /** Create a bucket that is not there, with versions; needs s3:CreateBucket at the target */ readonly createBuckets?: boolean
  /** Send what buckets hold already too; what is in a bucket that is made later always is */ readonly existing?: boolean
}

export interface DeleteTenantReplicationInput {
  readonly id: string
}

export interface ListTenantAccountsInput {
  readonly id: string
  readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface CreateTenantAccountInput {
  readonly id: string
  /** No other account of the tenant has it */ readonly name: string
  readonly description?: string
}

export interface ListTenantKeysInput {
  readonly id: string
  readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface CreateTenantKeyInput {
  readonly id: string
  readonly accountId?: string | null
  readonly name?: string | null
  /** Verbs, or op=<verb>:bucket=<bucket>:prefix=<prefix>, by commas */ readonly scopes?: string
  readonly expiresAt?: string | null
  /** Addresses and ranges such as 203.0.113.0/24 from which it may be used; none: any */ readonly allowedAddresses?: readonly (string)[]
  /** sha256:<fingerprint> or cn:<common name> of client certificates: the caller must have one of them; none: it needs none */ readonly clientCertificates?: readonly (string)[]
}

export interface RotateTenantKeyInput {
  readonly id: string
  readonly keyId: string
  /** Verbs, or op=<verb>:bucket=<bucket>:prefix=<prefix>, by commas */ readonly scopes?: string
  readonly expiresAt?: string | null
  /** Addresses and ranges such as 203.0.113.0/24 from which it may be used; none: any */ readonly allowedAddresses?: readonly (string)[]
  /** sha256:<fingerprint> or cn:<common name> of client certificates: the caller must have one of them; none: it needs none */ readonly clientCertificates?: readonly (string)[]
}

export interface RevokeTenantKeyInput {
  readonly id: string
  readonly keyId: string
  readonly reason: string
}

export interface TestAccessInput {
  readonly id: string
  readonly accessKeyId: string
  /** An operationId of the data API */ readonly operation: string
  readonly bucket?: string
  /** Object key; for a listing its prefix, all if absent */ readonly key?: string
  readonly versionId?: string
  /** Needed if rights of the key depend on the address */ readonly sourceIp?: string
  /** The request comes over TLS; true if absent */ readonly secure?: boolean
}

export interface RebalanceInput {
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly tenantId: string
  /** Absent: everything of the tenant */ readonly bucket?: string
  /** Of all nodes together, on average, for this operation */ readonly maxBytesPerSecond?: number
  readonly reason: string
}

export interface ScrubInput {
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  /** Absent: every node */ readonly node?: string
  readonly reason: string
}

export interface RecountInput {
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly reason: string
}

export interface ListOperationsInput {
  readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface GetOperationInput {
  readonly id: string
}

export interface CancelOperationInput {
  readonly id: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
}

export interface PauseOperationInput {
  readonly id: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
}

export interface ResumeOperationInput {
  readonly id: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
}

export interface CreateBackupInput {
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  /** Where the backup lies: directory: and a folder below backup.directory, such as directory:weekly */ readonly target: string
  /** Only what belongs to this tenant, and the keys that open it */ readonly tenantId?: string
  /** That are sent to the target, on average */ readonly maxBytesPerSecond?: number
  readonly reason: string
}

export interface ListClusterBackupsInput {
  readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
  /** Where the backup lies: directory: and a folder below backup.directory, such as directory:weekly */ readonly target: string
}

export interface RestoreBackupInput {
  readonly backupId: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  /** Where the backup lies: directory: and a folder below backup.directory, such as directory:weekly */ readonly target: string
  /** Of the cluster that made the backup; absent: this one */ readonly clusterId?: string
  /** Of the backup: its id, or a name that only one has */ readonly tenant: string
  /** Of that tenant; absent: the whole tenant */ readonly bucket?: string
  /** The id of the new tenant; for a bucket, of a tenant that exists */ readonly toTenant: string
  /** Of the new tenant; absent: as it was called */ readonly toTenantName?: string
  /** The new bucket; absent: as it was called */ readonly toBucket?: string
  /** Plain bytes that are read from the backup, on average */ readonly maxBytesPerSecond?: number
  readonly reason: string
}

export interface GetClusterBackupInput {
  readonly backupId: string
  /** Where the backup lies: directory: and a folder below backup.directory, such as directory:weekly */ readonly target: string
}

export interface VerifyClusterBackupInput {
  readonly backupId: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  /** Where the backup lies: directory: and a folder below backup.directory, such as directory:weekly */ readonly target: string
  /** That are read from the target, on average */ readonly maxBytesPerSecond?: number
  readonly reason: string
}

export interface GetBackupTargetInput {
  readonly name: string
}

export interface SetBackupTargetInput {
  readonly name: string
  readonly directory?: { /** Below backup.directory of each node, which has to be the same file system on all of them; absent: that directory itself */ readonly folder?: string }
  readonly s3?: { /** Such as https://s3.example.net, without a bucket; buckets are named in the path */ readonly endpoint: string; readonly bucket: string; /** Below which everything lies */ readonly prefix?: string; /** Of the signatures; us-east-1 without a value */ readonly region?: string; readonly accessKeyId: string; /** Kept sealed, and never shown; absent: the one that is kept for this endpoint and access key */ readonly secretKey?: string; readonly ca?: string | null }
}

export interface DeleteBackupTargetInput {
  readonly name: string
}

export interface PruneBackupsInput {
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  /** Name of a backup target, or directory: and a folder */ readonly target: string
  /** The rules are about the backups of this tenant; absent: those of the whole cluster. All others stay */ readonly tenantId?: string
  /** Times are UTC. A backup stays by any rule that names it; the newest good one always stays */ readonly keep: { /** The newest ones */ readonly last?: number; /** The newest of each of so many hours that have one */ readonly hourly?: number; /** The newest of each of so many days */ readonly daily?: number; /** The newest of each of so many weeks, which begin on Monday */ readonly weekly?: number; /** The newest of each of so many months */ readonly monthly?: number; /** The newest of each of so many years */ readonly yearly?: number }
  readonly reason: string
}

export interface GetBackupScheduleInput {
  readonly name: string
}

export interface SetBackupScheduleInput {
  readonly name: string
  /** Name of a backup target */ readonly target: string
  readonly tenantId?: string | null
  /** Minute, hour, day, month and weekday in UTC, as cron has them, such as 30 2 * * * */ readonly when: string
  readonly keep?: { /** The newest ones */ readonly last?: number; /** The newest of each of so many hours that have one */ readonly hourly?: number; /** The newest of each of so many days */ readonly daily?: number; /** The newest of each of so many weeks, which begin on Monday */ readonly weekly?: number; /** The newest of each of so many months */ readonly monthly?: number; /** The newest of each of so many years */ readonly yearly?: number } | null
  readonly paused?: boolean
  readonly maxBytesPerSecond?: number | null
}

export interface DeleteBackupScheduleInput {
  readonly name: string
}

export interface SetRepairInput {
  readonly maxBytesPerSecond: number | null
}

export interface ResumeCollectionInput {
  readonly reason: string
}

export interface GetClusterPlacementInput {
  /** Only the chunks of this tenant */ readonly tenantId?: string
  /** Only the chunks of this bucket, with tenantId. A chunk that several objects share may count once for each of them */ readonly bucket?: string
  /** Ask each node on which of its disks the copies are; an answer counts at most 2000 chunks then */ readonly byDisk?: boolean
  /** Chunks to count: 1 to 20000, the most if absent */ readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface GetChangesInput {
  /** The cursor of the answer before; absent: nothing was seen yet */ readonly since?: string
  /** Answer when something has changed, at the latest after this time: 1ms to 60s */ readonly wait?: string
}

export interface GetEventsInput {
  /** The cursor of the answer before; absent: nothing was seen yet */ readonly since?: string
  /** The stream ends after this time: 1ms to 60s; absent: after 10 minutes */ readonly wait?: string
  /** The id of the last event; it counts before the parameter since */ readonly lastEventID?: string
}

export interface GetClusterHistoryInput {
  /** hour, which nodes keep in memory, if absent; the others come from metrics.prometheus_url */ readonly range?: "hour" | "day" | "week" | "month"
}

export interface PlanClusterPlacementInput {
  /** Members that would be placed otherwise; the rest stays as it is */ readonly members: readonly ({ readonly nodeId: string; readonly zone?: string; /** 0: no new copies */ readonly weight?: number })[]
  /** Only the chunks of this tenant */ readonly tenantId?: string
  /** Only the chunks of this bucket, with tenantId */ readonly bucket?: string
  /** Chunks to count: 1 to 20000, the most if absent */ readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface SetMemberPlacementInput {
  readonly nodeId: string
  readonly zone?: string
  /** 0: no new copies */ readonly weight?: number
  readonly reason: string
}

export interface DeleteMemberPlacementInput {
  readonly nodeId: string
}

export interface ListMemberDisksInput {
  readonly nodeId: string
}

export interface DrainDiskInput {
  readonly nodeId: string
  readonly diskId: string
  readonly reason: string
}

export interface CancelDiskDrainInput {
  readonly nodeId: string
  readonly diskId: string
  readonly reason: string
}

export interface ConfirmClusterTimeInput {
  /** So far the confirmed time lags behind the time of the log: by steps that are not confirmed */ readonly withheldMs: number
  readonly reason: string
}

export interface SetBackClusterTimeInput {
  /** As it was shown within five minutes */ readonly majorityTime: string
  readonly reason: string
}

export interface GetTenantQuotaInput {
  readonly id: string
}

export interface SetTenantQuotaInput {
  readonly id: string
  /** Plain bytes of all versions and of the parts of unfinished uploads; null: no limit */ readonly maxBytes?: number | null
  /** Objects that a listing shows, over all buckets; null: no limit */ readonly maxObjects?: number | null
  /** Buckets; limits.buckets_per_tenant holds beside it; null: no limit */ readonly maxBuckets?: number | null
  /** Object versions and delete markers, over all buckets; null: no limit */ readonly maxVersions?: number | null
  /** Unfinished uploads, over all buckets; their parts count as metadata; null: no limit */ readonly maxUploads?: number | null
  /** Bytes of metadata: keys, content types, user metadata and tags of versions, markers and uploads, configurations of buckets, and 256 bytes for each record and part; null: no limit */ readonly maxMetadataBytes?: number | null
}

export interface DeleteTenantQuotaInput {
  readonly id: string
}

export interface GetTenantLimitsInput {
  readonly id: string
}

export interface SetTenantLimitsInput {
  readonly id: string
  readonly tenant?: { /** Requests of the data plane each second; 0: no limit; null: the setting of the node */ readonly requestsPerSecond?: number | null; /** Bytes of request bodies each second; 0: no limit; null: the setting of the node */ readonly bytesInPerSecond?: number | null; /** Bytes of answer bodies each second; 0: no limit; null: the setting of the node */ readonly bytesOutPerSecond?: number | null; /** So many seconds of each rate may come at once after a quiet time; null: the setting of the node */ readonly burstSeconds?: number | null; /** Requests that run at the same time; 0: no limit; null: the setting of the node */ readonly requestsAtOnce?: number | null; /** Uploads of objects and parts among them; 0: no limit; null: the setting of the node */ readonly uploadsAtOnce?: number | null }
  readonly accessKey?: { /** Requests of the data plane each second; 0: no limit; null: the setting of the node */ readonly requestsPerSecond?: number | null; /** Bytes of request bodies each second; 0: no limit; null: the setting of the node */ readonly bytesInPerSecond?: number | null; /** Bytes of answer bodies each second; 0: no limit; null: the setting of the node */ readonly bytesOutPerSecond?: number | null; /** So many seconds of each rate may come at once after a quiet time; null: the setting of the node */ readonly burstSeconds?: number | null; /** Requests that run at the same time; 0: no limit; null: the setting of the node */ readonly requestsAtOnce?: number | null; /** Uploads of objects and parts among them; 0: no limit; null: the setting of the node */ readonly uploadsAtOnce?: number | null }
  /** Turns in each round of the tenants that wait; 1 without a value */ readonly weight?: number
}

export interface DeleteTenantLimitsInput {
  readonly id: string
}

export interface GetTenantUsageInput {
  readonly id: string
}

export interface GetTenantBucketPolicyInput {
  readonly id: string
  readonly bucket: string
}

export interface SetTenantBucketPolicyInput {
  readonly id: string
  readonly bucket: string
  /** 2012-10-17 or 2008-10-17; they mean the same here */ readonly Version?: "2012-10-17" | "2008-10-17"
  /** A text */ readonly Id?: string
  /** What is denied, and to whom. Resources are the bucket of the path and keys in it; an access key is one of the tenant; each action and condition fits what the statement is about */ readonly Statement: readonly ({ /** No other statement of the policy has it */ readonly Sid?: string; readonly Effect: "Allow" | "Deny"; readonly Principal?: "*" | { readonly AWS: string | readonly (string)[] }; readonly NotPrincipal?: "*" | { readonly AWS: string | readonly (string)[] }; readonly Action?: string | readonly (string)[]; readonly NotAction?: string | readonly (string)[]; readonly Resource?: string | readonly (string)[]; readonly NotResource?: string | readonly (string)[]; readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | boolean | number | readonly (string | boolean | number)[]>>>> })[]
}

export interface DeleteTenantBucketPolicyInput {
  readonly id: string
  readonly bucket: string
}

export interface GetApprovalInput {
  readonly id: string
}

export interface ApproveChangeInput {
  readonly id: string
  readonly reason: string
}

export interface RejectChangeInput {
  readonly id: string
  readonly reason: string
}

export interface QueryAuditLogInput {
  /** Rows of this tenant; a token of one tenant sees its own alone */ readonly tenant?: string
  /** Age of the oldest row wanted, such as 90s, 15m, 24h or 7d; 24h unless given */ readonly since?: string
  /** Age of the newest row wanted */ readonly until?: string
  /** Rows of a page: 1 to 1000, 100 unless given */ readonly limit?: number
  /** An operationId */ readonly operation?: string
  /** Id of an access key, of an admin token or of a signed URL; a key finds the use of its URLs too */ readonly actor?: string
  /** Name of a session: what its temporary credential did, and the request that made it */ readonly session?: string
  /** Name of a bucket */ readonly bucket?: string
  /** An object key; a batch is found by each of its keys */ readonly key?: string
  /** Beginning of object keys */ readonly keyPrefix?: string
  /** What became of the request */ readonly outcome?: "success" | "denied" | "error"
  /** Id of one request */ readonly requestId?: string
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface VerifyAuditChainInput {
  /** Segments that one request checks: 1 to 32, 8 unless given; 1,024 links that are in no segment yet count as one */ readonly limit?: number
  /** nextContinuationToken of the page before, with the same query */ readonly continuationToken?: string
}

export interface GetClusterMembershipInput {
  /** As the asked node has it, also without a leader */ readonly consistency?: "local"
}

export interface JoinVoterInput {
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly nodeId: string
  /** host:port where it listens for nodes */ readonly peerAddress: string
  readonly dataAddress?: string
  readonly adminAddress?: string
  readonly zone?: string
  readonly weight?: number
  /** SHA-256 of its certificate as it was read there: refused when it shows another one */ readonly fingerprint?: string
  readonly reason: string
  /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number
}

export interface DemoteVoterInput {
  readonly nodeId: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly reason: string
  /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number
}

export interface ReplaceVoterInput {
  readonly nodeId: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly replacement: { readonly nodeId: string; /** host:port where it listens for nodes */ readonly peerAddress: string; readonly dataAddress?: string; readonly adminAddress?: string; readonly zone?: string; readonly weight?: number; /** SHA-256 of its certificate as it was read there: refused when it shows another one */ readonly fingerprint?: string }
  readonly reason: string
  /** The name of the member again */ readonly confirm: string
  /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number
}

export interface MarkVoterLostInput {
  readonly nodeId: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly reason: string
  /** The name of the member again */ readonly confirm: string
  /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number
}

export interface RemoveMemberInput {
  readonly nodeId: string
  /** Answer when the operation is finished, at the latest after this time: 1ms to 60s */ readonly wait?: string
  readonly reason: string
  /** The name of the member again */ readonly confirm: string
  /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number
}

export interface TransferLeadershipInput {
  readonly nodeId?: string
  readonly reason: string
}

/** The operations with pages: their inputs and pages. */
export interface AdminPages {
  readonly listTenants: { readonly input: ListTenantsInput; readonly page: AdminOperations['listTenants']['answer'] }
  readonly listTenantAccounts: { readonly input: ListTenantAccountsInput; readonly page: AdminOperations['listTenantAccounts']['answer'] }
  readonly listTenantKeys: { readonly input: ListTenantKeysInput; readonly page: AdminOperations['listTenantKeys']['answer'] }
  readonly listOperations: { readonly input: ListOperationsInput; readonly page: AdminOperations['listOperations']['answer'] }
  readonly listClusterBackups: { readonly input: ListClusterBackupsInput; readonly page: AdminOperations['listClusterBackups']['answer'] }
  readonly getClusterPlacement: { readonly input: GetClusterPlacementInput; readonly page: AdminOperations['getClusterPlacement']['answer'] }
  readonly queryAuditLog: { readonly input: QueryAuditLogInput; readonly page: AdminOperations['queryAuditLog']['answer'] }
}

export abstract class AdminMethods extends Methods<AdminPages> {
  /** The process answers */
  adminHealthz(options?: MethodOptions): Promise<AdminOperations['adminHealthz']['answer']> {
    return this.run('adminHealthz', undefined, options)
  }

  /** The node can serve requests, or says what is missing */
  adminReadyz(options?: MethodOptions): Promise<AdminOperations['adminReadyz']['answer']> {
    return this.run('adminReadyz', undefined, options)
  }

  /** This contract as an OpenAPI 3.1 document */
  getAdminOpenAPI(input?: GetAdminOpenAPIInput, options?: MethodOptions): Promise<AdminOperations['getAdminOpenAPI']['answer']> {
    return this.run('getAdminOpenAPI', input, options)
  }

  /** Figures of this node in the Prometheus text format */
  getMetrics(options?: MethodOptions): Promise<AdminOperations['getMetrics']['answer']> {
    return this.run('getMetrics', undefined, options)
  }

  /** Who the caller is, and which operations it may use */
  getSession(options?: MethodOptions): Promise<AdminOperations['getSession']['answer']> {
    return this.run('getSession', undefined, options)
  }

  /** List tenants; a token with a tenant of its own sees that one */
  listTenants(input?: ListTenantsInput, options?: MethodOptions): Promise<AdminOperations['listTenants']['answer']> {
    return this.run('listTenants', input, options)
  }

  /** Create a tenant */
  createTenant(input: CreateTenantInput, options?: MethodOptions): Promise<Exclude<AdminOperations['createTenant']['answer'], Planned>> {
    return this.run('createTenant', input, options)
  }

  /** Get a tenant */
  getTenant(input: GetTenantInput, options?: MethodOptions): Promise<AdminOperations['getTenant']['answer']> {
    return this.run('getTenant', input, options)
  }

  /** Disable a tenant and revoke its access keys; there is no way back, repeating it changes nothing */
  disableTenant(input: DisableTenantInput, options?: MethodOptions): Promise<Exclude<AdminOperations['disableTenant']['answer'], Planned>> {
    return this.run('disableTenant', input, options)
  }

  /** Delete a disabled tenant with everything it stores, unless a retention or a legal hold stands */
  deleteTenant(input: DeleteTenantInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteTenant']['answer'], Planned>> {
    return this.run('deleteTenant', input, options)
  }

  /** Get the version of the data key of a tenant, and how far an exchange is */
  getTenantEncryption(input: GetTenantEncryptionInput, options?: MethodOptions): Promise<AdminOperations['getTenantEncryption']['answer']> {
    return this.run('getTenantEncryption', input, options)
  }

  /** Exchange the data key of a tenant: new writes use another one at once, what is stored is sealed again in the background, then the former key is destroyed */
  exchangeDataKey(input: ExchangeDataKeyInput, options?: MethodOptions): Promise<Exclude<AdminOperations['exchangeDataKey']['answer'], Planned>> {
    return this.run('exchangeDataKey', input, options)
  }

  /** Get which master key seals, which keys the members have, and how far a rotation is */
  getClusterEncryption(options?: MethodOptions): Promise<AdminOperations['getClusterEncryption']['answer']> {
    return this.run('getClusterEncryption', undefined, options)
  }

  /** Get the replication of all buckets of a tenant, and which wait for their target */
  getTenantReplication(input: GetTenantReplicationInput, options?: MethodOptions): Promise<AdminOperations['getTenantReplication']['answer']> {
    return this.run('getTenantReplication', input, options)
  }

  /** Replicate all buckets of a tenant to another Holdfast or S3 store, also those made later */
  setTenantReplication(input: SetTenantReplicationInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setTenantReplication']['answer'], Planned>> {
    return this.run('setTenantReplication', input, options)
  }

  /** End the replication of all buckets of a tenant; that there was none is no error */
  deleteTenantReplication(input: DeleteTenantReplicationInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteTenantReplication']['answer'], Planned>> {
    return this.run('deleteTenantReplication', input, options)
  }

  /** List the service accounts of a tenant, the oldest first */
  listTenantAccounts(input: ListTenantAccountsInput, options?: MethodOptions): Promise<AdminOperations['listTenantAccounts']['answer']> {
    return this.run('listTenantAccounts', input, options)
  }

  /** Create a service account, to which access keys can belong */
  createTenantAccount(input: CreateTenantAccountInput, options?: MethodOptions): Promise<Exclude<AdminOperations['createTenantAccount']['answer'], Planned>> {
    return this.run('createTenantAccount', input, options)
  }

  /** List the access keys of a tenant, without secrets */
  listTenantKeys(input: ListTenantKeysInput, options?: MethodOptions): Promise<AdminOperations['listTenantKeys']['answer']> {
    return this.run('listTenantKeys', input, options)
  }

  /** Create an access key; its secret is shown this once */
  createTenantKey(input: CreateTenantKeyInput, options?: MethodOptions): Promise<Exclude<AdminOperations['createTenantKey']['answer'], Planned>> {
    return this.run('createTenantKey', input, options)
  }

  /** Give an access key a new secret; tokens of the old one die at once */
  rotateTenantKey(input: RotateTenantKeyInput, options?: MethodOptions): Promise<Exclude<AdminOperations['rotateTenantKey']['answer'], Planned>> {
    return this.run('rotateTenantKey', input, options)
  }

  /** Revoke an access key for good; repeating it changes nothing */
  revokeTenantKey(input: RevokeTenantKeyInput, options?: MethodOptions): Promise<Exclude<AdminOperations['revokeTenantKey']['answer'], Planned>> {
    return this.run('revokeTenantKey', input, options)
  }

  /** Tell whether an access key may do an operation on a bucket or object, and why */
  testAccess(input: TestAccessInput, options?: MethodOptions): Promise<AdminOperations['testAccess']['answer']> {
    return this.run('testAccess', input, options)
  }

  /** Move the copies of a tenant or a bucket to where they should be */
  rebalance(input: RebalanceInput, options?: MethodOptions): Promise<Exclude<AdminOperations['rebalance']['answer'], Planned>> {
    return this.run('rebalance', input, options)
  }

  /** Read every copy back now, on one node or on all; what is bad is made again */
  scrub(input: ScrubInput, options?: MethodOptions): Promise<Exclude<AdminOperations['scrub']['answer'], Planned>> {
    return this.run('scrub', input, options)
  }

  /** Count all references and usage again; a difference halts the collection of garbage */
  recount(input: RecountInput, options?: MethodOptions): Promise<Exclude<AdminOperations['recount']['answer'], Planned>> {
    return this.run('recount', input, options)
  }

  /** List long operations, oldest first; of those that ended the last 256 are kept */
  listOperations(input?: ListOperationsInput, options?: MethodOptions): Promise<AdminOperations['listOperations']['answer']> {
    return this.run('listOperations', input, options)
  }

  /** Get a long operation with its progress */
  getOperation(input: GetOperationInput, options?: MethodOptions): Promise<AdminOperations['getOperation']['answer']> {
    return this.run('getOperation', input, options)
  }

  /** End an operation for good; copies that are not made yet are taken back */
  cancelOperation(input: CancelOperationInput, options?: MethodOptions): Promise<Exclude<AdminOperations['cancelOperation']['answer'], Planned>> {
    return this.run('cancelOperation', input, options)
  }

  /** Plan nothing more for now; copies that are planned are still made */
  pauseOperation(input: PauseOperationInput, options?: MethodOptions): Promise<Exclude<AdminOperations['pauseOperation']['answer'], Planned>> {
    return this.run('pauseOperation', input, options)
  }

  /** Continue a paused operation where it was */
  resumeOperation(input: ResumeOperationInput, options?: MethodOptions): Promise<Exclude<AdminOperations['resumeOperation']['answer'], Planned>> {
    return this.run('resumeOperation', input, options)
  }

  /** Back the cluster, or one tenant, up as it is at one entry of the log; the target gets what it does not have yet */
  createBackup(input: CreateBackupInput, options?: MethodOptions): Promise<Exclude<AdminOperations['createBackup']['answer'], Planned>> {
    return this.run('createBackup', input, options)
  }

  /** List the finished backups of this cluster in a target, the oldest first */
  listClusterBackups(input: ListClusterBackupsInput, options?: MethodOptions): Promise<AdminOperations['listClusterBackups']['answer']> {
    return this.run('listClusterBackups', input, options)
  }

  /** Bring a tenant, or one of its buckets, back from a backup beside what there is now */
  restoreBackup(input: RestoreBackupInput, options?: MethodOptions): Promise<Exclude<AdminOperations['restoreBackup']['answer'], Planned>> {
    return this.run('restoreBackup', input, options)
  }

  /** Get what a finished backup contains, and what its last verification by a node has found */
  getClusterBackup(input: GetClusterBackupInput, options?: MethodOptions): Promise<AdminOperations['getClusterBackup']['answer']> {
    return this.run('getClusterBackup', input, options)
  }

  /** Read everything of a backup back, open it, and name what is damaged */
  verifyClusterBackup(input: VerifyClusterBackupInput, options?: MethodOptions): Promise<Exclude<AdminOperations['verifyClusterBackup']['answer'], Planned>> {
    return this.run('verifyClusterBackup', input, options)
  }

  /** List the places where backups go */
  listBackupTargets(options?: MethodOptions): Promise<AdminOperations['listBackupTargets']['answer']> {
    return this.run('listBackupTargets', undefined, options)
  }

  /** Get a place where backups go, without its secret */
  getBackupTarget(input: GetBackupTargetInput, options?: MethodOptions): Promise<AdminOperations['getBackupTarget']['answer']> {
    return this.run('getBackupTarget', input, options)
  }

  /** Set a place where backups go, once it has taken, shown and removed a few bytes */
  setBackupTarget(input: SetBackupTargetInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setBackupTarget']['answer'], Planned>> {
    return this.run('setBackupTarget', input, options)
  }

  /** Forget a place where backups go; what lies there stays, and repeating it is no error */
  deleteBackupTarget(input: DeleteBackupTargetInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteBackupTarget']['answer'], Planned>> {
    return this.run('deleteBackupTarget', input, options)
  }

  /** Remove the backups of this cluster that no rule keeps from a target, and what only they need */
  pruneBackups(input: PruneBackupsInput, options?: MethodOptions): Promise<Exclude<AdminOperations['pruneBackups']['answer'], Planned>> {
    return this.run('pruneBackups', input, options)
  }

  /** List the schedules of backups, with what ran last and runs next */
  listBackupSchedules(options?: MethodOptions): Promise<AdminOperations['listBackupSchedules']['answer']> {
    return this.run('listBackupSchedules', undefined, options)
  }

  /** Get a schedule of backups, with what ran last and runs next */
  getBackupSchedule(input: GetBackupScheduleInput, options?: MethodOptions): Promise<AdminOperations['getBackupSchedule']['answer']> {
    return this.run('getBackupSchedule', input, options)
  }

  /** Set when backups are made, where they go, and which stay */
  setBackupSchedule(input: SetBackupScheduleInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setBackupSchedule']['answer'], Planned>> {
    return this.run('setBackupSchedule', input, options)
  }

  /** Remove a schedule of backups; its backups stay, and repeating it is no error */
  deleteBackupSchedule(input: DeleteBackupScheduleInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteBackupSchedule']['answer'], Planned>> {
    return this.run('deleteBackupSchedule', input, options)
  }

  /** Get the rate of repair, the state of the collection, and how far the scrub of every node has come */
  getRepair(options?: MethodOptions): Promise<AdminOperations['getRepair']['answer']> {
    return this.run('getRepair', undefined, options)
  }

  /** Set the rate of repair for all nodes; chunks with a single copy left do not wait for it */
  setRepair(input: SetRepairInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setRepair']['answer'], Planned>> {
    return this.run('setRepair', input, options)
  }

  /** Resume the collection of garbage after a halt; otherwise nothing changes */
  resumeCollection(input: ResumeCollectionInput, options?: MethodOptions): Promise<Exclude<AdminOperations['resumeCollection']['answer'], Planned>> {
    return this.run('resumeCollection', input, options)
  }

  /** Get where the copies of the cluster, a tenant or a bucket are, by node, zone and disk; pages add up to the whole */
  getClusterPlacement(input?: GetClusterPlacementInput, options?: MethodOptions): Promise<AdminOperations['getClusterPlacement']['answer']> {
    return this.run('getClusterPlacement', input, options)
  }

  /** Which of members, long operations and backup plans have changed since a caller looked; waits for a change */
  getChanges(input?: GetChangesInput, options?: MethodOptions): Promise<AdminOperations['getChanges']['answer']> {
    return this.run('getChanges', input, options)
  }

  /** What has changed since a caller looked, as an event whenever something does */
  getEvents(input?: GetEventsInput, options?: MethodOptions): Promise<AdminOperations['getEvents']['answer']> {
    return this.run('getEvents', input, options)
  }

  /** Get what the doctor finds on every member, and until when its certificates are valid */
  getClusterDoctor(options?: MethodOptions): Promise<AdminOperations['getClusterDoctor']['answer']> {
    return this.run('getClusterDoctor', undefined, options)
  }

  /** Get the figures of all nodes over the last hour, day, week or month */
  getClusterHistory(input?: GetClusterHistoryInput, options?: MethodOptions): Promise<AdminOperations['getClusterHistory']['answer']> {
    return this.run('getClusterHistory', input, options)
  }

  /** Show what a rebalance would move if members had other weights or zones; nothing changes, and pages add up to the whole */
  planClusterPlacement(input: PlanClusterPlacementInput, options?: MethodOptions): Promise<AdminOperations['planClusterPlacement']['answer']> {
    return this.run('planClusterPlacement', input, options)
  }

  /** Set the weight or zone of a member over what the file of its node says */
  setMemberPlacement(input: SetMemberPlacementInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setMemberPlacement']['answer'], Planned>> {
    return this.run('setMemberPlacement', input, options)
  }

  /** Return a member to the weight and zone in the file of its node; repeating it is no error */
  deleteMemberPlacement(input: DeleteMemberPlacementInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteMemberPlacement']['answer'], Planned>> {
    return this.run('deleteMemberPlacement', input, options)
  }

  /** List the disks of a member with several, and what is still to leave those that are emptied */
  listMemberDisks(input: ListMemberDisksInput, options?: MethodOptions): Promise<AdminOperations['listMemberDisks']['answer']> {
    return this.run('listMemberDisks', input, options)
  }

  /** Empty a disk of a member: it takes no new copies, and those that it has move to other disks of that node */
  drainDisk(input: DrainDiskInput, options?: MethodOptions): Promise<Exclude<AdminOperations['drainDisk']['answer'], Planned>> {
    return this.run('drainDisk', input, options)
  }

  /** Use a disk again that was to be emptied; repeating it is no error */
  cancelDiskDrain(input: CancelDiskDrainInput, options?: MethodOptions): Promise<Exclude<AdminOperations['cancelDiskDrain']['answer'], Planned>> {
    return this.run('cancelDiskDrain', input, options)
  }

  /** Get the time of the log, what of it is withheld, and how far clocks are off */
  getClusterTime(options?: MethodOptions): Promise<AdminOperations['getClusterTime']['answer']> {
    return this.run('getClusterTime', undefined, options)
  }

  /** Confirm that what was withheld of the time is true; what became due by it ends for good */
  confirmClusterTime(input: ConfirmClusterTimeInput, options?: MethodOptions): Promise<Exclude<AdminOperations['confirmClusterTime']['answer'], Planned>> {
    return this.run('confirmClusterTime', input, options)
  }

  /** Set the time of the log back to that of the majority, after it has run ahead */
  setBackClusterTime(input: SetBackClusterTimeInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setBackClusterTime']['answer'], Planned>> {
    return this.run('setBackClusterTime', input, options)
  }

  /** Get the quota of a tenant, and what is held against it */
  getTenantQuota(input: GetTenantQuotaInput, options?: MethodOptions): Promise<AdminOperations['getTenantQuota']['answer']> {
    return this.run('getTenantQuota', input, options)
  }

  /** Set the quota of a tenant, in place of the one it has */
  setTenantQuota(input: SetTenantQuotaInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setTenantQuota']['answer'], Planned>> {
    return this.run('setTenantQuota', input, options)
  }

  /** Clear the quota of a tenant; repeating it is no error */
  deleteTenantQuota(input: DeleteTenantQuotaInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteTenantQuota']['answer'], Planned>> {
    return this.run('deleteTenantQuota', input, options)
  }

  /** Get the limits of a tenant on the data plane, and whether it meets them */
  getTenantLimits(input: GetTenantLimitsInput, options?: MethodOptions): Promise<AdminOperations['getTenantLimits']['answer']> {
    return this.run('getTenantLimits', input, options)
  }

  /** Set the limits of a tenant and of each of its access keys, in place of those it has */
  setTenantLimits(input: SetTenantLimitsInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setTenantLimits']['answer'], Planned>> {
    return this.run('setTenantLimits', input, options)
  }

  /** Clear the limits of a tenant, so that the settings hold; repeating it is no error */
  deleteTenantLimits(input: DeleteTenantLimitsInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteTenantLimits']['answer'], Planned>> {
    return this.run('deleteTenantLimits', input, options)
  }

  /** Get what a tenant takes up, exact as of one moment */
  getTenantUsage(input: GetTenantUsageInput, options?: MethodOptions): Promise<AdminOperations['getTenantUsage']['answer']> {
    return this.run('getTenantUsage', input, options)
  }

  /** Get the policy of a bucket */
  getTenantBucketPolicy(input: GetTenantBucketPolicyInput, options?: MethodOptions): Promise<AdminOperations['getTenantBucketPolicy']['answer']> {
    return this.run('getTenantBucketPolicy', input, options)
  }

  /** Set the policy of a bucket, in place of the one it has */
  setTenantBucketPolicy(input: SetTenantBucketPolicyInput, options?: MethodOptions): Promise<Exclude<AdminOperations['setTenantBucketPolicy']['answer'], Planned>> {
    return this.run('setTenantBucketPolicy', input, options)
  }

  /** Remove the policy of a bucket; repeating it is no error */
  deleteTenantBucketPolicy(input: DeleteTenantBucketPolicyInput, options?: MethodOptions): Promise<Exclude<AdminOperations['deleteTenantBucketPolicy']['answer'], Planned>> {
    return this.run('deleteTenantBucketPolicy', input, options)
  }

  /** List the changes that wait for the approval of a second owner, or have it and are not made yet */
  listApprovals(options?: MethodOptions): Promise<AdminOperations['listApprovals']['answer']> {
    return this.run('listApprovals', undefined, options)
  }

  /** Get a change that needs a second approval */
  getApproval(input: GetApprovalInput, options?: MethodOptions): Promise<AdminOperations['getApproval']['answer']> {
    return this.run('getApproval', input, options)
  }

  /** Approve a change that another one asked for; who asked can make it then, once */
  approveChange(input: ApproveChangeInput, options?: MethodOptions): Promise<Exclude<AdminOperations['approveChange']['answer'], Planned>> {
    return this.run('approveChange', input, options)
  }

  /** Reject a change, or take back the request for one */
  rejectChange(input: RejectChangeInput, options?: MethodOptions): Promise<Exclude<AdminOperations['rejectChange']['answer'], Planned>> {
    return this.run('rejectChange', input, options)
  }

  /** Query the audit log, the newest rows first */
  queryAuditLog(input?: QueryAuditLogInput, options?: MethodOptions): Promise<AdminOperations['queryAuditLog']['answer']> {
    return this.run('queryAuditLog', input, options)
  }

  /** Check that no row of the audit log was changed or removed, a part at a time; nothing changes */
  verifyAuditChain(input?: VerifyAuditChainInput, options?: MethodOptions): Promise<AdminOperations['verifyAuditChain']['answer']> {
    return this.run('verifyAuditChain', input, options)
  }

  /** Get who belongs to the cluster, who leads, and how each member stands */
  getClusterMembership(input?: GetClusterMembershipInput, options?: MethodOptions): Promise<AdminOperations['getClusterMembership']['answer']> {
    return this.run('getClusterMembership', input, options)
  }

  /** Take a waiting node in: it copies the state, keeps up for a while and gets a vote */
  joinVoter(input: JoinVoterInput, options?: MethodOptions): Promise<Exclude<AdminOperations['joinVoter']['answer'], Planned>> {
    return this.run('joinVoter', input, options)
  }

  /** Take the vote of a member and move its copies away */
  demoteVoter(input: DemoteVoterInput, options?: MethodOptions): Promise<Exclude<AdminOperations['demoteVoter']['answer'], Planned>> {
    return this.run('demoteVoter', input, options)
  }

  /** Put a waiting node in the place of a member, also of one that is dead */
  replaceVoter(input: ReplaceVoterInput, options?: MethodOptions): Promise<Exclude<AdminOperations['replaceVoter']['answer'], Planned>> {
    return this.run('replaceVoter', input, options)
  }

  /** Give up a member that will never come back: it loses its vote and its name, its copies are made again */
  markVoterLost(input: MarkVoterLostInput, options?: MethodOptions): Promise<Exclude<AdminOperations['markVoterLost']['answer'], Planned>> {
    return this.run('markVoterLost', input, options)
  }

  /** Remove a member that holds nothing any more; its name is never used again */
  removeMember(input: RemoveMemberInput, options?: MethodOptions): Promise<Exclude<AdminOperations['removeMember']['answer'], Planned>> {
    return this.run('removeMember', input, options)
  }

  /** Hand over the lead */
  transferLeadership(input: TransferLeadershipInput, options?: MethodOptions): Promise<Exclude<AdminOperations['transferLeadership']['answer'], Planned>> {
    return this.run('transferLeadership', input, options)
  }

  /** Each of all pages of listTenants */
  tenants(input?: ListTenantsInput, options?: MethodOptions): AsyncGenerator<AdminOperations['listTenants']['answer']['tenants'][number], void, undefined> {
    return this.each('listTenants', input, options)
  }

  /** Each of all pages of listTenantAccounts */
  accounts(input: ListTenantAccountsInput, options?: MethodOptions): AsyncGenerator<AdminOperations['listTenantAccounts']['answer']['accounts'][number], void, undefined> {
    return this.each('listTenantAccounts', input, options)
  }

  /** Each of all pages of listTenantKeys */
  keys(input: ListTenantKeysInput, options?: MethodOptions): AsyncGenerator<AdminOperations['listTenantKeys']['answer']['keys'][number], void, undefined> {
    return this.each('listTenantKeys', input, options)
  }

  /** Each of all pages of listOperations */
  operations(input?: ListOperationsInput, options?: MethodOptions): AsyncGenerator<AdminOperations['listOperations']['answer']['operations'][number], void, undefined> {
    return this.each('listOperations', input, options)
  }

  /** Each of all pages of listClusterBackups */
  backups(input: ListClusterBackupsInput, options?: MethodOptions): AsyncGenerator<AdminOperations['listClusterBackups']['answer']['backups'][number], void, undefined> {
    return this.each('listClusterBackups', input, options)
  }

  /** Each of all pages of getClusterPlacement */
  nodes(input?: GetClusterPlacementInput, options?: MethodOptions): AsyncGenerator<AdminOperations['getClusterPlacement']['answer']['nodes'][number], void, undefined> {
    return this.each('getClusterPlacement', input, options)
  }

  /** Each of all pages of queryAuditLog */
  records(input?: QueryAuditLogInput, options?: MethodOptions): AsyncGenerator<AdminOperations['queryAuditLog']['answer']['records'][number], void, undefined> {
    return this.each('queryAuditLog', input, options)
  }
}

/** Each changes nothing and returns a plan: what the operation would do, and what blocks it. */
export class AdminDryRuns extends DryMethods {
  /** What this would do: Create a tenant */
  createTenant(input: CreateTenantInput, options?: MethodOptions): Promise<Extract<AdminOperations['createTenant']['answer'], Planned>> {
    return this.run('createTenant', input, options)
  }

  /** What this would do: Disable a tenant and revoke its access keys; there is no way back, repeating it changes nothing */
  disableTenant(input: DisableTenantInput, options?: MethodOptions): Promise<Extract<AdminOperations['disableTenant']['answer'], Planned>> {
    return this.run('disableTenant', input, options)
  }

  /** What this would do: Delete a disabled tenant with everything it stores, unless a retention or a legal hold stands */
  deleteTenant(input: DeleteTenantInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteTenant']['answer'], Planned>> {
    return this.run('deleteTenant', input, options)
  }

  /** What this would do: Exchange the data key of a tenant: new writes use another one at once, what is stored is sealed again in the background, then the former key is destroyed */
  exchangeDataKey(input: ExchangeDataKeyInput, options?: MethodOptions): Promise<Extract<AdminOperations['exchangeDataKey']['answer'], Planned>> {
    return this.run('exchangeDataKey', input, options)
  }

  /** What this would do: Replicate all buckets of a tenant to another Holdfast or S3 store, also those made later */
  setTenantReplication(input: SetTenantReplicationInput, options?: MethodOptions): Promise<Extract<AdminOperations['setTenantReplication']['answer'], Planned>> {
    return this.run('setTenantReplication', input, options)
  }

  /** What this would do: End the replication of all buckets of a tenant; that there was none is no error */
  deleteTenantReplication(input: DeleteTenantReplicationInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteTenantReplication']['answer'], Planned>> {
    return this.run('deleteTenantReplication', input, options)
  }

  /** What this would do: Create a service account, to which access keys can belong */
  createTenantAccount(input: CreateTenantAccountInput, options?: MethodOptions): Promise<Extract<AdminOperations['createTenantAccount']['answer'], Planned>> {
    return this.run('createTenantAccount', input, options)
  }

  /** What this would do: Create an access key; its secret is shown this once */
  createTenantKey(input: CreateTenantKeyInput, options?: MethodOptions): Promise<Extract<AdminOperations['createTenantKey']['answer'], Planned>> {
    return this.run('createTenantKey', input, options)
  }

  /** What this would do: Give an access key a new secret; tokens of the old one die at once */
  rotateTenantKey(input: RotateTenantKeyInput, options?: MethodOptions): Promise<Extract<AdminOperations['rotateTenantKey']['answer'], Planned>> {
    return this.run('rotateTenantKey', input, options)
  }

  /** What this would do: Revoke an access key for good; repeating it changes nothing */
  revokeTenantKey(input: RevokeTenantKeyInput, options?: MethodOptions): Promise<Extract<AdminOperations['revokeTenantKey']['answer'], Planned>> {
    return this.run('revokeTenantKey', input, options)
  }

  /** What this would do: Move the copies of a tenant or a bucket to where they should be */
  rebalance(input: RebalanceInput, options?: MethodOptions): Promise<Extract<AdminOperations['rebalance']['answer'], Planned>> {
    return this.run('rebalance', input, options)
  }

  /** What this would do: Read every copy back now, on one node or on all; what is bad is made again */
  scrub(input: ScrubInput, options?: MethodOptions): Promise<Extract<AdminOperations['scrub']['answer'], Planned>> {
    return this.run('scrub', input, options)
  }

  /** What this would do: Count all references and usage again; a difference halts the collection of garbage */
  recount(input: RecountInput, options?: MethodOptions): Promise<Extract<AdminOperations['recount']['answer'], Planned>> {
    return this.run('recount', input, options)
  }

  /** What this would do: End an operation for good; copies that are not made yet are taken back */
  cancelOperation(input: CancelOperationInput, options?: MethodOptions): Promise<Extract<AdminOperations['cancelOperation']['answer'], Planned>> {
    return this.run('cancelOperation', input, options)
  }

  /** What this would do: Plan nothing more for now; copies that are planned are still made */
  pauseOperation(input: PauseOperationInput, options?: MethodOptions): Promise<Extract<AdminOperations['pauseOperation']['answer'], Planned>> {
    return this.run('pauseOperation', input, options)
  }

  /** What this would do: Continue a paused operation where it was */
  resumeOperation(input: ResumeOperationInput, options?: MethodOptions): Promise<Extract<AdminOperations['resumeOperation']['answer'], Planned>> {
    return this.run('resumeOperation', input, options)
  }

  /** What this would do: Back the cluster, or one tenant, up as it is at one entry of the log; the target gets what it does not have yet */
  createBackup(input: CreateBackupInput, options?: MethodOptions): Promise<Extract<AdminOperations['createBackup']['answer'], Planned>> {
    return this.run('createBackup', input, options)
  }

  /** What this would do: Bring a tenant, or one of its buckets, back from a backup beside what there is now */
  restoreBackup(input: RestoreBackupInput, options?: MethodOptions): Promise<Extract<AdminOperations['restoreBackup']['answer'], Planned>> {
    return this.run('restoreBackup', input, options)
  }

  /** What this would do: Read everything of a backup back, open it, and name what is damaged */
  verifyClusterBackup(input: VerifyClusterBackupInput, options?: MethodOptions): Promise<Extract<AdminOperations['verifyClusterBackup']['answer'], Planned>> {
    return this.run('verifyClusterBackup', input, options)
  }

  /** What this would do: Set a place where backups go, once it has taken, shown and removed a few bytes */
  setBackupTarget(input: SetBackupTargetInput, options?: MethodOptions): Promise<Extract<AdminOperations['setBackupTarget']['answer'], Planned>> {
    return this.run('setBackupTarget', input, options)
  }

  /** What this would do: Forget a place where backups go; what lies there stays, and repeating it is no error */
  deleteBackupTarget(input: DeleteBackupTargetInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteBackupTarget']['answer'], Planned>> {
    return this.run('deleteBackupTarget', input, options)
  }

  /** What this would do: Remove the backups of this cluster that no rule keeps from a target, and what only they need */
  pruneBackups(input: PruneBackupsInput, options?: MethodOptions): Promise<Extract<AdminOperations['pruneBackups']['answer'], Planned>> {
    return this.run('pruneBackups', input, options)
  }

  /** What this would do: Set when backups are made, where they go, and which stay */
  setBackupSchedule(input: SetBackupScheduleInput, options?: MethodOptions): Promise<Extract<AdminOperations['setBackupSchedule']['answer'], Planned>> {
    return this.run('setBackupSchedule', input, options)
  }

  /** What this would do: Remove a schedule of backups; its backups stay, and repeating it is no error */
  deleteBackupSchedule(input: DeleteBackupScheduleInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteBackupSchedule']['answer'], Planned>> {
    return this.run('deleteBackupSchedule', input, options)
  }

  /** What this would do: Set the rate of repair for all nodes; chunks with a single copy left do not wait for it */
  setRepair(input: SetRepairInput, options?: MethodOptions): Promise<Extract<AdminOperations['setRepair']['answer'], Planned>> {
    return this.run('setRepair', input, options)
  }

  /** What this would do: Resume the collection of garbage after a halt; otherwise nothing changes */
  resumeCollection(input: ResumeCollectionInput, options?: MethodOptions): Promise<Extract<AdminOperations['resumeCollection']['answer'], Planned>> {
    return this.run('resumeCollection', input, options)
  }

  /** What this would do: Set the weight or zone of a member over what the file of its node says */
  setMemberPlacement(input: SetMemberPlacementInput, options?: MethodOptions): Promise<Extract<AdminOperations['setMemberPlacement']['answer'], Planned>> {
    return this.run('setMemberPlacement', input, options)
  }

  /** What this would do: Return a member to the weight and zone in the file of its node; repeating it is no error */
  deleteMemberPlacement(input: DeleteMemberPlacementInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteMemberPlacement']['answer'], Planned>> {
    return this.run('deleteMemberPlacement', input, options)
  }

  /** What this would do: Empty a disk of a member: it takes no new copies, and those that it has move to other disks of that node */
  drainDisk(input: DrainDiskInput, options?: MethodOptions): Promise<Extract<AdminOperations['drainDisk']['answer'], Planned>> {
    return this.run('drainDisk', input, options)
  }

  /** What this would do: Use a disk again that was to be emptied; repeating it is no error */
  cancelDiskDrain(input: CancelDiskDrainInput, options?: MethodOptions): Promise<Extract<AdminOperations['cancelDiskDrain']['answer'], Planned>> {
    return this.run('cancelDiskDrain', input, options)
  }

  /** What this would do: Confirm that what was withheld of the time is true; what became due by it ends for good */
  confirmClusterTime(input: ConfirmClusterTimeInput, options?: MethodOptions): Promise<Extract<AdminOperations['confirmClusterTime']['answer'], Planned>> {
    return this.run('confirmClusterTime', input, options)
  }

  /** What this would do: Set the time of the log back to that of the majority, after it has run ahead */
  setBackClusterTime(input: SetBackClusterTimeInput, options?: MethodOptions): Promise<Extract<AdminOperations['setBackClusterTime']['answer'], Planned>> {
    return this.run('setBackClusterTime', input, options)
  }

  /** What this would do: Set the quota of a tenant, in place of the one it has */
  setTenantQuota(input: SetTenantQuotaInput, options?: MethodOptions): Promise<Extract<AdminOperations['setTenantQuota']['answer'], Planned>> {
    return this.run('setTenantQuota', input, options)
  }

  /** What this would do: Clear the quota of a tenant; repeating it is no error */
  deleteTenantQuota(input: DeleteTenantQuotaInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteTenantQuota']['answer'], Planned>> {
    return this.run('deleteTenantQuota', input, options)
  }

  /** What this would do: Set the limits of a tenant and of each of its access keys, in place of those it has */
  setTenantLimits(input: SetTenantLimitsInput, options?: MethodOptions): Promise<Extract<AdminOperations['setTenantLimits']['answer'], Planned>> {
    return this.run('setTenantLimits', input, options)
  }

  /** What this would do: Clear the limits of a tenant, so that the settings hold; repeating it is no error */
  deleteTenantLimits(input: DeleteTenantLimitsInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteTenantLimits']['answer'], Planned>> {
    return this.run('deleteTenantLimits', input, options)
  }

  /** What this would do: Set the policy of a bucket, in place of the one it has */
  setTenantBucketPolicy(input: SetTenantBucketPolicyInput, options?: MethodOptions): Promise<Extract<AdminOperations['setTenantBucketPolicy']['answer'], Planned>> {
    return this.run('setTenantBucketPolicy', input, options)
  }

  /** What this would do: Remove the policy of a bucket; repeating it is no error */
  deleteTenantBucketPolicy(input: DeleteTenantBucketPolicyInput, options?: MethodOptions): Promise<Extract<AdminOperations['deleteTenantBucketPolicy']['answer'], Planned>> {
    return this.run('deleteTenantBucketPolicy', input, options)
  }

  /** What this would do: Approve a change that another one asked for; who asked can make it then, once */
  approveChange(input: ApproveChangeInput, options?: MethodOptions): Promise<Extract<AdminOperations['approveChange']['answer'], Planned>> {
    return this.run('approveChange', input, options)
  }

  /** What this would do: Reject a change, or take back the request for one */
  rejectChange(input: RejectChangeInput, options?: MethodOptions): Promise<Extract<AdminOperations['rejectChange']['answer'], Planned>> {
    return this.run('rejectChange', input, options)
  }

  /** What this would do: Take a waiting node in: it copies the state, keeps up for a while and gets a vote */
  joinVoter(input: JoinVoterInput, options?: MethodOptions): Promise<Extract<AdminOperations['joinVoter']['answer'], Planned>> {
    return this.run('joinVoter', input, options)
  }

  /** What this would do: Take the vote of a member and move its copies away */
  demoteVoter(input: DemoteVoterInput, options?: MethodOptions): Promise<Extract<AdminOperations['demoteVoter']['answer'], Planned>> {
    return this.run('demoteVoter', input, options)
  }

  /** What this would do: Put a waiting node in the place of a member, also of one that is dead */
  replaceVoter(input: ReplaceVoterInput, options?: MethodOptions): Promise<Extract<AdminOperations['replaceVoter']['answer'], Planned>> {
    return this.run('replaceVoter', input, options)
  }

  /** What this would do: Give up a member that will never come back: it loses its vote and its name, its copies are made again */
  markVoterLost(input: MarkVoterLostInput, options?: MethodOptions): Promise<Extract<AdminOperations['markVoterLost']['answer'], Planned>> {
    return this.run('markVoterLost', input, options)
  }

  /** What this would do: Remove a member that holds nothing any more; its name is never used again */
  removeMember(input: RemoveMemberInput, options?: MethodOptions): Promise<Extract<AdminOperations['removeMember']['answer'], Planned>> {
    return this.run('removeMember', input, options)
  }

  /** What this would do: Hand over the lead */
  transferLeadership(input: TransferLeadershipInput, options?: MethodOptions): Promise<Extract<AdminOperations['transferLeadership']['answer'], Planned>> {
    return this.run('transferLeadership', input, options)
  }
}
