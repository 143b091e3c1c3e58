/**
 * The routes of quotas, through real sockets: answers, refusals, and their effect on writes.
 */
import t from 'tap'
import { type Ask, ApiWorld } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'
import { BucketClient } from './bucket-client.ts'

const QUOTA = '/admin/api/v1/tenants/acme/quota'
const NONE = { maxBytes: null, maxObjects: null, maxBuckets: null }

async function start(t: Parameters<typeof BucketClient.start>[0], versioning: 'Enabled' | null = null) {
  const films = await BucketClient.start(t, versioning === null ? {} : { versioning })
  const { world } = films
  const token = await world.memory.adminToken('operator')
  const ask = (more: Partial<Ask>) => world.call({ admin: true, token, path: QUOTA, ...more })
  const set = (body: object, query = '') => ask({ method: 'PUT', path: `${QUOTA}${query}`, body })
  const clear = (query = '') => ask({ method: 'DELETE', path: `${QUOTA}${query}` })
  const get = async () => (await ask({})).json
  return { films, world, ask, set, clear, get }
}

t.test('getTenantQuota returns the limits and the usage [admin.quota.get]', async (t) => {
  const { films, world, set, get } = await start(t)
  const usage = { bytes: 0, objects: 0, buckets: 2, versions: 0, uploads: 0, metadataBytes: 0 }
  t.same(await get(), { tenantId: 'acme', quota: NONE, usage, metadataBytesMax: null, updatedAt: null })
  await films.put('k', '12345')
  t.match(await get(), { usage: { bytes: 5, objects: 1, buckets: 2 } })
  const made = await set({ maxBytes: 7, maxObjects: null, maxBuckets: 100 })
  t.equal(made.status, 200)
  const quota = { maxBytes: 7, maxObjects: null, maxBuckets: 100 }
  t.match(made.json, { tenantId: 'acme', quota, usage: { bytes: 5, objects: 1, buckets: 2 } })
  t.same(await get(), made.json, 'as it was answered')
  const viewer = await world.memory.adminToken('viewer', 'acme')
  t.same((await world.call({ admin: true, token: viewer, path: QUOTA })).json, made.json)
})

t.test('setTenantQuota', async (t) => {
  const { films, ask, set, clear, get } = await start(t)

  await t.test('replaces the whole quota: an omitted member is no limit [admin.quota.set]', async (t) => {
    await set({ maxBytes: 100, maxObjects: 3, maxBuckets: 2 })
    t.same((await set({ maxObjects: 0 })).json['quota'], { ...NONE, maxObjects: 0 })
    t.match(await films.put('k', ''), { status: 507, code: 'quota_exceeded' }, 'zero is a limit')
    t.match((await set(NONE)).json, { quota: NONE, updatedAt: null })
    t.equal((await films.put('k', '')).status, 200)
  })

  await t.test('of more objects than their metadata can be counted in bytes is answered', async (t) => {
    const maxObjects = Number.MAX_SAFE_INTEGER
    const made = await set({ maxObjects })
    t.match(made.json, { quota: { maxObjects }, metadataBytesMax: Number.MAX_SAFE_INTEGER })
    await set(NONE)
  })

  await t.test('refuses an invalid limit and names it [admin.quota.invalid]', async (t) => {
    const before = await get()
    const bodies: readonly [object | string, RegExp][] = [
      [{}, /name at least one of "maxBytes", "maxObjects", "maxBuckets", "maxVersions"/],
      [{ maxBytes: -1 }, /"maxBytes"/],
      [{ maxBytes: 1.5 }, /"maxBytes"/],
      [{ maxBytes: '5' }, /"maxBytes"/],
      [{ maxBytes: 2 ** 53 }, /"maxBytes"/],
      [{ maxObjects: true }, /"maxObjects"/],
      [{ maxByte: 5 }, /did you mean "maxBytes"/],
      [{ maxBytes: 5, tenantId: 'acme' }, /"tenantId" is unknown/],
    ]
    for (const [body, message] of bodies)
      t.match(await ask({ method: 'PUT', body }), {
        status: 400,
        code: 'invalid_request',
        json: { message },
      })
    t.match(await ask({ method: 'PUT' }), { status: 400 }, 'no body')
    t.match(await ask({ method: 'PUT', body: '{', headers: { 'content-type': 'application/json' } }), {
      status: 400,
      code: 'invalid_json',
    })
    t.same(await get(), before)
  })

  await t.test(
    'of buckets refuses one more, and no fewer than there are [admin.quota.buckets]',
    async (t) => {
      const create = (name: string) => films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name } })
      await set({ maxBuckets: 3 })
      t.equal((await create('second')).status, 201)
      t.match(await create('third'), { status: 507, code: 'quota_exceeded' })
      await films.ask({ method: 'DELETE', path: '/api/v1/buckets/second' })
      t.equal((await create('third')).status, 201, 'room again')
      await clear()
    },
  )
})

t.test('deleteTenantQuota takes every limit away, also a second time [admin.quota.clear]', async (t) => {
  const { films, set, clear, get } = await start(t)
  await set({ maxBytes: 0 })
  t.match(await films.put('k', 'x'), { status: 507 })
  t.equal((await clear()).status, 204)
  t.equal((await films.put('k', 'x')).status, 200)
  t.equal((await clear()).status, 204)
  t.match(await get(), { quota: NONE, updatedAt: null })
})

t.test(
  'a quota below present use keeps existing objects and refuses only writes that add [admin.quota.lower] [admin.quota.counts]',
  async (t) => {
    const { films, set, get } = await start(t, 'Enabled')
    await films.put('k', '12345')
    await films.put('k', '67890')
    const upload = await films.ask({ method: 'POST', path: '/api/v1/buckets/films/multipart/m' })
    const part = `/api/v1/buckets/films/multipart/${String(upload.json['uploadId'])}/parts/1/m`
    t.equal((await films.ask({ method: 'PUT', path: part, body: 'abc' })).status, 200)
    t.match(await get(), { usage: { bytes: 13, objects: 1 } }, 'all versions, and parts')
    t.match(await set({ maxBytes: 5, maxObjects: 0, maxBuckets: 0 }), {
      status: 200,
      json: { quota: { maxBytes: 5 }, usage: { bytes: 13 } },
    })
    t.equal((await films.get('k')).bytes.toString(), '67890', 'reads continue')
    const versions = (await films.versions()).json['versions'] as { versionId: string }[]
    t.equal(versions.length, 2, 'nothing was removed')
    t.match(await films.put('k', 'x'), { status: 507, code: 'quota_exceeded' })
    t.match(await films.ask({ method: 'PUT', path: part, body: 'abcd' }), {
      status: 507,
      code: 'quota_exceeded',
    })
    t.equal((await films.ask({ method: 'PUT', path: part, body: 'ab' })).status, 200, 'what shrinks passes')
    t.equal((await films.put('k', '')).status, 200, 'and writes that add nothing')
    for (const { versionId } of versions)
      t.equal(
        (
          await films.ask({
            method: 'DELETE',
            path: `/api/v1/buckets/films/objects/k?versionId=${versionId}`,
          })
        ).status,
        204,
      )
    t.match(await get(), { usage: { bytes: 2 } })
    t.equal((await films.put('k', 'xyz')).status, 200, 'up to the limit')
    t.match(await films.put('k', 'x'), { status: 507 })
  },
)

t.test('a dry run of a quota shows the plan and changes nothing [admin.quota.dry-run]', async (t) => {
  const { films, world, set, clear } = await start(t)
  await films.put('k', '12345')
  await set({ maxObjects: 9 })
  const before = world.memory.checksum()
  const after = { ...NONE, maxBytes: 4 }
  t.match((await set({ maxBytes: 4 }, '?dryRun=true')).json, {
    dryRun: true,
    operation: 'setTenantQuota',
    tenantId: 'acme',
    allowed: true,
    plan: { before: { ...NONE, maxObjects: 9 }, after, usage: { bytes: 5, objects: 1, buckets: 2 } },
    blockers: [],
    warnings: ['The tenant has 5 bytes, more than 4: they stay, and no more are taken'],
  })
  const cleared = await clear('?dryRun=true')
  t.match(cleared, {
    status: 200,
    json: { operation: 'deleteTenantQuota', plan: { before: { ...NONE, maxObjects: 9 } } },
  })
  t.match(await set({}, '?dryRun=true'), { status: 400 }, 'a malformed request is refused in a dry run')
  t.equal(world.memory.checksum(), before)
  await set({ maxBytes: 4 })
  t.not(world.memory.checksum(), before, 'and the real one changes something')
})

t.test('a quota that is set or cleared is recorded with its limits [admin.quota.audit]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const change = (method: string, body?: object) =>
    audited.row({ admin: true, token: audited.owner, method, path: QUOTA, ...(body ? { body } : {}) })
  const { row } = await change('PUT', { maxBytes: 5 })
  t.match(row, { operation: 'setTenantQuota', tenantId: 'acme', details: { ...NONE, maxBytes: 5 } })
  t.match((await change('DELETE')).row, { operation: 'deleteTenantQuota', tenantId: 'acme', details: NONE })
})

t.test(
  'callers that may see the tenant read its quota, and operators set it [admin.quota.roles]',
  async (t) => {
    const world = await ApiWorld.start(t)
    await world.memory.tenant('acme')
    await world.memory.tenant('rival')
    const as = async (...about: Parameters<typeof world.memory.adminToken>) => {
      const token = await world.memory.adminToken(...about)
      return (method: string, id: string, body?: object) =>
        world.call({
          admin: true,
          token,
          method,
          path: `/admin/api/v1/tenants/${id}/quota`,
          ...(body ? { body } : {}),
        })
    }
    const viewer = await as('viewer')
    t.equal((await viewer('GET', 'acme')).status, 200)
    for (const method of ['PUT', 'DELETE'])
      t.match(await viewer(method, 'acme'), { status: 403, code: 'access_denied' }, method)
    const rival = await as('owner', 'rival')
    for (const method of ['GET', 'PUT', 'DELETE'])
      for (const id of ['acme', 'absent'])
        t.match(await rival(method, id), { status: 403, code: 'tenant_scope_denied' }, `${method} ${id}`)
    const operator = await as('operator')
    t.equal((await operator('PUT', 'acme', { maxBytes: 1 })).status, 200)
    for (const method of ['GET', 'DELETE'])
      t.match(await operator(method, 'absent'), { status: 404, code: 'not_found' })
    t.match(await operator('PUT', 'absent', { maxBytes: 1 }), { status: 404, code: 'not_found' })
  },
)
