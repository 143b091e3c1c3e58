/**
 * What each operation asks of the one who calls it.
 *
 * Owns: the whole table, one row per operation id; a missing row does not compile. [decisions 14: verb -> operation]
 * Knows nothing of: how a row is decided; that is authorize.ts.
 */
import type { AdminRole } from '../state-machine/base/origin.ts'
import type { OperationId } from './base/operation-ids.ts'
import type { Verb } from './base/principal.ts'

/**
 * What a scope must cover for an access key to pass:
 *  - tenant: nothing in particular, any scope with the verb will do; what is returned is filtered by scope;
 *  - bucket: the bucket, whatever the scope's prefix;
 *  - whole-bucket: the bucket, by a scope without prefix, because the operation reaches all of its keys;
 *  - key: the bucket and the object key, or the prefix of a listing, which must lie inside of the scope's prefix.
 */
export type Reach = 'tenant' | 'bucket' | 'whole-bucket' | 'key'

/**
 * What an admin token with a tenant of its own may aim at:
 *  - one-tenant: the target, if it is that tenant;
 *  - own-tenants: always allowed, what is returned is filtered to that tenant;
 *  - cluster: nothing; only a token without tenant passes.
 */
export type AdminReach = 'one-tenant' | 'own-tenants' | 'cluster'

export type Requirement =
  | { readonly kind: 'none' }
  /** `verb` null: no verb in particular. */
  | { readonly kind: 'accessKey'; readonly verb: Verb | null; readonly reach: Reach }
  | { readonly kind: 'adminToken'; readonly role: AdminRole; readonly reach: AdminReach }

const NONE: Requirement = { kind: 'none' }
const accessKey = (verb: Verb | null, reach: Reach): Requirement => ({ kind: 'accessKey', verb, reach })
const adminToken = (role: AdminRole, reach: AdminReach): Requirement => ({ kind: 'adminToken', role, reach })

export const REQUIREMENTS = {
  healthz: NONE,
  readyz: NONE,
  getOpenAPI: NONE,
  createToken: NONE,
  // Then asked for as getObject or putObject, whichever the URL is for.
  signURL: accessKey(null, 'tenant'),
  // By a signed URL alone, which narrows further (signed-url.ts).
  getSigned: accessKey('read', 'key'),
  putSigned: accessKey('write', 'key'),
  // Asked for as getSigned or putSigned, whichever the preflight is about.
  preflightSigned: NONE,
  listBuckets: accessKey('read', 'tenant'),
  createBucket: accessKey('write', 'whole-bucket'),
  getBucket: accessKey('read', 'bucket'),
  deleteBucket: accessKey('delete', 'whole-bucket'),
  getBucketVersioning: accessKey('read', 'bucket'),
  setBucketVersioning: accessKey('write', 'whole-bucket'),
  getBucketCORS: accessKey('read', 'bucket'),
  setBucketCORS: accessKey('admin', 'whole-bucket'),
  deleteBucketCORS: accessKey('admin', 'whole-bucket'),
  getBucketNotifications: accessKey('read', 'bucket'),
  setBucketNotifications: accessKey('write', 'whole-bucket'),
  deleteBucketNotifications: accessKey('write', 'whole-bucket'),
  // It names keys of the whole bucket.
  listNotificationDeliveries: accessKey('read', 'whole-bucket'),
  redeliverNotification: accessKey('write', 'whole-bucket'),
  testNotification: accessKey('write', 'whole-bucket'),
  putObject: accessKey('write', 'key'),
  getObject: accessKey('read', 'key'),
  headObject: accessKey('read', 'key'),
  deleteObject: accessKey('delete', 'key'),
  listObjects: accessKey('read', 'key'),
  // Each of its keys is then asked for as deleteObject.
  batchDeleteObjects: accessKey('delete', 'bucket'),
  // Of the target; the source is asked for as getObject.
  copyObject: accessKey('write', 'key'),
  listObjectVersions: accessKey('read', 'key'),
  getObjectTags: accessKey('read', 'key'),
  setObjectTags: accessKey('write', 'key'),
  deleteObjectTags: accessKey('write', 'key'),
  getObjectRetention: accessKey('read', 'key'),
  setObjectRetention: accessKey('write', 'key'),
  getObjectLegalHold: accessKey('read', 'key'),
  setObjectLegalHold: accessKey('write', 'key'),
  createMultipartUpload: accessKey('write', 'key'),
  uploadPart: accessKey('write', 'key'),
  listParts: accessKey('read', 'key'),
  completeMultipartUpload: accessKey('write', 'key'),
  abortMultipartUpload: accessKey('write', 'key'),
  listMultipartUploads: accessKey('read', 'key'),

  adminHealthz: NONE,
  adminReadyz: NONE,
  getAdminOpenAPI: NONE,
  getMetrics: adminToken('viewer', 'cluster'),
  listTenants: adminToken('viewer', 'own-tenants'),
  createTenant: adminToken('operator', 'cluster'),
  getTenant: adminToken('viewer', 'one-tenant'),
  disableTenant: adminToken('owner', 'one-tenant'),
  deleteTenant: adminToken('owner', 'one-tenant'),
  getTenantQuota: adminToken('viewer', 'one-tenant'),
  setTenantQuota: adminToken('operator', 'one-tenant'),
  deleteTenantQuota: adminToken('operator', 'one-tenant'),
  getTenantUsage: adminToken('viewer', 'one-tenant'),
  listTenantAccounts: adminToken('viewer', 'one-tenant'),
  createTenantAccount: adminToken('operator', 'one-tenant'),
  listTenantKeys: adminToken('viewer', 'one-tenant'),
  createTenantKey: adminToken('operator', 'one-tenant'),
  rotateTenantKey: adminToken('operator', 'one-tenant'),
  revokeTenantKey: adminToken('operator', 'one-tenant'),
  // A policy only concerns access keys: whatever it denies, an owner can take it back.
  getTenantBucketPolicy: adminToken('owner', 'one-tenant'),
  setTenantBucketPolicy: adminToken('owner', 'one-tenant'),
  deleteTenantBucketPolicy: adminToken('owner', 'one-tenant'),
  rebalance: adminToken('owner', 'cluster'),
  listOperations: adminToken('owner', 'cluster'),
  getOperation: adminToken('owner', 'cluster'),
  cancelOperation: adminToken('owner', 'cluster'),
  pauseOperation: adminToken('owner', 'cluster'),
  resumeOperation: adminToken('owner', 'cluster'),
  getRepair: adminToken('owner', 'cluster'),
  setRepair: adminToken('owner', 'cluster'),
  scrub: adminToken('owner', 'cluster'),
  recount: adminToken('owner', 'cluster'),
  resumeCollection: adminToken('owner', 'cluster'),
  getClusterTime: adminToken('owner', 'cluster'),
  confirmClusterTime: adminToken('owner', 'cluster'),
  setBackClusterTime: adminToken('owner', 'cluster'),
  queryAuditLog: adminToken('viewer', 'own-tenants'),
  getClusterMembership: adminToken('owner', 'cluster'),
  joinVoter: adminToken('owner', 'cluster'),
  demoteVoter: adminToken('owner', 'cluster'),
  markVoterLost: adminToken('owner', 'cluster'),
  removeMember: adminToken('owner', 'cluster'),
  replaceVoter: adminToken('owner', 'cluster'),
  transferLeadership: adminToken('owner', 'cluster'),
} as const satisfies Record<OperationId, Requirement>
