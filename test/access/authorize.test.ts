/**
 * Every operation against every kind of principal: the table names those that pass, all others must be refused.
 *
 * The expectation is written manually from the contract and shares nothing with the definitions; an operation without a row here
 * fails.
 */
import t from 'tap'
import { authorize, canSeeBucket } from '../../src/access/authorize.ts'
import type { Target } from '../../src/access/base/target.ts'
import type { Principal } from '../../src/access/base/principal.ts'
import type { DataRights } from '../../src/access/rights.ts'
import { getObject } from '../../src/operations/objects/get-object.ts'
import { getTenant } from '../../src/operations/tenants/tenant-lookups.ts'
import { ADMIN_OPERATIONS, KEY_OPERATIONS, operationOf } from '../helpers/operations.ts'
import { key, PRINCIPALS } from './principals.ts'
import { S3_RIGHTS, type S3Right } from './s3-rights.ts'

const NO_POLICIES = { get: () => undefined }

type Name = keyof typeof PRINCIPALS
const NAMES = Object.keys(PRINCIPALS) as Name[]

const READERS: readonly Name[] = ['read', 'photosRead', 'inRead', 'anyBucketInRead']
const WRITERS: readonly Name[] = ['write', 'photosWrite', 'inWrite']
const ACCESS_KEYS: readonly Name[] = [
  'read',
  'write',
  'delete',
  'admin',
  'photosRead',
  'photosWrite',
  'photosDelete',
  'photosAdmin',
  'inAdmin',
  'inRead',
  'inWrite',
  'inDelete',
  'anyBucketInRead',
  'elsewhere',
]
const KEY_MAKERS: readonly Name[] = ['operator', 'owner', 'acmeOwner']
const OPERATORS: readonly Name[] = [...KEY_MAKERS, 'ownerWithoutKeys', 'acmeOperatorWithoutKeys']
const VIEWERS: readonly Name[] = [...OPERATORS, 'viewer', 'acmeViewer']
const OWNERS: readonly Name[] = ['owner', 'ownerWithoutKeys']
const ADMIN_TOKENS: readonly Name[] = NAMES.filter((name) => PRINCIPALS[name]?.kind === 'adminToken')
const TENANT_OWNERS: readonly Name[] = [...OWNERS, 'acmeOwner']

/** Target: tenant acme, bucket photos, key (or listed prefix) in/1. */
const ALLOWED = {
  healthz: NAMES,
  readyz: NAMES,
  getOpenAPI: NAMES,
  createToken: NAMES,
  preflightSigned: NAMES,
  createTemporaryToken: ACCESS_KEYS,
  // Signing requires the scope of the operation that the URL is for.
  signURL: ACCESS_KEYS,
  getSigned: ['getUrl'],
  putSigned: ['putUrl', 'prefixUrl'],
  adminHealthz: NAMES,
  adminReadyz: NAMES,
  getAdminOpenAPI: NAMES,
  listBuckets: ['read', 'photosRead', 'inRead', 'anyBucketInRead', 'elsewhere'],
  createBucket: ['write', 'photosWrite'],
  getBucket: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
  deleteBucket: ['delete', 'photosDelete'],
  getBucketUsage: ['read', 'photosRead'],
  getBucketVersioning: READERS,
  setBucketVersioning: ['write', 'photosWrite'],
  getBucketObjectLock: READERS,
  setBucketObjectLock: ['admin', 'photosAdmin'],
  getBucketCORS: READERS,
  setBucketCORS: ['admin', 'photosAdmin'],
  deleteBucketCORS: ['admin', 'photosAdmin'],
  getBucketLifecycle: ['admin', 'photosAdmin'],
  setBucketLifecycle: ['admin', 'photosAdmin'],
  deleteBucketLifecycle: ['admin', 'photosAdmin'],
  previewBucketLifecycle: ['admin', 'photosAdmin'],
  getBucketReplication: ['admin', 'photosAdmin'],
  setBucketReplication: ['admin', 'photosAdmin'],
  deleteBucketReplication: ['admin', 'photosAdmin'],
  getReplicationStatus: ['admin', 'photosAdmin'],
  resyncBucketReplication: ['admin', 'photosAdmin'],
  retryBucketReplication: ['admin', 'photosAdmin'],
  compareBucketReplication: ['admin', 'photosAdmin'],
  getBucketNotifications: READERS,
  // Each of them needs two verbs, and no principal here has both.
  setBucketNotifications: [],
  deleteBucketNotifications: [],
  listNotificationDeliveries: ['read', 'photosRead'],
  redeliverNotification: ['write', 'photosWrite'],
  testNotification: ['write', 'photosWrite'],
  putObject: [...WRITERS, 'putUrl', 'prefixUrl'],
  getObject: ['read', 'photosRead', 'inRead', 'anyBucketInRead', 'getUrl'],
  headObject: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
  deleteObject: ['delete', 'photosDelete', 'inDelete'],
  listObjects: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
  batchDeleteObjects: ['delete', 'photosDelete', 'inDelete'],
  copyObject: WRITERS,
  listObjectVersions: READERS,
  getObjectTags: READERS,
  setObjectTags: WRITERS,
  deleteObjectTags: WRITERS,
  getObjectRetention: READERS,
  setObjectRetention: WRITERS,
  getObjectLegalHold: READERS,
  setObjectLegalHold: WRITERS,
  createMultipartUpload: ['write', 'photosWrite', 'inWrite'],
  uploadPart: ['write', 'photosWrite', 'inWrite'],
  listParts: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
  completeMultipartUpload: ['write', 'photosWrite', 'inWrite'],
  abortMultipartUpload: ['write', 'photosWrite', 'inWrite'],
  listMultipartUploads: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
  getClusterDoctor: ['viewer', 'operator', ...OWNERS],
  getClusterHistory: ['viewer', 'operator', ...OWNERS],
  getMetrics: ['viewer', 'operator', ...OWNERS],
  getSession: ADMIN_TOKENS,
  listTenants: [...VIEWERS, 'rivalOwner'],
  createTenant: ['operator', ...OWNERS],
  getTenant: VIEWERS,
  disableTenant: TENANT_OWNERS,
  deleteTenant: TENANT_OWNERS,
  getTenantEncryption: VIEWERS,
  exchangeDataKey: OPERATORS,
  getClusterEncryption: ['viewer', 'operator', ...OWNERS],
  getTenantQuota: VIEWERS,
  setTenantQuota: OPERATORS,
  deleteTenantQuota: OPERATORS,
  getTenantLimits: VIEWERS,
  setTenantLimits: ['operator', ...OWNERS],
  deleteTenantLimits: ['operator', ...OWNERS],
  pruneBackups: OWNERS,
  restoreBackup: OWNERS,
  listBackupTargets: ['viewer', 'operator', ...OWNERS],
  getBackupTarget: ['viewer', 'operator', ...OWNERS],
  setBackupTarget: OWNERS,
  deleteBackupTarget: OWNERS,
  getTenantReplication: VIEWERS,
  setTenantReplication: TENANT_OWNERS,
  deleteTenantReplication: TENANT_OWNERS,
  listBackupSchedules: ['viewer', 'operator', ...OWNERS],
  getBackupSchedule: ['viewer', 'operator', ...OWNERS],
  setBackupSchedule: ['operator', ...OWNERS],
  deleteBackupSchedule: ['operator', ...OWNERS],
  getTenantUsage: VIEWERS,
  listTenantAccounts: VIEWERS,
  createTenantAccount: OPERATORS,
  listTenantKeys: VIEWERS,
  testAccess: VIEWERS,
  createTenantKey: KEY_MAKERS,
  rotateTenantKey: KEY_MAKERS,
  revokeTenantKey: OPERATORS,
  getTenantBucketPolicy: TENANT_OWNERS,
  setTenantBucketPolicy: TENANT_OWNERS,
  deleteTenantBucketPolicy: TENANT_OWNERS,
  listApprovals: [...TENANT_OWNERS, 'rivalOwner'],
  getApproval: [...TENANT_OWNERS, 'rivalOwner'],
  approveChange: [...TENANT_OWNERS, 'rivalOwner'],
  rejectChange: [...TENANT_OWNERS, 'rivalOwner'],
  rebalance: OWNERS,
  listOperations: OWNERS,
  getOperation: OWNERS,
  cancelOperation: OWNERS,
  pauseOperation: OWNERS,
  resumeOperation: OWNERS,
  createBackup: ['operator', ...OWNERS],
  listClusterBackups: ['operator', ...OWNERS],
  getClusterBackup: ['operator', ...OWNERS],
  verifyClusterBackup: ['operator', ...OWNERS],
  getRepair: OWNERS,
  getClusterPlacement: OWNERS,
  getChanges: OWNERS,
  getEvents: OWNERS,
  planClusterPlacement: OWNERS,
  setMemberPlacement: OWNERS,
  deleteMemberPlacement: OWNERS,
  listMemberDisks: OWNERS,
  drainDisk: OWNERS,
  cancelDiskDrain: OWNERS,
  setRepair: OWNERS,
  scrub: OWNERS,
  recount: OWNERS,
  resumeCollection: OWNERS,
  getClusterTime: OWNERS,
  confirmClusterTime: OWNERS,
  setBackClusterTime: OWNERS,
  queryAuditLog: [...VIEWERS, 'rivalOwner', 'auditor', 'acmeAuditor'],
  verifyAuditChain: ['auditor', 'viewer', 'operator', ...OWNERS],
  getClusterMembership: OWNERS,
  joinVoter: OWNERS,
  demoteVoter: OWNERS,
  markVoterLost: OWNERS,
  removeMember: OWNERS,
  replaceVoter: OWNERS,
  transferLeadership: OWNERS,
} as const satisfies Record<string, readonly Name[]>

/** Of operations that only the S3 API has. */
const BY_S3: Readonly<Record<S3Right, readonly Name[]>> = {
  read: READERS,
  write: WRITERS,
  'write, whole bucket': ['write', 'photosWrite'],
  'admin, whole bucket': ['admin', 'photosAdmin'],
}

type OperationId = keyof typeof ALLOWED

/** `true` would compile if an operation of the data plane could be authorized without the policies. */
type CanForgetPolicies = typeof authorize extends (
  principal: Principal,
  rights: DataRights,
  target: Target,
) => void
  ? true
  : false
const CAN_FORGET_POLICIES: CanForgetPolicies = false

function answer(name: Name, operationId: string, target: Target): string {
  try {
    const operation = operationOf(operationId)
    if ('s3Action' in operation) authorize(PRINCIPALS[name], operation, target, NO_POLICIES)
    else authorize(PRINCIPALS[name], operation, target)
    return 'allowed'
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}

t.test('authorize', async (t) => {
  t.test(
    'admits exactly the principals of the table, for every operation [admin.roles.table] [admin.tokens.auditor] [admin.tokens.no-keys]',
    async (t) => {
      const ids = [...KEY_OPERATIONS, ...ADMIN_OPERATIONS].map(({ id }) => id)
      const named = [...Object.keys(ALLOWED), ...Object.keys(S3_RIGHTS)]
      t.same(named.sort(), [...ids].sort(), 'every operation has its row, once')
      for (const operationId of Object.keys(ALLOWED) as OperationId[]) {
        const isOfData = KEY_OPERATIONS.some(({ id }) => id === operationId)
        const target = isOfData ? { bucket: 'photos', key: 'in/1' } : { tenantId: 'acme' }
        const allowed: readonly Name[] = ALLOWED[operationId]
        const passed = NAMES.filter((name) => answer(name, operationId, target) === 'allowed')
        t.strictSame([...passed].sort(), [...allowed].sort(), operationId)
      }
      for (const [id, right] of Object.entries(S3_RIGHTS)) {
        const target = { bucket: 'photos', key: 'in/1' }
        const passed = NAMES.filter((name) => answer(name, id, target) === 'allowed')
        t.strictSame([...passed].sort(), [...BY_S3[right]].sort(), id)
      }
    },
  )

  t.test('refuses a prefix-limited key outside of its prefix', async (t) => {
    for (const outside of ['out/1', 'in', 'i', '', 'IN/1', 'xin/1']) {
      const target = { bucket: 'photos', key: outside }
      const readers = [
        'getObject',
        'headObject',
        'listObjects',
        'listObjectVersions',
        'getObjectTags',
        'getObjectRetention',
        'getObjectLegalHold',
      ] as const
      for (const id of readers) {
        t.equal(answer('inRead', id, target), 'access_denied', `${id} '${outside}'`)
        t.equal(answer('anyBucketInRead', id, target), 'access_denied', `${id} '${outside}'`)
        t.equal(answer('photosRead', id, target), 'allowed')
      }
      const writers = [
        'putObject',
        'copyObject',
        'setObjectTags',
        'deleteObjectTags',
        'setObjectRetention',
        'setObjectLegalHold',
      ] as const
      for (const id of writers) t.equal(answer('inWrite', id, target), 'access_denied', `${id} '${outside}'`)
      t.equal(answer('inDelete', 'deleteObject', target), 'access_denied')
    }
  })

  t.test(
    'notifications take read and write, each over the whole bucket [notifications.rights]',
    async (t) => {
      const target = { bucket: 'photos' }
      const passes = (scopes: string, id: OperationId) => {
        const operation = operationOf(id)
        if (!('s3Action' in operation)) throw new Error('an operation of the data plane')
        try {
          authorize(key(scopes), operation, target, NO_POLICIES)
          return true
        } catch (error) {
          t.match(error, { code: 'access_denied' })
          return false
        }
      }
      const over = (verb: string, prefix = '', bucket = 'photos') =>
        `op=${verb}:bucket=${bucket}:prefix=${prefix}`
      for (const id of ['setBucketNotifications', 'deleteBucketNotifications'] as const) {
        for (const scopes of [
          'read,write',
          `${over('read')},${over('write')}`,
          `${over('read', '', '*')},${over('write')}`,
        ])
          t.ok(passes(scopes, id), `${id} ${scopes}`)
        for (const scopes of [
          'write,delete,admin',
          'read,delete,admin',
          `${over('read', 'in/')},${over('write')}`,
          `${over('read')},${over('write', 'in/')}`,
          `${over('read', '', 'photos2')},${over('write')}`,
          `${over('read')},${over('write', '', 'photos2')}`,
        ])
          t.notOk(passes(scopes, id), `${id} ${scopes}`)
      }
    },
  )

  t.test(
    'answers unauthorized without a principal, access_denied to a wrong kind or role, tenant_scope_denied across tenants',
    async (t) => {
      t.equal(answer('unauthenticated', 'getObject', { bucket: 'photos', key: 'in/1' }), 'unauthorized')
      t.equal(answer('owner', 'getObject', { bucket: 'photos', key: 'in/1' }), 'access_denied')
      t.equal(answer('read', 'getTenant', { tenantId: 'acme' }), 'access_denied')
      t.equal(answer('viewer', 'createTenantKey', { tenantId: 'acme' }), 'access_denied')
      for (const id of [
        'getTenant',
        'listTenantAccounts',
        'createTenantAccount',
        'listTenantKeys',
        'createTenantKey',
        'rotateTenantKey',
        'revokeTenantKey',
        'setTenantBucketPolicy',
      ] as const) {
        t.equal(answer('rivalOwner', id, { tenantId: 'acme' }), 'tenant_scope_denied', id)
        t.equal(answer('rivalOwner', id, { tenantId: 'no-such-tenant' }), 'tenant_scope_denied', id)
      }
      t.equal(answer('acmeOwner', 'createTenant', { tenantId: 'acme' }), 'tenant_scope_denied')
      t.equal(answer('acmeOwner', 'getMetrics', {}), 'tenant_scope_denied')
    },
  )

  t.test('answers signed_url_mismatch to a URL for something else, access_denied without one', async (t) => {
    const target = { bucket: 'photos', key: 'in/1' }
    for (const name of ['putUrl', 'otherKeyUrl', 'otherBucketUrl', 'prefixUrl'] as const)
      t.equal(answer(name, 'getSigned', target), 'signed_url_mismatch', name)
    t.equal(
      answer('getUrl', 'deleteObject', target),
      'signed_url_mismatch',
      'regardless of the scopes of its key',
    )
    t.equal(answer('getUrl', 'listObjects', { bucket: 'photos', key: '' }), 'signed_url_mismatch')
    t.equal(answer('getUrl', 'signURL', {}), 'signed_url_mismatch', 'a URL makes no other URLs')
    t.equal(answer('getUrl', 'listBuckets', {}), 'signed_url_mismatch')
    t.equal(answer('unscopedUrl', 'getSigned', target), 'access_denied', 'the scopes of the key hold as well')
    t.equal(answer('read', 'getSigned', target), 'access_denied')
    for (const key of ['in', 'i', '', 'IN/1', 'xin/1', 'out/1'])
      t.equal(answer('prefixUrl', 'putSigned', { bucket: 'photos', key }), 'signed_url_mismatch', key)
  })

  t.test(
    'fails an assertion when an operation names no target, or takes the tenant from elsewhere',
    async (t) => {
      t.throws(() => authorize(PRINCIPALS.read, getObject, {}, NO_POLICIES), { name: 'AssertionError' })
      t.throws(() => authorize(PRINCIPALS.read, getObject, { bucket: 'photos' }, NO_POLICIES), {
        name: 'AssertionError',
      })
      t.throws(() => authorize(PRINCIPALS.owner, getTenant, {}), { name: 'AssertionError' })
      const elsewhere = { tenantId: 'rival', bucket: 'photos', key: 'in/1' }
      t.throws(() => authorize(PRINCIPALS.read, getObject, elsewhere, NO_POLICIES), {
        name: 'AssertionError',
      })
    },
  )

  t.test(
    'requires an access key in the data plane and an admin token in the admin plane, or nothing',
    async (t) => {
      for (const { id, requires } of KEY_OPERATIONS) t.not(requires.kind, 'adminToken', id)
      for (const { id, requires } of ADMIN_OPERATIONS) t.not(requires.kind, 'accessKey', id)
    },
  )
})

t.test('authorize does not compile without policies on the data plane', async (t) => {
  t.notOk(CAN_FORGET_POLICIES)
})

t.test('canSeeBucket shows the buckets that some scope reaches', async (t) => {
  const principal = key('op=read:bucket=photos:prefix=in/,op=write:bucket=inbox:prefix=')
  t.strictSame(
    ['photos', 'inbox', 'photos2', 'secret'].filter((bucket) => canSeeBucket(principal, bucket)),
    ['photos', 'inbox'],
  )
  t.ok(canSeeBucket(PRINCIPALS.delete, 'anything'))
})
