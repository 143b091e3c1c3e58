/** Usage of a tenant and the compression in the record of an object, through real sockets. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { ApiWorld } from './api-world.ts'
import { tenantUsage } from '../../src/store/reads/tenant-usage.ts'

t.test('usage', async (t) => {
  const { world, token: bearer } = await ApiWorld.withBucket(t)
  const put = (key: string, body: Buffer) =>
    world.call({ method: 'PUT', path: `/api/v1/buckets/photos/objects/${key}`, token: bearer, body })
  const viewer = await world.memory.adminToken('viewer')
  const ask = (token = viewer, id = 'acme') =>
    world.call({ admin: true, token, path: `/admin/api/v1/tenants/${id}/usage` })
  const text = Buffer.from(randomBytes(10_000).toString('hex'))

  await t.test('of a tenant without objects is nothing', async (t) => {
    t.match((await ask()).json, {
      tenantId: 'acme',
      buckets: 1,
      objects: 0,
      logicalBytes: 0,
      physicalBytes: 0,
      byBucket: [{ name: 'photos', objects: 0, logicalBytes: 0 }],
      isTruncated: false,
    })
  })

  await t.test('counts names, sharing, compression and small bodies [admin.usage.members]', async (t) => {
    for (const key of ['a', 'b', 'c']) t.equal((await put(key, text)).status, 200)
    await put('small', Buffer.from('hello'))
    const { json } = await ask()
    t.match(json, {
      objects: 4,
      versions: 4,
      deleteMarkers: 0,
      multipartUploads: 0,
      logicalBytes: 3 * text.length + 5,
      dedupSavedBytes: 2 * text.length,
      inlineBytes: 21,
      byBucket: [{ name: 'photos', objects: 4, logicalBytes: 3 * text.length + 5 }],
    })
    const stored = Number(json['storedBytes'])
    t.equal(json['compressionSavedBytes'], text.length - stored)
    t.equal(json['physicalBytes'], 3 * stored, 'three copies of one body')
  })

  await t.test(
    'counts versions, delete markers and parts, of each bucket and all [admin.usage.members]',
    async (t) => {
      const create = { method: 'POST', path: '/api/v1/buckets', token: bearer }
      await world.call({ ...create, body: { name: 'versioned', versioning: 'Enabled' } })
      const versioned = '/api/v1/buckets/versioned'
      for (const body of ['one', 'three'])
        await world.call({ method: 'PUT', path: `${versioned}/objects/k`, token: bearer, body })
      await world.call({ method: 'DELETE', path: `${versioned}/objects/k`, token: bearer })
      const started = await world.call({ method: 'POST', path: `${versioned}/multipart/m`, token: bearer })
      const upload = `${versioned}/multipart/${String(started.json['uploadId'])}`
      await world.call({ method: 'PUT', path: `${upload}/parts/1/m`, token: bearer, body: 'seven77' })
      const { json } = await ask()
      const counts = { objects: 0, versions: 2, deleteMarkers: 1, logicalBytes: 8 }
      t.match(json, {
        buckets: 2,
        objects: 4,
        versions: 6,
        deleteMarkers: 1,
        logicalBytes: 3 * text.length + 13,
        multipartUploads: 1,
        multipartBytes: 7,
        byBucket: [
          { name: 'photos', versions: 4 },
          { name: 'versioned', ...counts },
        ],
      })
      const own = await world.call({ path: `${versioned}/usage`, token: bearer })
      t.match(own.json, { bucket: 'versioned', ...counts, multipartUploads: 1, multipartBytes: 7 })
      await world.call({ method: 'DELETE', path: `${upload}/m`, token: bearer })
      t.match((await ask()).json, { multipartUploads: 0, multipartBytes: 0 })
    },
  )

  await t.test(
    'of one bucket is for keys that may read it as a whole [buckets.usage] [buckets.list.usage]',
    async (t) => {
      const scopes = 'op=read:bucket=photos:prefix=,op=read:bucket=versioned:prefix=in/'
      const token = await world.memory.bearer('acme', scopes)
      const see = (path: string) => world.call({ path: `/api/v1/buckets${path}`, token })
      const { json } = await see('/photos/usage')
      t.match(json, { bucket: 'photos', objects: 4, versions: 4, deleteMarkers: 0, multipartUploads: 0 })
      t.equal(json['logicalBytes'], 3 * text.length + 5)
      t.match(await see('/versioned/usage'), { status: 403, code: 'access_denied' })
      t.match(await see('/absent/usage'), { status: 403, code: 'access_denied' })
      t.equal((await see('/versioned')).status, 200, 'the bucket itself is seen')
      const listed = (await see('?include=usage')).json['buckets'] as { name: string; usage?: object }[]
      t.match(listed, [{ name: 'photos', usage: { objects: 4, versions: 4 } }, { name: 'versioned' }])
      t.notOk(listed[1] !== undefined && 'usage' in listed[1])
      t.notMatch((await see('')).bytes.toString(), /usage/, 'only those who ask get it')
      t.equal((await see('?include=metadata')).status, 400)
      await world.call({
        admin: true,
        method: 'PUT',
        token: await world.memory.adminToken('owner'),
        path: '/admin/api/v1/tenants/acme/buckets/photos/policy',
        body: {
          Version: '2012-10-17',
          Statement: [
            { Effect: 'Deny', Principal: '*', Action: 's3:ListBucket', Resource: 'arn:aws:s3:::photos' },
          ],
        },
      })
      t.equal((await see('/photos/usage')).status, 403, 'a policy can deny it')
      t.notMatch((await see('?include=usage')).bytes.toString(), /"usage"/)
    },
  )

  await t.test(
    'names the first thousand buckets and says that there are more [admin.usage.bounded]',
    async (t) => {
      await world.memory.tenant('many')
      const about = { bucketsMax: 2_000, versioning: 'Unversioned', objectLockEnabled: false } as const
      const { services } = world.memory
      for (let n = 0; n <= 1_000; n++)
        await services.propose({ type: 'createBucket', tenantId: 'many', name: `b-${1_000 + n}`, ...about })
      const { json } = await ask(viewer, 'many')
      const named = json['byBucket'] as { name: string }[]
      t.match(json, { buckets: 1_001, isTruncated: true })
      t.same([named.length, named[0]?.name, named.at(-1)?.name], [1_000, 'b-1000', 'b-1999'])
    },
  )

  await t.test('is all of one moment, also while it changes [admin.usage.exact]', async (t) => {
    const { services } = world.memory
    let isOver = false
    const writing = (async () => {
      for (let n = 0; n < 30; n++) await put(`moving-${n}`, Buffer.from('hello'))
      isOver = true
    })()
    let looks = 0
    for (; !isOver; looks++) {
      const { usage, buckets } = await tenantUsage(services.state, 'acme', 10)
      const sum = (figure: 'objectCount' | 'logicalBytes') =>
        buckets.items.reduce((total, bucket) => total + bucket[figure], 0)
      t.same([sum('objectCount'), sum('logicalBytes')], [usage.objects, usage.logicalBytes])
    }
    await writing
    t.ok(looks > 3)
  })

  await t.test('is returned only to callers that may see the tenant [admin.usage.roles]', async (t) => {
    t.equal((await ask(await world.memory.adminToken('viewer', 'acme'))).status, 200)
    await world.memory.tenant('rival')
    const rival = await world.memory.adminToken('owner', 'rival')
    for (const id of ['acme', 'absent'])
      t.match(await ask(rival, id), { status: 403, code: 'tenant_scope_denied' })
    t.match(await ask(viewer, 'absent'), { status: 404, code: 'not_found' })
  })

  await t.test('shows in the record of an object whether its body lies compressed', async (t) => {
    const bodies: readonly [string, Buffer, string][] = [
      ['text', text, 'zstd'],
      ['noise', randomBytes(20_000), 'none'],
      ['half', Buffer.concat([randomBytes(4 * 1024 * 1024), text]), 'zstd'],
      ['inline', Buffer.alloc(2_000, 'x'), 'none'],
      ['empty', Buffer.alloc(0), 'none'],
    ]
    for (const [key, body, status] of bodies) {
      const answer = await put(key, body)
      t.match(answer, { status: 200, json: { compression: { status } } }, key)
      for (const method of ['GET', 'HEAD']) {
        const path = `/api/v1/buckets/photos/objects/${key}`
        const answer = await world.call({ method, path, token: bearer })
        t.equal(answer.headers['x-service-compression'], status, `${method} ${key}`)
      }
    }
  })
})
