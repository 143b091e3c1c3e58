/**
 * The replication of all buckets of a tenant through the admin API. [docs/adr/0098-what-replication-sends.md]
 */
import t, { type Test } from 'tap'
import { SiteFault } from '../../src/operations/base/remote-store.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { siteKeys } from '../../src/state-machine/sites/keys.ts'
import { ApiWorld, type Ask } from './api-world.ts'

const PATH = '/admin/api/v1/tenants/acme/replication'
const SECRET = 'the-secret-of-the-target'
const TARGET = { endpoint: 'https://s3.other.example', bucketPrefix: 'acme-', accessKeyId: 'AKOTHER' }

async function start(t: Test) {
  const { world, token } = await ApiWorld.withBucket(t)
  const owner = await world.memory.adminToken('owner')
  const ask = (more: Partial<Ask> = {}) => world.call({ path: PATH, token: owner, admin: true, ...more })
  const set = (body: object = {}, query = '') =>
    ask({
      method: 'PUT',
      path: `${PATH}${query}`,
      body: { target: { ...TARGET, secretKey: SECRET }, ...body },
    })
  return { world, token, ask, set, site: world.memory.otherSite, services: world.memory.services }
}

t.test('set, read, replace and remove', async (t) => {
  const { ask, set, services } = await start(t)
  const unset = { status: 404, code: 'not_found', json: { message: /is not replicated as a whole/ } }
  t.match(await ask(), unset)
  const shown = {
    tenantId: 'acme',
    target: { ...TARGET, region: 'us-east-1', virtualHost: false },
    rules: [{ id: 'everything', status: 'Enabled', deletes: 'markers' }],
    createBuckets: true,
    existing: false,
    waiting: [],
  }
  t.match(await set({ createBuckets: true }), { status: 200, json: shown })
  const read = await ask()
  t.match(read, { status: 200, json: shown })
  t.notMatch(JSON.stringify(read.json), SECRET, 'no answer shows the secret')
  const site = services.state.get(siteKeys.tenantSite('acme'))
  t.equal(services.siteSecrets.openOfTenant('acme', site?.secret ?? new Uint8Array(0)), SECRET)
  const kept = await ask({ method: 'PUT', body: { target: TARGET } })
  t.match(kept, { status: 200, json: { createBuckets: false } }, 'the secret stays')
  const elsewhere = { ...TARGET, endpoint: 'https://s3.third.example' }
  t.match(await ask({ method: 'PUT', body: { target: elsewhere } }), {
    status: 400,
    json: { message: /target.secretKey is missing/ },
  })
  for (const again of ['first', 'again']) t.equal((await ask({ method: 'DELETE' })).status, 204, again)
  t.match(await ask(), unset)
})

t.test('a dry run says which buckets it is about, and changes nothing', async (t) => {
  const { world, token, ask, set } = await start(t)
  const buckets = '/api/v1/buckets'
  const admin = await world.memory.bearer('acme', 'read,write,delete,admin')
  for (const name of ['own', 'third'])
    await world.call({ method: 'POST', path: buckets, token, body: { name } })
  const own = {
    target: { endpoint: TARGET.endpoint, bucket: 'copies', accessKeyId: 'AK', secretKey: SECRET },
  }
  const path = `${buckets}/own/replication`
  t.equal((await world.call({ method: 'PUT', path, token: admin, body: own })).status, 200)
  const planned = await set({}, '?dryRun=true')
  t.match(planned, {
    status: 200,
    json: { allowed: true, plan: { before: null, buckets: { follow: 2, own: 1, copies: 0 } } },
  })
  t.equal((await ask()).status, 404)
  await set()
  const removal = await ask({ method: 'DELETE', path: `${PATH}?dryRun=true` })
  t.match(removal.json, { plan: { before: { tenantId: 'acme' }, buckets: { follow: 2, own: 1 } } })
  t.equal((await ask()).status, 200)
})

t.test('invalid_request, invalid_argument, target_refused', async (t) => {
  const { ask, set, site } = await start(t)
  const target = { ...TARGET, secretKey: SECRET }
  for (const [body, code, message] of [
    [{ target: { ...target, bucketPrefix: 'No_' } }, 'invalid_argument', /target.bucketPrefix/],
    [{ target: { ...target, endpoint: 'http://s3.example.net' } }, 'invalid_request', /use https/],
    [{ target: { ...target, region: 'a b' } }, 'invalid_argument', /target.region/],
    [{ rules: [{}, { filter: { prefix: 'a/' } }] }, 'invalid_request', /rules.1 never decides/],
  ] as const)
    t.match(await set(body), { status: 400, code, json: { message } }, String(message))
  site.fault = () =>
    new SiteFault('unreachable', 'ListBuckets was answered 403', { s3Code: 'SignatureDoesNotMatch' })
  t.match(await set(), { status: 424, code: 'target_refused', json: { message: /check target.secretKey/ } })
  site.fault = () => null
  t.equal((await ask()).status, 404)
})

t.test('precondition_failed below feature level 7', async (t) => {
  const { set, world } = await start(t)
  world.memory.featureLevel = 6
  t.match(await set(), { status: 412, code: 'precondition_failed' })
})

t.test('a bucket that waits for its target says so', async (t) => {
  const { world, ask, set, services } = await start(t)
  await set()
  const site = services.state.get(siteKeys.tenantSite('acme'))
  const admin = await world.memory.bearer('acme', 'read,write,delete,admin')
  const photos = await world.call({ path: '/api/v1/buckets/photos', token: admin })
  const { state } = services

  const bucketId = state.get(bucketKeys.bucket('acme', 'photos'))?.id ?? ''
  t.equal(photos.status, 200)
  await world.memory.change({
    type: 'recordWaitingSite',
    tenantId: 'acme',
    name: 'photos',
    bucketId,
    revision: site?.revision ?? 0,
    error: 'ListObjectsV2 was answered 404 NoSuchBucket',
    jitter: 0,
  })
  t.match((await ask()).json, { waiting: [{ bucket: 'photos', attempts: 1, error: /NoSuchBucket/ }] })
  t.match(await world.call({ path: '/api/v1/buckets/photos/replication/status', token: admin }), {
    status: 404,
    json: { message: /is not replicated yet, though its tenant is: .*NoSuchBucket/ },
  })
})
