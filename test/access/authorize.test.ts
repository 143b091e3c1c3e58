/**
 * Every operation against every kind of principal: the table says who passes, everybody else must be refused.
 *
 * The expectation is written out by hand from the contract and shares nothing with requirements.ts; an operation id
 * without a row here does not compile.
 */
import t from 'tap'
import { authorize, canSeeBucket, type Target } from '../../src/access/authorize.ts'
import {
  ADMIN_OPERATION_IDS,
  DATA_OPERATION_IDS,
  type DataOperationId,
  type OperationId,
} from '../../src/access/operation-ids.ts'
import type { AccessKeyPrincipal, AdminTokenPrincipal, Principal } from '../../src/access/principal.ts'
import { REQUIREMENTS } from '../../src/access/requirements.ts'
import { parseScopes } from '../../src/access/scopes.ts'
import type { AdminRole } from '../../src/state-machine/records.ts'

const key = (scopes: string): AccessKeyPrincipal => ({
  kind: 'accessKey',
  accessKeyId: 'AKTEST',
  tenantId: 'acme',
  scopes: parseScopes(scopes),
})
const admin = (role: AdminRole, tenantId: string | null): AdminTokenPrincipal => ({
  kind: 'adminToken',
  tokenId: 'adm_1',
  role,
  tenantId,
})

const PRINCIPALS = {
  nobody: null,
  read: key('read'),
  write: key('write'),
  delete: key('delete'),
  admin: key('admin'),
  photosRead: key('op=read:bucket=photos:prefix='),
  photosWrite: key('op=write:bucket=photos:prefix='),
  photosDelete: key('op=delete:bucket=photos:prefix='),
  inRead: key('op=read:bucket=photos:prefix=in/'),
  inWrite: key('op=write:bucket=photos:prefix=in/'),
  inDelete: key('op=delete:bucket=photos:prefix=in/'),
  anyBucketInRead: key('op=read:bucket=*:prefix=in/'),
  elsewhere: key(
    ['read', 'write', 'delete', 'admin'].map((verb) => `op=${verb}:bucket=photos2:prefix=`).join(),
  ),
  viewer: admin('viewer', null),
  operator: admin('operator', null),
  owner: admin('owner', null),
  acmeViewer: admin('viewer', 'acme'),
  acmeOwner: admin('owner', 'acme'),
  rivalOwner: admin('owner', 'rival'),
} as const satisfies Record<string, Principal | null>

type Name = keyof typeof PRINCIPALS
const NAMES = Object.keys(PRINCIPALS) as Name[]

const READERS: readonly Name[] = ['read', 'photosRead', 'inRead', 'anyBucketInRead']
const WRITERS: readonly Name[] = ['write', 'photosWrite', 'inWrite']
const VIEWERS: readonly Name[] = ['viewer', 'operator', 'owner', 'acmeViewer', 'acmeOwner']
const OPERATORS: readonly Name[] = ['operator', 'owner', 'acmeOwner']

/** Target: tenant acme, bucket photos, key (or listed prefix) in/1. */
const ALLOWED = {
  healthz: NAMES,
  readyz: NAMES,
  getOpenAPI: NAMES,
  createToken: NAMES,
  adminHealthz: NAMES,
  adminReadyz: NAMES,
  getAdminOpenAPI: NAMES,
  listBuckets: ['read', 'photosRead', 'inRead', 'anyBucketInRead', 'elsewhere'],
  createBucket: ['write', 'photosWrite'],
  getBucket: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
  deleteBucket: ['delete', 'photosDelete'],
  getBucketVersioning: READERS,
  setBucketVersioning: ['write', 'photosWrite'],
  getBucketNotifications: READERS,
  setBucketNotifications: ['write', 'photosWrite'],
  deleteBucketNotifications: ['write', 'photosWrite'],
  listNotificationDeliveries: ['read', 'photosRead'],
  redeliverNotification: ['write', 'photosWrite'],
  testNotification: ['write', 'photosWrite'],
  putObject: WRITERS,
  getObject: ['read', 'photosRead', 'inRead', 'anyBucketInRead'],
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
  getMetrics: ['viewer', 'operator', 'owner'],
  listTenants: [...VIEWERS, 'rivalOwner'],
  createTenant: ['operator', 'owner'],
  getTenant: VIEWERS,
  getTenantUsage: VIEWERS,
  listTenantKeys: VIEWERS,
  createTenantKey: OPERATORS,
  rotateTenantKey: OPERATORS,
  revokeTenantKey: OPERATORS,
  rebalance: ['owner'],
  listOperations: ['owner'],
  getOperation: ['owner'],
  cancelOperation: ['owner'],
  pauseOperation: ['owner'],
  resumeOperation: ['owner'],
  getRepair: ['owner'],
  setRepair: ['owner'],
  scrub: ['owner'],
  recount: ['owner'],
  resumeCollection: ['owner'],
} as const satisfies Record<OperationId, readonly Name[]>

function answer(name: Name, operationId: OperationId, target: Target): string {
  try {
    authorize(PRINCIPALS[name], operationId, target)
    return 'allowed'
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}

const isData = (id: OperationId): id is DataOperationId => DATA_OPERATION_IDS.some((data) => data === id)

t.test('authorize', async (t) => {
  t.test('lets pass exactly whom the table names, for every operation and principal', async (t) => {
    for (const operationId of [...DATA_OPERATION_IDS, ...ADMIN_OPERATION_IDS]) {
      const target = isData(operationId) ? { bucket: 'photos', key: 'in/1' } : { tenantId: 'acme' }
      const allowed: readonly Name[] = ALLOWED[operationId]
      const passed = NAMES.filter((name) => answer(name, operationId, target) === 'allowed')
      t.strictSame([...passed].sort(), [...allowed].sort(), operationId)
    }
  })

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
    'says unauthorized to nobody, access_denied to the wrong kind or role, tenant_scope_denied across tenants',
    async (t) => {
      t.equal(answer('nobody', 'getObject', { bucket: 'photos', key: 'in/1' }), 'unauthorized')
      t.equal(answer('owner', 'getObject', { bucket: 'photos', key: 'in/1' }), 'access_denied')
      t.equal(answer('read', 'getTenant', { tenantId: 'acme' }), 'access_denied')
      t.equal(answer('viewer', 'createTenantKey', { tenantId: 'acme' }), 'access_denied')
      for (const id of [
        'getTenant',
        'listTenantKeys',
        'createTenantKey',
        'rotateTenantKey',
        'revokeTenantKey',
      ] as const) {
        t.equal(answer('rivalOwner', id, { tenantId: 'acme' }), 'tenant_scope_denied', id)
        t.equal(answer('rivalOwner', id, { tenantId: 'no-such-tenant' }), 'tenant_scope_denied', id)
      }
      t.equal(answer('acmeOwner', 'createTenant', { tenantId: 'acme' }), 'tenant_scope_denied')
      t.equal(answer('acmeOwner', 'getMetrics', {}), 'tenant_scope_denied')
    },
  )

  t.test(
    'stops when an operation forgets to say what it aims at, or takes the tenant from elsewhere',
    async (t) => {
      t.throws(() => authorize(PRINCIPALS.read, 'getObject', {}), { name: 'AssertionError' })
      t.throws(() => authorize(PRINCIPALS.read, 'getObject', { bucket: 'photos' }), {
        name: 'AssertionError',
      })
      t.throws(() => authorize(PRINCIPALS.owner, 'getTenant', {}), { name: 'AssertionError' })
      const elsewhere = { tenantId: 'rival', bucket: 'photos', key: 'in/1' }
      t.throws(() => authorize(PRINCIPALS.read, 'getObject', elsewhere), { name: 'AssertionError' })
    },
  )

  t.test(
    'asks for an access key in the data plane and an admin token in the admin plane, or nothing',
    async (t) => {
      for (const id of DATA_OPERATION_IDS) t.not(REQUIREMENTS[id].kind, 'adminToken', id)
      for (const id of ADMIN_OPERATION_IDS) t.not(REQUIREMENTS[id].kind, 'accessKey', id)
    },
  )
})

t.test('canSeeBucket shows the buckets that some scope reaches', async (t) => {
  const principal = key('op=read:bucket=photos:prefix=in/,op=write:bucket=inbox:prefix=')
  t.strictSame(
    ['photos', 'inbox', 'photos2', 'secret'].filter((bucket) => canSeeBucket(principal, bucket)),
    ['photos', 'inbox'],
  )
  t.ok(canSeeBucket(PRINCIPALS.delete, 'anything'))
})
