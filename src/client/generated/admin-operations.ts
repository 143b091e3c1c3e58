/**
 * The operations of the admin plane as docs/openapi/admin.json has them. Made by `node scripts/pages/client-types.ts`.
 */
import type { Route } from '../base/operation.ts'

export type Tenant = { readonly id: string; readonly name: string; readonly status: "active" | "disabled" | "deleting" | "deleted"; readonly createdAt: string; readonly disabledAt: string | null; readonly disabledReason: string | null; readonly deletedAt: string | null }

export type Account = { readonly id: string; readonly tenantId: string; readonly name: string; readonly description: string; readonly status: "active"; readonly createdAt: string; /** Its access keys that are not revoked */ readonly keyCount: number }

export type AccessKey = { readonly accessKeyId: string; readonly tenantId: string; readonly accountId: string | null; readonly name: string | null; readonly scopes: string; readonly status: "active" | "revoked"; readonly createdAt: string; readonly expiresAt: string | null; readonly rotatedAt: string | null; readonly revokedAt: string | null; readonly revokedReason: string | null; /** Up to about an hour behind; null: it was never used */ readonly lastUsedAt: string | null; readonly version: number }

export type AccessKeyWithSecret = { readonly accessKeyId: string; readonly tenantId: string; readonly accountId: string | null; readonly name: string | null; readonly scopes: string; readonly status: "active" | "revoked"; readonly createdAt: string; readonly expiresAt: string | null; readonly rotatedAt: string | null; readonly revokedAt: string | null; readonly revokedReason: string | null; /** Up to about an hour behind; null: it was never used */ readonly lastUsedAt: string | null; readonly version: number; readonly secretKey: string }

export type Operation = { readonly operationId: string; readonly type: "rebalance" | "recovery" | "scrub" | "recount" | "tenantDeletion" | "join" | "demote" | "replace" | "lost" | "remove"; readonly status: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; /** For people */ readonly phase: string; /** Id of the admin token; "system" for what begins by itself */ readonly requestedBy: string; readonly reason: string | null; readonly tenantId: string | null; readonly bucket: string | null; readonly nodeId: string | null; readonly maxBytesPerSecond: number | null; readonly createdAt: string; readonly startedAt: string | null; readonly finishedAt: string | null; readonly progress: { /** Copies looked at so far; final once all are planned. Of a change of the members: copies of the one that leaves, from the beginning. Of a deletion: versions, delete markers and uploads */ readonly blobsTotal: number; /** Copies made, read back and committed; of a scrub those that were read; of a deletion what is gone */ readonly blobsDone: number; readonly bytesTotal: number; /** Of a deletion: removed */ readonly bytesMoved: number; readonly checksumFailures: number; /** Copies that need nothing, or were given up */ readonly skipped: number; /** Copies planned and not made yet */ readonly tasksOpen: number }; readonly etaSeconds: number | null; /** How far each node is with its part; empty where none has one */ readonly nodes: readonly ({ readonly nodeId: string; readonly isDone: boolean; readonly progress: number; readonly copies: number; readonly bytes: number; readonly lost: number })[]; /** Safety checks that hold it back; it continues by itself when they pass */ readonly blockers: readonly ({ readonly code: string; readonly message: string })[]; readonly error: string | null }

export type Quota = { readonly tenantId: string; readonly quota: { /** Plain bytes of all versions and of the parts of unfinished uploads; null: no limit */ readonly maxBytes: number | null; /** Objects that a listing shows, over all buckets; null: no limit */ readonly maxObjects: number | null; /** Buckets; limits.buckets_per_tenant holds beside it; null: no limit */ readonly maxBuckets: number | null }; readonly usage: { readonly bytes: number; readonly objects: number; readonly buckets: number }; readonly updatedAt: string | null }

export type Repair = { readonly maxBytesPerSecond: number | null; readonly collection: { readonly halted: { readonly reason: string; readonly since: string } | null; readonly resumed: { readonly requestedBy: string; readonly reason: string; readonly at: string } | null }; readonly lastRecount: { readonly nodeId: string; readonly at: string; readonly rows: number; readonly differences: number; readonly firstDifference: string | null } | null; /** Every member; counts are since its start */ readonly nodes: readonly ({ readonly nodeId: string; /** false: it did not answer in time, and the rest is null */ readonly reachable: boolean; readonly pending: number | null; readonly waitingForDisk: number | null; readonly scrub: { readonly startedAt: string | null; readonly lastFullAt: string | null; /** 1 while the next one is not due */ readonly progress: number; readonly copies: number; readonly bytes: number; readonly lost: number; readonly removed: number } | null; readonly inventory: { readonly endedAt: string | null; readonly isRunning: boolean; readonly runs: number; readonly copies: number; readonly lost: number } | null; readonly directoriesLost: number | null; readonly disk: { readonly level: "open" | "stopPlacing" | "stopWriting" | "reserve"; readonly totalBytes: number; readonly freeBytes: number; readonly isSuspect: boolean } | null })[] }

export type ClusterTime = { /** The node that answers */ readonly nodeId: string; /** Of the last entry applied at this node */ readonly logTime: string; /** By which retention and uploads end, and the audit log is trimmed */ readonly confirmedTime: string; /** So far the confirmed time lags behind the time of the log: by steps that are not confirmed */ readonly withheldMs: number; readonly majorityTime: string | null; readonly offsetMs: number | null; /** At the leader: of each voter that answered within the last second */ readonly offsets: readonly ({ readonly nodeId: string; /** Of this clock; ahead of the majority is positive */ readonly offsetMs: number })[] }

export type Membership = { readonly clusterId: string; /** false: as the asked node has it, which may be old */ readonly authoritative: boolean; readonly term: number; /** For expectedConfigIndex */ readonly configIndex: number; readonly committedIndex: number; readonly leaderId: string | null; /** Of the state: what a version must know to take part. It rises when every member knows more */ readonly featureLevel: number; readonly quorum: number; readonly failureTolerance: number; readonly changeInProgress: string | null; /** Why the asked node is not ready, in sentences; empty: it is */ readonly reasons: readonly (string)[]; readonly members: readonly ({ readonly nodeId: string; readonly incarnation: string | null; readonly role: "voter" | "learner" | "none"; readonly phase: "joining" | "active" | "draining" | "drained" | "lost"; readonly isLeader: boolean; readonly peerAddress: string; readonly dataAddress: string | null; readonly adminAddress: string | null; readonly zone: string; readonly weight: number; readonly reachable: boolean | null; readonly lastContactMs: number | null; readonly matchIndex: number | null; readonly version: string | null; readonly featureLevel: number | null; readonly disk: { readonly totalBytes: number; readonly usedBytes: number } | null; readonly blobs: { /** Copies that are listed as being here */ readonly replicas: number; /** Of those: no other copy is listed */ readonly lastCopies: number; readonly countedAt: string } | null; readonly drained: boolean; readonly recoveryEpoch: number | null; readonly stateEqual: boolean | null; /** What is wrong with its data directory, and what to do: `member_rolled_back`, `disk_not_proved_current`, `member_tombstoned`; absent: nothing is */ readonly conditions?: readonly ({ readonly code: string; readonly message: string })[]; readonly addedAt: string })[]; /** Names that are never used again */ readonly departed: readonly ({ readonly nodeId: string; readonly incarnation: string | null; readonly how: "lost" | "removed"; readonly reason: string | null; readonly at: string })[]; /** From lost quorums, the oldest first; never forgotten */ readonly recoveries: readonly ({ readonly planId: string; readonly epoch: number; readonly plannedAt: string; readonly at: string; readonly index: number; /** Whose history was taken */ readonly winner: string; readonly survivors: readonly (string)[]; readonly voters: readonly (string)[]; readonly dead: readonly (string)[]; /** Committed for certain before; what follows up to index was committed by the recovery */ readonly certainThrough: number; /** From copies of data directories that were put back */ readonly isRestored: boolean; readonly mayMissAfter: number | null; readonly loss: { /** Without a copy on any survivor */ readonly chunks: number; /** That need one of them */ readonly versions: number } })[] }

export interface AdminOperations {
  /** The process answers */
  readonly adminHealthz: {
    readonly call: object
    readonly answer: { readonly status: "ok" }
  }
  /** The node can serve requests, or says what is missing */
  readonly adminReadyz: {
    readonly call: object
    readonly answer: { readonly status: "ready" }
  }
  /** This contract as an OpenAPI 3.1 document */
  readonly getAdminOpenAPI: {
    readonly call: object
    readonly answer: Readonly<Record<string, unknown>>
  }
  /** Figures of this node in the Prometheus text format */
  readonly getMetrics: {
    readonly call: object
    readonly answer: string
  }
  /** List tenants; a token with a tenant of its own sees that one */
  readonly listTenants: {
    readonly call: { readonly query?: { readonly limit?: number; readonly continuationToken?: string } }
    readonly answer: { readonly tenants: readonly (Tenant)[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Create a tenant */
  readonly createTenant: {
    readonly call: { readonly query?: { readonly dryRun?: boolean }; readonly body: { /** Slug of 2 to 63 of a-z, 0-9 and "-"; made from the name if absent */ readonly id?: string; readonly name: string } }
    readonly answer: { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly id: string | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | Tenant
  }
  /** Get a tenant */
  readonly getTenant: {
    readonly call: { readonly params: { readonly id: string } }
    readonly answer: Tenant
  }
  /** Disable a tenant and revoke its access keys; there is no way back, repeating it changes nothing */
  readonly disableTenant: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean }; readonly body: { readonly reason: string } }
    readonly answer: Tenant | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly buckets: number; readonly objects: number; /** The current ones too */ readonly versions: number; readonly deleteMarkers: number; readonly legalHeldVersions: number; /** Whose retention has not ended */ readonly retainedVersions: number; /** Of a disabling those that are active */ readonly accessKeys: number; /** On the disks of all nodes together */ readonly physicalBytes: number }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Delete a disabled tenant with everything it stores, unless a retention or a legal hold stands */
  readonly deleteTenant: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly reason: string; /** The id of the tenant once more */ readonly confirm: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly buckets: number; readonly objects: number; /** The current ones too */ readonly versions: number; readonly deleteMarkers: number; readonly legalHeldVersions: number; /** Whose retention has not ended */ readonly retainedVersions: number; /** Of a disabling those that are active */ readonly accessKeys: number; /** On the disks of all nodes together */ readonly physicalBytes: number }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** List the service accounts of a tenant, the oldest first */
  readonly listTenantAccounts: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly limit?: number; readonly continuationToken?: string } }
    readonly answer: { readonly accounts: readonly (Account)[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Create a service account, to which access keys can belong */
  readonly createTenantAccount: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean }; readonly body: { /** No other account of the tenant has it */ readonly name: string; readonly description?: string } }
    readonly answer: { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly name: string; /** That the tenant has now */ readonly accounts: number; readonly accountsMax: number }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | Account
  }
  /** List the access keys of a tenant, without secrets */
  readonly listTenantKeys: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly limit?: number; readonly continuationToken?: string } }
    readonly answer: { readonly keys: readonly (AccessKey)[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Create an access key; its secret is shown this once */
  readonly createTenantKey: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean }; readonly body?: { readonly accountId?: string | null; readonly name?: string | null; /** Verbs, or op=<verb>:bucket=<bucket>:prefix=<prefix>, by commas */ readonly scopes?: string; readonly expiresAt?: string | null } }
    readonly answer: { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly accountId: string | null; readonly key: { readonly scopes: string; readonly expiresAt: string | null; readonly version: number } | null; readonly activeKeys: number; readonly activeKeysMax: number }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | AccessKeyWithSecret
  }
  /** Give an access key a new secret; tokens of the old one die at once */
  readonly rotateTenantKey: {
    readonly call: { readonly params: { readonly id: string; readonly keyId: string }; readonly query?: { readonly dryRun?: boolean }; readonly body?: { /** Verbs, or op=<verb>:bucket=<bucket>:prefix=<prefix>, by commas */ readonly scopes?: string; readonly expiresAt?: string | null } }
    readonly answer: AccessKeyWithSecret | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly accessKeyId: string; readonly before: { readonly scopes: string; readonly expiresAt: string | null; readonly version: number }; readonly after: { readonly scopes: string; readonly expiresAt: string | null; readonly version: number } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Revoke an access key for good; repeating it changes nothing */
  readonly revokeTenantKey: {
    readonly call: { readonly params: { readonly id: string; readonly keyId: string }; readonly query?: { readonly dryRun?: boolean }; readonly body: { readonly reason: string } }
    readonly answer: AccessKey | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly accessKeyId: string; readonly statusBefore: "active" | "revoked"; readonly statusAfter: "active" | "revoked" }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Move the copies of a tenant or a bucket to where they should be */
  readonly rebalance: {
    readonly call: { readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly tenantId: string; /** Absent: everything of the tenant */ readonly bucket?: string; /** Of all nodes together, on average, for this operation */ readonly maxBytesPerSecond?: number; readonly reason: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { /** Looked at */ readonly chunks: number; readonly copiesToMake: number; readonly bytesToMove: number; /** false: there are more chunks than were looked at */ readonly isComplete: boolean }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Read every copy back now, on one node or on all; what is bad is made again */
  readonly scrub: {
    readonly call: { readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { /** Absent: every node */ readonly node?: string; readonly reason: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly nodes: readonly (string)[] }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Count all references and usage again; a difference halts the collection of garbage */
  readonly recount: {
    readonly call: { readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly reason: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly unfinishedRecounts: number }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** List long operations, oldest first; of those that ended the last 256 are kept */
  readonly listOperations: {
    readonly call: { readonly query?: { readonly limit?: number; readonly continuationToken?: string } }
    readonly answer: { readonly operations: readonly (Operation)[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Get a long operation with its progress */
  readonly getOperation: {
    readonly call: { readonly params: { readonly id: string } }
    readonly answer: Operation
  }
  /** End an operation for good; copies that are not made yet are taken back */
  readonly cancelOperation: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly type: "rebalance" | "recovery" | "scrub" | "recount" | "tenantDeletion" | "join" | "demote" | "replace" | "lost" | "remove"; readonly statusBefore: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; readonly statusAfter: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; /** Copies that are planned and not made yet */ readonly tasksOpen: number; readonly etaSeconds: number | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Plan nothing more for now; copies that are planned are still made */
  readonly pauseOperation: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly type: "rebalance" | "recovery" | "scrub" | "recount" | "tenantDeletion" | "join" | "demote" | "replace" | "lost" | "remove"; readonly statusBefore: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; readonly statusAfter: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; /** Copies that are planned and not made yet */ readonly tasksOpen: number; readonly etaSeconds: number | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Continue a paused operation where it was */
  readonly resumeOperation: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly type: "rebalance" | "recovery" | "scrub" | "recount" | "tenantDeletion" | "join" | "demote" | "replace" | "lost" | "remove"; readonly statusBefore: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; readonly statusAfter: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled"; /** Copies that are planned and not made yet */ readonly tasksOpen: number; readonly etaSeconds: number | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Get the rate of repair, the state of the collection, and how far the scrub of every node has come */
  readonly getRepair: {
    readonly call: object
    readonly answer: Repair
  }
  /** Set the rate of repair for all nodes; chunks with a single copy left do not wait for it */
  readonly setRepair: {
    readonly call: { readonly query?: { readonly dryRun?: boolean }; readonly body: { readonly maxBytesPerSecond: number | null } }
    readonly answer: Repair | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly before: number | null; readonly after: number | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Resume the collection of garbage after a halt; otherwise nothing changes */
  readonly resumeCollection: {
    readonly call: { readonly query?: { readonly dryRun?: boolean }; readonly body: { readonly reason: string } }
    readonly answer: { readonly halted: { readonly reason: string; readonly since: string } | null; readonly resumed: { readonly requestedBy: string; readonly reason: string; readonly at: string } | null } | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly halted: { readonly reason: string; readonly since: string } | null; readonly lastRecount: { readonly nodeId: string; readonly at: string; readonly rows: number; readonly differences: number; readonly firstDifference: string | null } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Get the time of the log, what of it is withheld, and how far clocks are off */
  readonly getClusterTime: {
    readonly call: object
    readonly answer: ClusterTime
  }
  /** Confirm that what was withheld of the time is true; what became due by it ends for good */
  readonly confirmClusterTime: {
    readonly call: { readonly query?: { readonly dryRun?: boolean }; readonly body: { /** So far the confirmed time lags behind the time of the log: by steps that are not confirmed */ readonly withheldMs: number; readonly reason: string } }
    readonly answer: { readonly before: { readonly logTime: string; readonly confirmedTime: string }; readonly after: { readonly logTime: string; readonly confirmedTime: string } } | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: ClusterTime; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Set the time of the log back to that of the majority, after it has run ahead */
  readonly setBackClusterTime: {
    readonly call: { readonly query?: { readonly dryRun?: boolean }; readonly body: { /** As it was shown within five minutes */ readonly majorityTime: string; readonly reason: string } }
    readonly answer: { readonly before: { readonly logTime: string; readonly confirmedTime: string }; readonly after: { readonly logTime: string; readonly confirmedTime: string } } | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: ClusterTime; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Get the quota of a tenant, and what is held against it */
  readonly getTenantQuota: {
    readonly call: { readonly params: { readonly id: string } }
    readonly answer: Quota
  }
  /** Set the quota of a tenant, in place of the one it has */
  readonly setTenantQuota: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean }; readonly body: { /** Plain bytes of all versions and of the parts of unfinished uploads; null: no limit */ readonly maxBytes?: number | null; /** Objects that a listing shows, over all buckets; null: no limit */ readonly maxObjects?: number | null; /** Buckets; limits.buckets_per_tenant holds beside it; null: no limit */ readonly maxBuckets?: number | null } }
    readonly answer: Quota | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly before: { /** Plain bytes of all versions and of the parts of unfinished uploads; null: no limit */ readonly maxBytes: number | null; /** Objects that a listing shows, over all buckets; null: no limit */ readonly maxObjects: number | null; /** Buckets; limits.buckets_per_tenant holds beside it; null: no limit */ readonly maxBuckets: number | null }; readonly after: { /** Plain bytes of all versions and of the parts of unfinished uploads; null: no limit */ readonly maxBytes: number | null; /** Objects that a listing shows, over all buckets; null: no limit */ readonly maxObjects: number | null; /** Buckets; limits.buckets_per_tenant holds beside it; null: no limit */ readonly maxBuckets: number | null }; readonly usage: { readonly bytes: number; readonly objects: number; readonly buckets: number } }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Clear the quota of a tenant; repeating it is no error */
  readonly deleteTenantQuota: {
    readonly call: { readonly params: { readonly id: string }; readonly query?: { readonly dryRun?: boolean } }
    readonly answer: { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly before: { /** Plain bytes of all versions and of the parts of unfinished uploads; null: no limit */ readonly maxBytes: number | null; /** Objects that a listing shows, over all buckets; null: no limit */ readonly maxObjects: number | null; /** Buckets; limits.buckets_per_tenant holds beside it; null: no limit */ readonly maxBuckets: number | null }; readonly usage: { readonly bytes: number; readonly objects: number; readonly buckets: number } }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | undefined
  }
  /** Get what a tenant takes up, exact as of one moment */
  readonly getTenantUsage: {
    readonly call: { readonly params: { readonly id: string } }
    readonly answer: { readonly tenantId: string; readonly asOf: string; readonly buckets: number; /** Keys whose newest version is no delete marker */ readonly objects: number; /** All versions, the newest ones too; no delete markers */ readonly versions: number; readonly deleteMarkers: number; /** Plain bytes of all versions */ readonly logicalBytes: number; /** Unfinished ones */ readonly multipartUploads: number; /** Plain bytes of their parts; the quota counts them beside logicalBytes */ readonly multipartBytes: number; /** Sealed bytes of every copy of every chunk that a node is known to hold. What was deleted counts until it is collected; what files and packs add around it does not */ readonly physicalBytes: number; /** Sealed bytes, each chunk once */ readonly storedBytes: number; /** Sealed bytes of small bodies, which lie in the metadata of every node; each once, and not in physicalBytes */ readonly inlineBytes: number; /** Plain bytes of chunks, for each time that one is referred to beyond the first */ readonly dedupSavedBytes: number; /** Plain bytes less sealed ones, each chunk once, of those that are smaller sealed */ readonly compressionSavedBytes: number; /** The first 1,000 by name */ readonly byBucket: readonly ({ readonly name: string; /** Keys whose newest version is no delete marker */ readonly objects: number; /** All versions, the newest ones too; no delete markers */ readonly versions: number; readonly deleteMarkers: number; /** Plain bytes of all versions */ readonly logicalBytes: number })[]; /** true: there are more buckets */ readonly isTruncated: boolean }
  }
  /** Get the policy of a bucket */
  readonly getTenantBucketPolicy: {
    readonly call: { readonly params: { readonly id: string; readonly bucket: string } }
    readonly answer: { /** 2012-10-17 or 2008-10-17; they mean the same here */ readonly Version?: unknown; /** A text */ readonly Id?: unknown; /** 1 to 100 objects of Sid, Effect, Principal or NotPrincipal, Action or NotAction, Resource or NotResource, Condition */ readonly Statement: unknown }
  }
  /** Set the policy of a bucket, in place of the one it has */
  readonly setTenantBucketPolicy: {
    readonly call: { readonly params: { readonly id: string; readonly bucket: string }; readonly query?: { readonly dryRun?: boolean }; readonly body: { /** 2012-10-17 or 2008-10-17; they mean the same here */ readonly Version?: unknown; /** A text */ readonly Id?: unknown; /** 1 to 100 objects of Sid, Effect, Principal or NotPrincipal, Action or NotAction, Resource or NotResource, Condition */ readonly Statement: unknown } }
    readonly answer: { /** 2012-10-17 or 2008-10-17; they mean the same here */ readonly Version?: unknown; /** A text */ readonly Id?: unknown; /** 1 to 100 objects of Sid, Effect, Principal or NotPrincipal, Action or NotAction, Resource or NotResource, Condition */ readonly Statement: unknown } | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly replaces: boolean; readonly denials: number; readonly withoutEffect: number }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
  /** Remove the policy of a bucket; repeating it is no error */
  readonly deleteTenantBucketPolicy: {
    readonly call: { readonly params: { readonly id: string; readonly bucket: string }; readonly query?: { readonly dryRun?: boolean } }
    readonly answer: { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly removes: boolean }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | undefined
  }
  /** Query the audit log, the newest rows first */
  readonly queryAuditLog: {
    readonly call: { readonly query?: { /** Rows of this tenant; a token of one tenant sees its own alone */ readonly tenant?: string; /** Age of the oldest row wanted, such as 90s, 15m, 24h or 7d; 24h unless given */ readonly since?: string; /** Age of the newest row wanted */ readonly until?: string; /** Rows of a page: 1 to 1000, 100 unless given */ readonly limit?: number; /** An operationId */ readonly operation?: string; /** Id of an access key, of an admin token or of a signed URL; a key finds the use of its URLs too */ readonly actor?: string; /** Name of a bucket */ readonly bucket?: string; /** An object key; a batch is found by each of its keys */ readonly key?: string; /** Beginning of object keys */ readonly keyPrefix?: string; /** One of success, denied, error */ readonly outcome?: string; /** Id of one request */ readonly requestId?: string; /** From the page before */ readonly continuationToken?: string } }
    readonly answer: { readonly records: readonly ({ readonly id: string; readonly time: string; readonly requestId: string; readonly api: "native" | "admin" | "internal"; readonly operation: string; readonly method: string | null; readonly path: string | null; readonly tenantId: string | null; readonly actor: { readonly type: "accessKey" | "adminToken" | "signedUrl" | "system" | "anonymous"; readonly id: string | null; readonly role: string | null; /** Of a signed URL: the access key that made it */ readonly accessKeyId?: string }; readonly bucket: string | null; readonly key: string | null; readonly versionId: string | null; readonly outcome: "success" | "denied" | "error"; readonly status: number | null; readonly code: string | null; readonly reason: string | null; readonly sourceIp: string | null; readonly userAgent: string | null; readonly bytesIn: number; readonly bytesOut: number | null; readonly durationMs: number; readonly nodeId: string; readonly details: Readonly<Record<string, unknown>> | null; /** Of a row that stands for several requests with equal operation, code and status: the other members are those of the first one, the bytes are sums */ readonly repeated?: { /** How many requests the row stands for */ readonly count: number; readonly firstTime: string; readonly lastTime: string; readonly from: string | null } })[]; readonly count: number; /** Parts of the log without a readable copy at present, which may hold rows that match; absent where there are none */ readonly gaps?: readonly ({ readonly from: string; readonly to: string; /** That were recorded in between */ readonly rows: number })[]; readonly isTruncated: boolean; readonly nextContinuationToken?: string }
  }
  /** Get who belongs to the cluster, who leads, and how each member stands */
  readonly getClusterMembership: {
    readonly call: { readonly query?: { /** As the asked node has it, also without a leader */ readonly consistency?: "local" } }
    readonly answer: Membership
  }
  /** Take a waiting node in: it copies the state, keeps up for a while and gets a vote */
  readonly joinVoter: {
    readonly call: { readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly nodeId: string; /** host:port where it listens for nodes */ readonly peerAddress: string; readonly dataAddress?: string; readonly adminAddress?: string; readonly zone?: string; readonly weight?: number; /** SHA-256 of its certificate as it was read there: refused when it shows another one */ readonly fingerprint?: string; readonly reason: string; /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly steps: readonly ({ /** now, and what becomes of the member */ readonly step: string; readonly voters: readonly (string)[]; readonly majority: number; readonly failureTolerance: number })[]; readonly copiesToMove: number; readonly bytesToMove: number; /** Of those: no other copy is listed */ readonly lastCopies: number; /** false: there are more chunks than were looked at */ readonly isComplete: boolean; readonly newcomer: { readonly nodeId: string; /** Of its data directory */ readonly incarnation: string; readonly peerAddress: string; readonly version: string; readonly fingerprint: string | null } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | { /** true: the cluster is as it was asked for already */ readonly noop: boolean; readonly nodeId: string; readonly configIndex: number }
  }
  /** Take the vote of a member and move its copies away */
  readonly demoteVoter: {
    readonly call: { readonly params: { readonly nodeId: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly reason: string; /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly steps: readonly ({ /** now, and what becomes of the member */ readonly step: string; readonly voters: readonly (string)[]; readonly majority: number; readonly failureTolerance: number })[]; readonly copiesToMove: number; readonly bytesToMove: number; /** Of those: no other copy is listed */ readonly lastCopies: number; /** false: there are more chunks than were looked at */ readonly isComplete: boolean; readonly newcomer: { readonly nodeId: string; /** Of its data directory */ readonly incarnation: string; readonly peerAddress: string; readonly version: string; readonly fingerprint: string | null } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | { /** true: the cluster is as it was asked for already */ readonly noop: boolean; readonly nodeId: string; readonly configIndex: number }
  }
  /** Put a waiting node in the place of a member, also of one that is dead */
  readonly replaceVoter: {
    readonly call: { readonly params: { readonly nodeId: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly replacement: { readonly nodeId: string; /** host:port where it listens for nodes */ readonly peerAddress: string; readonly dataAddress?: string; readonly adminAddress?: string; readonly zone?: string; readonly weight?: number; /** SHA-256 of its certificate as it was read there: refused when it shows another one */ readonly fingerprint?: string }; readonly reason: string; /** The name of the member again */ readonly confirm: string; /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly steps: readonly ({ /** now, and what becomes of the member */ readonly step: string; readonly voters: readonly (string)[]; readonly majority: number; readonly failureTolerance: number })[]; readonly copiesToMove: number; readonly bytesToMove: number; /** Of those: no other copy is listed */ readonly lastCopies: number; /** false: there are more chunks than were looked at */ readonly isComplete: boolean; readonly newcomer: { readonly nodeId: string; /** Of its data directory */ readonly incarnation: string; readonly peerAddress: string; readonly version: string; readonly fingerprint: string | null } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | { /** true: the cluster is as it was asked for already */ readonly noop: boolean; readonly nodeId: string; readonly configIndex: number }
  }
  /** Give up a member that will never come back: it loses its vote and its name, its copies are made again */
  readonly markVoterLost: {
    readonly call: { readonly params: { readonly nodeId: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly reason: string; /** The name of the member again */ readonly confirm: string; /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly steps: readonly ({ /** now, and what becomes of the member */ readonly step: string; readonly voters: readonly (string)[]; readonly majority: number; readonly failureTolerance: number })[]; readonly copiesToMove: number; readonly bytesToMove: number; /** Of those: no other copy is listed */ readonly lastCopies: number; /** false: there are more chunks than were looked at */ readonly isComplete: boolean; readonly newcomer: { readonly nodeId: string; /** Of its data directory */ readonly incarnation: string; readonly peerAddress: string; readonly version: string; readonly fingerprint: string | null } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | { /** true: the cluster is as it was asked for already */ readonly noop: boolean; readonly nodeId: string; readonly configIndex: number }
  }
  /** Remove a member that holds nothing any more; its name is never used again */
  readonly removeMember: {
    readonly call: { readonly params: { readonly nodeId: string }; readonly query?: { readonly dryRun?: boolean; /** Answer when the operation is finished, at the latest after so long: 1ms to 60s */ readonly wait?: string }; readonly body: { readonly reason: string; /** The name of the member again */ readonly confirm: string; /** The configIndex that was seen: refused when it is another one by now */ readonly expectedConfigIndex?: number } }
    readonly answer: Operation | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly steps: readonly ({ /** now, and what becomes of the member */ readonly step: string; readonly voters: readonly (string)[]; readonly majority: number; readonly failureTolerance: number })[]; readonly copiesToMove: number; readonly bytesToMove: number; /** Of those: no other copy is listed */ readonly lastCopies: number; /** false: there are more chunks than were looked at */ readonly isComplete: boolean; readonly newcomer: { readonly nodeId: string; /** Of its data directory */ readonly incarnation: string; readonly peerAddress: string; readonly version: string; readonly fingerprint: string | null } | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] } | { /** true: the cluster is as it was asked for already */ readonly noop: boolean; readonly nodeId: string; readonly configIndex: number }
  }
  /** Hand over the lead */
  readonly transferLeadership: {
    readonly call: { readonly query?: { readonly dryRun?: boolean }; readonly body: { readonly nodeId?: string; readonly reason: string } }
    readonly answer: { readonly leaderBefore: string | null; readonly target: string | null; readonly noop: boolean } | { /** true: nothing was changed */ readonly dryRun: boolean; readonly operation: string; readonly tenantId: string | null; readonly allowed: boolean; readonly plan: { readonly target: string | null }; readonly blockers: readonly ({ readonly code: string; readonly message: string; /** Of how many things this is so */ readonly count?: number; readonly earliestRelease?: string | null })[]; readonly warnings: readonly (string)[] }
  }
}

export const ADMIN_ROUTES = {
  adminHealthz: {"method":"GET","path":"/admin/api/v1/healthz","rest":null,"body":"none","answer":"json","takesToken":false},
  adminReadyz: {"method":"GET","path":"/readyz","rest":null,"body":"none","answer":"json","takesToken":false},
  getAdminOpenAPI: {"method":"GET","path":"/admin/api/v1/openapi.json","rest":null,"body":"none","answer":"json","takesToken":false},
  getMetrics: {"method":"GET","path":"/metrics","rest":null,"body":"none","answer":"text","takesToken":true},
  listTenants: {"method":"GET","path":"/admin/api/v1/tenants","rest":null,"body":"none","answer":"json","takesToken":true},
  createTenant: {"method":"POST","path":"/admin/api/v1/tenants","rest":null,"body":"json","answer":"json","takesToken":true},
  getTenant: {"method":"GET","path":"/admin/api/v1/tenants/{id}","rest":null,"body":"none","answer":"json","takesToken":true},
  disableTenant: {"method":"POST","path":"/admin/api/v1/tenants/{id}/disable","rest":null,"body":"json","answer":"json","takesToken":true},
  deleteTenant: {"method":"POST","path":"/admin/api/v1/tenants/{id}/delete","rest":null,"body":"json","answer":"json","takesToken":true},
  listTenantAccounts: {"method":"GET","path":"/admin/api/v1/tenants/{id}/accounts","rest":null,"body":"none","answer":"json","takesToken":true},
  createTenantAccount: {"method":"POST","path":"/admin/api/v1/tenants/{id}/accounts","rest":null,"body":"json","answer":"json","takesToken":true},
  listTenantKeys: {"method":"GET","path":"/admin/api/v1/tenants/{id}/keys","rest":null,"body":"none","answer":"json","takesToken":true},
  createTenantKey: {"method":"POST","path":"/admin/api/v1/tenants/{id}/keys","rest":null,"body":"json","answer":"json","takesToken":true},
  rotateTenantKey: {"method":"POST","path":"/admin/api/v1/tenants/{id}/keys/{keyId}/rotate","rest":null,"body":"json","answer":"json","takesToken":true},
  revokeTenantKey: {"method":"POST","path":"/admin/api/v1/tenants/{id}/keys/{keyId}/revoke","rest":null,"body":"json","answer":"json","takesToken":true},
  rebalance: {"method":"POST","path":"/admin/api/v1/cluster/rebalance","rest":null,"body":"json","answer":"json","takesToken":true},
  scrub: {"method":"POST","path":"/admin/api/v1/cluster/scrub","rest":null,"body":"json","answer":"json","takesToken":true},
  recount: {"method":"POST","path":"/admin/api/v1/cluster/recount","rest":null,"body":"json","answer":"json","takesToken":true},
  listOperations: {"method":"GET","path":"/admin/api/v1/cluster/operations","rest":null,"body":"none","answer":"json","takesToken":true},
  getOperation: {"method":"GET","path":"/admin/api/v1/cluster/operations/{id}","rest":null,"body":"none","answer":"json","takesToken":true},
  cancelOperation: {"method":"POST","path":"/admin/api/v1/cluster/operations/{id}/cancel","rest":null,"body":"none","answer":"json","takesToken":true},
  pauseOperation: {"method":"POST","path":"/admin/api/v1/cluster/operations/{id}/pause","rest":null,"body":"none","answer":"json","takesToken":true},
  resumeOperation: {"method":"POST","path":"/admin/api/v1/cluster/operations/{id}/resume","rest":null,"body":"none","answer":"json","takesToken":true},
  getRepair: {"method":"GET","path":"/admin/api/v1/cluster/repair","rest":null,"body":"none","answer":"json","takesToken":true},
  setRepair: {"method":"PUT","path":"/admin/api/v1/cluster/repair","rest":null,"body":"json","answer":"json","takesToken":true},
  resumeCollection: {"method":"POST","path":"/admin/api/v1/cluster/collection/resume","rest":null,"body":"json","answer":"json","takesToken":true},
  getClusterTime: {"method":"GET","path":"/admin/api/v1/cluster/time","rest":null,"body":"none","answer":"json","takesToken":true},
  confirmClusterTime: {"method":"POST","path":"/admin/api/v1/cluster/time/confirm","rest":null,"body":"json","answer":"json","takesToken":true},
  setBackClusterTime: {"method":"POST","path":"/admin/api/v1/cluster/time/set-back","rest":null,"body":"json","answer":"json","takesToken":true},
  getTenantQuota: {"method":"GET","path":"/admin/api/v1/tenants/{id}/quota","rest":null,"body":"none","answer":"json","takesToken":true},
  setTenantQuota: {"method":"PUT","path":"/admin/api/v1/tenants/{id}/quota","rest":null,"body":"json","answer":"json","takesToken":true},
  deleteTenantQuota: {"method":"DELETE","path":"/admin/api/v1/tenants/{id}/quota","rest":null,"body":"none","answer":"json","takesToken":true},
  getTenantUsage: {"method":"GET","path":"/admin/api/v1/tenants/{id}/usage","rest":null,"body":"none","answer":"json","takesToken":true},
  getTenantBucketPolicy: {"method":"GET","path":"/admin/api/v1/tenants/{id}/buckets/{bucket}/policy","rest":null,"body":"none","answer":"json","takesToken":true},
  setTenantBucketPolicy: {"method":"PUT","path":"/admin/api/v1/tenants/{id}/buckets/{bucket}/policy","rest":null,"body":"json","answer":"json","takesToken":true},
  deleteTenantBucketPolicy: {"method":"DELETE","path":"/admin/api/v1/tenants/{id}/buckets/{bucket}/policy","rest":null,"body":"none","answer":"json","takesToken":true},
  queryAuditLog: {"method":"GET","path":"/admin/api/v1/audit","rest":null,"body":"none","answer":"json","takesToken":true},
  getClusterMembership: {"method":"GET","path":"/admin/api/v1/cluster/membership","rest":null,"body":"none","answer":"json","takesToken":true},
  joinVoter: {"method":"POST","path":"/admin/api/v1/cluster/voters","rest":null,"body":"json","answer":"json","takesToken":true},
  demoteVoter: {"method":"POST","path":"/admin/api/v1/cluster/voters/{nodeId}/demote","rest":null,"body":"json","answer":"json","takesToken":true},
  replaceVoter: {"method":"POST","path":"/admin/api/v1/cluster/voters/{nodeId}/replace","rest":null,"body":"json","answer":"json","takesToken":true},
  markVoterLost: {"method":"POST","path":"/admin/api/v1/cluster/voters/{nodeId}/lost","rest":null,"body":"json","answer":"json","takesToken":true},
  removeMember: {"method":"POST","path":"/admin/api/v1/cluster/members/{nodeId}/remove","rest":null,"body":"json","answer":"json","takesToken":true},
  transferLeadership: {"method":"POST","path":"/admin/api/v1/cluster/leader/transfer","rest":null,"body":"json","answer":"json","takesToken":true},
} as const satisfies Record<keyof AdminOperations, Route>
