/**
 * Isolation: every route of a bucket against another tenant and against scopes that do not reach it.
 *
 * The routes are those of the plane, so a new one is asked as well; one that takes a JSON body needs a row below.
 */
import t from 'tap'
import { dataPlane } from '../../src/api/native/routes.ts'
import type { RouteDefinition } from '../../src/api/route.ts'
import type { Ask } from './api-world.ts'
import { BucketClient, idOf } from './bucket-client.ts'
import { denial, FILMS, PolicyClient } from './policy-client.ts'

/** By operation id: a body that would be accepted. */
const BODIES: Readonly<Record<string, object>> = {
  setBucketVersioning: { status: 'Enabled' },
  setBucketNotifications: { configs: [] },
  batchDeleteObjects: { objects: [{ key: 'in/a' }] },
  copyObject: { sourceBucket: 'own', sourceKey: 'k' },
  setObjectTags: { tags: {} },
  setObjectRetention: { mode: 'GOVERNANCE', retainUntil: '2099-01-01T00:00:00Z' },
  setObjectLegalHold: { status: 'ON' },
  completeMultipartUpload: { parts: [{ partNumber: 1, etag: `${'0'.repeat(32)}-1` }] },
  setBucketObjectLock: {},
  setBucketLifecycle: { rules: [{ status: 'Enabled', expiration: { days: 1 } }] },
  previewBucketLifecycle: { rules: [{ status: 'Enabled', expiration: { days: 1 } }] },
  setBucketReplication: {
    target: { endpoint: 'https://s3.example.net', bucket: 'copies', accessKeyId: 'AK', secretKey: 's' },
  },
  compareBucketReplication: {},
  setBucketCORS: { rules: [{ allowedOrigins: ['*'], allowedMethods: ['GET'] }] },
}

const routes = dataPlane.routes.filter(({ path, auth }) => path.includes('{bucket}') && auth === 'bearer')

function askOf(route: RouteDefinition, bucket: string, key = 'in/a'): Ask {
  const path = route.path
    .replace('{bucket}', bucket)
    .replace('{key...}', key)
    .replace('{partNumber}', '1')
    .replace('{uploadId}', `mpu_${'0'.repeat(26)}`)
    .replace('{configId}', 'a')
    .replace('{deliveryId}', `evt_${'0'.repeat(26)}-${'A'.repeat(16)}`)
  const body = route.body.kind === 'bytes' ? 'x' : BODIES[route.operation.id]
  return { method: route.method, path: `/api/v1${path}`, ...(body === undefined ? {} : { body }) }
}

t.test(
  'another tenant gets the answer of a bucket that does not exist [buckets.other-tenant] [buckets.create.per-tenant] [objects.copy.tenant] [errors.not_found]',
  async (t) => {
    const films = await BucketClient.start(t, { objectLockEnabled: true })
    await films.put('in/a')
    await films.world.memory.tenant('evil')
    const evil = films.as({
      token: await films.world.memory.bearer('evil', 'read,write,delete,admin'),
      name: 'own',
    })
    const create = (name: string) => evil.ask({ method: 'POST', path: '/api/v1/buckets', body: { name } })
    await create('own')
    await evil.put('k')
    t.ok(routes.length >= 18)
    for (const route of routes) {
      const theirs = await evil.ask(askOf(route, 'films'))
      const missing = await evil.ask(askOf(route, 'absent'))
      t.equal(theirs.status, 404, route.operation.id)
      if (route.method !== 'HEAD') t.equal(theirs.code, 'not_found')
      t.equal(
        String(theirs.json['message']).replace('films', 'absent'),
        String(missing.json['message']),
        'in the same words',
      )
    }
    const stolen = await evil.copy('stolen', { sourceBucket: 'films', sourceKey: 'in/a' })
    t.match(stolen, { status: 404, code: 'not_found' }, 'nor can it be copied from')
    t.equal((await create('films')).status, 201, 'and the name is free for them')
    t.equal((await films.get('in/a')).bytes.toString(), 'hello', 'nothing was touched')
  },
)

t.test(
  'access_denied: a scope with a prefix reaches only keys below it [objects.scope.prefix] [listing.scope] [buckets.scope.whole] [errors.access_denied]',
  async (t) => {
    const films = await BucketClient.start(t, { objectLockEnabled: true })
    await films.put('in/a')
    await films.put('out/a')
    const bearer = (scopes: string) => films.world.memory.bearer('acme', scopes)
    const verbs = ['read', 'write', 'delete', 'admin']
    const below = films.as({
      token: await bearer(verbs.map((verb) => `op=${verb}:bucket=films:prefix=in/`).join()),
    })
    const elsewhere = films.as({
      token: await bearer(verbs.map((verb) => `op=${verb}:bucket=films2:prefix=`).join()),
    })
    const denied = { status: 403, code: 'access_denied' }
    for (const route of routes) {
      const about = { status: 403 }
      t.match(await elsewhere.ask(askOf(route, 'films')), about, `${route.operation.id} from another bucket`)
      t.match(await elsewhere.ask(askOf(route, 'absent')), about, 'without revealing what exists')
      if (route.path.includes('{key...}'))
        t.match(
          await below.ask(askOf(route, 'films', 'out/a')),
          about,
          `${route.operation.id} beside the prefix`,
        )
    }
    for (const listing of ['objects', 'versions']) {
      const path = `/api/v1/buckets/films/${listing}`
      t.match(await below.ask({ path }), denied)
      t.match(await below.ask({ path: `${path}?prefix=i` }), denied)
      t.equal((await below.ask({ path: `${path}?prefix=in/` })).status, 200)
    }
    t.equal((await below.get('in/a')).status, 200)
    t.match(
      await below.ask({ method: 'DELETE', path: '/api/v1/buckets/films' }),
      denied,
      'it reaches all keys',
    )
    t.match(await below.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'mine' } }), denied)
    t.equal((await films.get('out/a')).bytes.toString(), 'hello', 'nothing was touched')
  },
)

t.test('access_denied: a read-only key changes nothing', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  await films.put('in/a')
  const reader = films.as({ token: await films.world.memory.bearer('acme', 'read') })
  const changing = routes.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  for (const route of changing) {
    const answer = await reader.ask(askOf(route, 'films'))
    t.match(answer, { status: 403, code: 'access_denied' }, route.operation.id)
  }
  t.equal((await films.get('in/a')).status, 200)
})

/** By operation id: the verb that opens it. Copies and notifications need two. [decisions 14, 17] */
const VERBS: Readonly<Record<string, string>> = {
  getBucket: 'read',
  deleteBucket: 'delete',
  getBucketUsage: 'read',
  getBucketVersioning: 'read',
  setBucketVersioning: 'write',
  getBucketNotifications: 'read',
  setBucketNotifications: 'read and write',
  deleteBucketNotifications: 'read and write',
  listNotificationDeliveries: 'read',
  redeliverNotification: 'write',
  testNotification: 'write',
  putObject: 'write',
  getObject: 'read',
  headObject: 'read',
  deleteObject: 'delete',
  listObjects: 'read',
  batchDeleteObjects: 'delete',
  copyObject: 'read and write',
  listObjectVersions: 'read',
  getObjectTags: 'read',
  setObjectTags: 'write',
  deleteObjectTags: 'write',
  getObjectRetention: 'read',
  setObjectRetention: 'write',
  getObjectLegalHold: 'read',
  setObjectLegalHold: 'write',
  createMultipartUpload: 'write',
  uploadPart: 'write',
  listParts: 'read',
  completeMultipartUpload: 'write',
  abortMultipartUpload: 'write',
  listMultipartUploads: 'read',
  getBucketObjectLock: 'read',
  setBucketObjectLock: 'admin',
  getBucketCORS: 'read',
  setBucketCORS: 'admin',
  deleteBucketCORS: 'admin',
  getBucketLifecycle: 'admin',
  setBucketLifecycle: 'admin',
  deleteBucketLifecycle: 'admin',
  previewBucketLifecycle: 'admin',
  getBucketReplication: 'admin',
  setBucketReplication: 'admin',
  deleteBucketReplication: 'admin',
  getReplicationStatus: 'admin',
  resyncBucketReplication: 'admin',
  retryBucketReplication: 'admin',
  compareBucketReplication: 'admin',
}

t.test(
  'access_denied: each verb opens its own operations and no other [objects.scope.verbs] [objects.scope.admin]',
  async (t) => {
    const films = await BucketClient.start(t, { objectLockEnabled: true })
    t.same(routes.map(({ operation }) => operation.id).sort(), Object.keys(VERBS).sort())
    for (const verb of ['read', 'write', 'delete', 'admin']) {
      const narrow = films.as({ token: await films.world.memory.bearer('acme', verb) })
      for (const route of routes) {
        await films.put('in/a')
        const { status } = await narrow.ask(askOf(route, 'films'))
        t.equal(
          status !== 403,
          VERBS[route.operation.id] === verb,
          `${verb} and ${route.operation.id}: ${status}`,
        )
      }
      const create = await narrow.ask({
        method: 'POST',
        path: '/api/v1/buckets',
        body: { name: `new-${verb}` },
      })
      t.equal(create.status, verb === 'write' ? 201 : 403, `${verb} and createBucket`)
    }
  },
)

t.test(
  'a policy that denies everything denies it on every route, and to no other key [policies.every-route]',
  async (t) => {
    const policies = await PolicyClient.start(t, { objectLockEnabled: true })
    const { films } = policies
    const key = await films.world.memory.accessKey('acme', 'read,write,delete,admin')
    const login = (pair: typeof key) =>
      films.as({ token: films.world.memory.services.access.exchange({ ...pair, clientAddress: 't' }).token })
    const denied = login(key)
    const spared = login(await films.world.memory.accessKey('acme', 'read,write,delete,admin'))
    await policies.set(denial({ Principal: { AWS: key.accessKeyId } }))
    for (const route of routes) {
      await films.put('in/a')
      const answer = await denied.ask(askOf(route, 'films'))
      if (route.operation.id === 'batchDeleteObjects')
        t.match(answer.json, { results: [{ error: { code: 'access_denied' } }] }, 'key by key')
      else t.match(answer, { status: 403 }, route.operation.id)
      const { status } = await spared.ask(askOf(route, 'films'))
      t.not(status, 403, `${route.operation.id} of another key: ${status}`)
    }
    t.match(await denied.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'films' } }), {
      status: 403,
    })
    t.equal(
      (await denied.ask({ path: '/api/v1/buckets' })).status,
      200,
      'a policy does not speak of the list of buckets',
    )
  },
)

t.test('a route that can name a version is authorized with it [policies.version]', async (t) => {
  const policies = await PolicyClient.start(t, { objectLockEnabled: true })
  const { films } = policies
  const naming = routes.filter(({ query }) => Object.hasOwn(query?.properties ?? {}, 'versionId'))
  t.ok(naming.length >= 10, naming.map(({ operation }) => operation.id).join())
  for (const route of naming) {
    const versionId = idOf(await films.put('in/a'))
    await policies.set(
      denial({ Resource: `${FILMS}/*`, Condition: { StringEquals: { 's3:VersionId': versionId } } }),
    )
    const ask = askOf(route, 'films')
    t.match(
      await films.ask({ ...ask, path: `${ask.path}?versionId=${versionId}` }),
      { status: 403 },
      route.operation.id,
    )
    t.not((await films.ask(ask)).status, 403, `${route.operation.id} of the newest`)
    await policies.clear()
  }
})
