/** Usage of a tenant and what an object says of its compression, through real sockets. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { ApiWorld } from './api-world.ts'

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

  await t.test('counts names, sharing, compression and small bodies', async (t) => {
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

  await t.test('is all of one moment, also while it changes', async (t) => {
    const { services } = world.memory
    let isOver = false
    const writing = (async () => {
      for (let n = 0; n < 30; n++) await put(`moving-${n}`, Buffer.from('hello'))
      isOver = true
    })()
    let looks = 0
    for (; !isOver; looks++) {
      const { usage, buckets } = await services.state.tenantUsage('acme', 10)
      const [photos] = buckets.items
      t.same([photos?.objectCount, photos?.logicalBytes], [usage.objects, usage.logicalBytes])
    }
    await writing
    t.ok(looks > 3)
  })

  await t.test('is told to who may see the tenant, and to nobody else', async (t) => {
    t.equal((await ask(await world.memory.adminToken('viewer', 'acme'))).status, 200)
    await world.memory.tenant('rival')
    const rival = await world.memory.adminToken('owner', 'rival')
    for (const id of ['acme', 'nobody'])
      t.match(await ask(rival, id), { status: 403, code: 'tenant_scope_denied' })
    t.match(await ask(viewer, 'nobody'), { status: 404, code: 'not_found' })
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
      const said = await put(key, body)
      t.match(said, { status: 200, json: { compression: { status } } }, key)
      for (const method of ['GET', 'HEAD']) {
        const path = `/api/v1/buckets/photos/objects/${key}`
        const heard = await world.call({ method, path, token: bearer })
        t.equal(heard.headers['x-service-compression'], status, `${method} ${key}`)
      }
    }
  })
})
