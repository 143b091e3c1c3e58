/**
 * What a tenant may pile up beside the bytes of objects: with a small quota versions, markers, uploads, parts, tags and
 * configurations end somewhere, and what frees room is never refused. [docs/adr/0043-what-a-tenant-may-pile-up.md]
 */
import t, { type Test } from 'tap'
import type { ApiAnswer } from './api-world.ts'
import { BucketClient, idOf } from './bucket-client.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'

/** The quota of the attack: next to nothing. */
const SMALL = { maxBytes: 1000, maxObjects: 3, maxBuckets: 2 }
const METADATA = { 'x-service-meta-note': 'm'.repeat(1900) }
const TAGS = Array.from({ length: 10 }, (_, n) => `${'k'.repeat(120)}${n}=${'v'.repeat(256)}`).join('&')
const HEAVY = { ...METADATA, 'x-service-tagging': TAGS }
const full = { status: 507, code: 'quota_exceeded' }

async function start(t: Test, quota: object = SMALL) {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const { memory } = films.world
  const operator = await memory.adminToken('operator')
  const path = '/admin/api/v1/tenants/acme/quota'
  const setQuota = (body: object) =>
    films.world.call({ admin: true, token: operator, path, method: 'PUT', body })
  t.equal((await setQuota(quota)).status, 200)
  const usage = () => usageOf(memory.services.state, 'acme')
  const differences = async () => (await recountState(memory.reader, () => true))?.differences
  return { films, memory, setQuota, usage, differences, path, operator }
}

/** How many of `most` calls pass before the first that is refused for the quota. */
async function untilFull(most: number, call: (n: number) => Promise<ApiAnswer>): Promise<number> {
  for (let n = 0; n < most; n++) {
    const { status, code } = await call(n)
    if (status === 507 && code === 'quota_exceeded') return n
    if (status >= 300) throw new Error(`call ${n}: ${status} ${String(code)}`)
  }
  return most
}

t.test(
  'a small quota ends versions, markers, uploads, parts, tags and configs [admin.quotas.piled-up]',
  async (t) => {
    const attacks = {
      'empty versions with metadata and tags': (films: BucketClient) => (n: number) =>
        films.put(`k${n % 3}`, '', HEAVY),
      'markers of keys that never existed': (films: BucketClient) => (n: number) =>
        films.remove(`no-such-key-${n}`),
      'unfinished uploads with metadata and tags': (films: BucketClient) => (n: number) =>
        films.on('multipart', `u${n}`, { method: 'POST', headers: HEAVY }),
      'rules for browsers': (films: BucketClient) => async (n: number) => {
        if (n < 9) return films.put('k', '', HEAVY)
        const allowedOrigins = Array.from(
          { length: 90 },
          (_, at) => `https://${'o'.repeat(200)}${at}.example`,
        )
        const body = { rules: [{ allowedOrigins, allowedMethods: ['GET'], allowedHeaders: [`x-${n}`] }] }
        const admin = await films.asAdmin()
        return admin.ask({ method: 'PUT', path: '/api/v1/buckets/films/cors', body })
      },
      'webhook configs': (films: BucketClient) => (n: number) => {
        if (n < 9) return films.put('k', '', HEAVY)
        const configs = Array.from({ length: 30 }, (_, at) => ({
          id: `c${at}`,
          url: `https://h${at}.example/${'p'.repeat(1200)}?${n}`,
          events: ['object-created'],
        }))
        return films.ask({ method: 'PUT', path: '/api/v1/buckets/films/notifications', body: { configs } })
      },
    }
    for (const [what, attack] of Object.entries(attacks)) {
      const { films, usage, differences } = await start(t)
      const passed = await untilFull(400, attack(films))
      t.ok(passed < 260, `${what}: ${passed} passed`)
      t.ok((usage().metadataBytes ?? 0) <= 65_536, `${what}: ${usage().metadataBytes} bytes`)
      t.same(await differences(), [], `${what}: a recount finds the same`)
    }
  },
)

t.test('parts and tags of what is there already end as well', async (t) => {
  const { films, differences } = await start(t)
  await films.put('k')
  const upload = await films.on('multipart', 'u', { method: 'POST', body: {} })
  const id = String(upload.json['uploadId'])
  const parts = await untilFull(400, (n) =>
    films.on('multipart', `${id}/parts/${n + 1}/u`, { method: 'PUT', body: '' }),
  )
  t.ok(parts > 19 && parts < 260, `${parts} empty parts`)
  const tags = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`${'k'.repeat(120)}${n}`, 'v'.repeat(256)]),
  )
  const setTags = (body: object) => films.on('object-tags', 'k', { method: 'PUT', body })
  t.match(await setTags({ tags }), full)
  t.equal((await setTags({ tags: {} })).status, 200, 'fewer tags always fit')
  t.match(await films.put('k', '', METADATA), full)
  t.equal((await films.on('multipart', `${id}/u`, { method: 'DELETE' })).status, 204)
  t.equal((await setTags({ tags })).status, 200, 'what an abort freed can be used')
  t.same(await differences(), [])
})

t.test(
  'with a full quota every deletion passes, and all that was counted goes [admin.quotas.deletion]',
  async (t) => {
    const { films, usage, differences } = await start(t, { maxVersions: 4 })
    await films.put('a', 'one')
    await films.put('a', 'two', METADATA)
    await films.put('b', 'one')
    await films.remove('gone-before')
    t.match(await films.put('c'), full)
    t.match(await films.remove('never-there'), full, 'a marker that hides nothing')
    const marker = await films.remove('a')
    t.equal(marker.status, 204, 'a marker that hides an object')
    t.match(await films.remove('a'), full, 'once')
    t.equal((await films.remove(`a?versionId=${idOf(marker)}`)).status, 204, 'a marker goes')
    t.equal((await films.remove('a')).status, 204)
    const batch = { objects: [{ key: 'b' }, { key: 'also-not-there' }] }
    const { json } = await films.ask({
      method: 'POST',
      path: '/api/v1/buckets/films/objects:batchDelete',
      body: batch,
    })
    t.match(json, { deletedCount: 1, results: [{ deleted: true }, { error: { code: 'quota_exceeded' } }] })
    const listed = await films.ask({ path: '/api/v1/buckets/films/versions' })
    for (const { key, versionId } of listed.json['versions'] as { key: string; versionId: string }[])
      t.equal((await films.remove(`${key}?versionId=${versionId}`)).status, 204)
    t.match(usage(), { versions: 0, deleteMarkers: 0, metadataBytes: 0 })
    t.same(await differences(), [])
  },
)

t.test(
  'maxVersions and maxUploads are exact, shown beside what is there, and may be taken back [admin.quotas.records]',
  async (t) => {
    const { films, setQuota, path, operator } = await start(t, { maxVersions: 2, maxUploads: 1 })
    t.equal((await films.put('a')).status, 200)
    t.equal((await films.put('a')).status, 200)
    t.match(await films.put('a'), {
      ...full,
      json: { message: /2 of at most 2 object versions and delete markers/ },
    })
    t.equal((await films.on('multipart', 'u', { method: 'POST', body: {} })).status, 201)
    t.match(await films.on('multipart', 'v', { method: 'POST', body: {} }), full)
    const { json } = await films.world.call({ admin: true, token: operator, path })
    t.match(json, {
      quota: { maxBytes: null, maxVersions: 2, maxUploads: 1 },
      usage: { versions: 2, uploads: 1, objects: 1 },
      metadataBytesMax: null,
    })
    t.match((await setQuota({ maxVersions: 1, maxMetadataBytes: 10 })).json, {
      quota: { maxVersions: 1, maxMetadataBytes: 10 },
      metadataBytesMax: 10,
    })
    const none = await setQuota({ maxVersions: null, maxBytes: null })
    t.strictSame(none.json['quota'], { maxBytes: null, maxObjects: null, maxBuckets: null })
    t.equal((await films.put('a')).status, 200)
  },
)

t.test(
  'what was stored below feature level 4 counts nothing, stays readable and goes exactly [admin.quotas.upgrade]',
  async (t) => {
    const { films, memory, usage, differences, setQuota } = await start(t)
    memory.featureLevel = 3
    const old = idOf(await films.put('k', 'old', HEAVY))
    const upload = await films.on('multipart', 'u', { method: 'POST', headers: HEAVY })
    const id = String(upload.json['uploadId'])
    t.equal(usage().metadataBytes, undefined, 'rows of level 3 are as they were')
    t.match(
      await setQuota({ maxVersions: 5 }),
      { code: 'precondition_failed' },
      'nodes of level 3 know no such limit',
    )
    memory.featureLevel = 4
    t.same(await differences(), [])
    t.equal((await films.on('multipart', `${id}/parts/1/u`, { method: 'PUT', body: 'x' })).status, 200)
    t.equal(usage().metadataBytes, 256, 'its new parts count')
    t.equal((await films.on('object-tags', 'k', { method: 'PUT', body: { tags: { a: 'b' } } })).status, 200)
    t.same(await differences(), [])
    t.equal((await films.remove(`k?versionId=${old}`)).status, 204)
    t.equal((await films.on('multipart', `${id}/u`, { method: 'DELETE' })).status, 204)
    t.equal(usage().metadataBytes, 0)
    t.same(await differences(), [])
  },
)
