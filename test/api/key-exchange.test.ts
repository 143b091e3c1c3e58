/**
 * The exchange of a tenant's data key through the admin API, with the driver that seals again. [docs/adr/0088-exchange-of-tenant-keys.md]
 */
import t from 'tap'
import { ChunkKeys } from '../../src/content/chunk-keys.ts'
import { SealBrokenError } from '../../src/content/frame-cipher.ts'
import { openFrames } from '../../src/content/frame-layout.ts'
import { layoutBytesOf, layoutOf } from '../../src/content/sealing.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { TenantRecord } from '../../src/state-machine/tenants/records.ts'
import { patternBytes, testMasterKey } from '../helpers/content-world.ts'
import { put } from '../state-machine/map-world.ts'
import { ExchangeWorld, PATH } from './key-exchange-world.ts'

const ROTATE = `${PATH}/rotate`
const REASON = { reason: 'yearly' }

/** The plain bytes of a copy as it lies on a disk, with the keys of a tenant's row. */
async function opened(copy: Buffer, chunk: ChunkRecord, tenant: TenantRecord): Promise<Buffer> {
  const { keys } = new ChunkKeys(testMasterKey).of(tenant).present
  const sealed = { keys, id: chunk.id, size: chunk.size, sealedSize: copy.length }
  const head = layoutBytesOf(sealed)
  const layout = layoutOf(sealed, copy.subarray(0, head))
  const pieces: Buffer[] = []
  const source = (async function* () {
    yield copy.subarray(head)
  })()
  const end = Math.ceil(chunk.size / 65_536)
  for await (const piece of openFrames(source, layout, { first: 0, end })) pieces.push(piece)
  return Buffer.concat(pieces)
}

t.test('shows versions and no key [admin.encryption.get]', async (t) => {
  const world = await ExchangeWorld.start(t)
  await world.put('chunk', patternBytes(10_000, 4))
  t.match(await world.show(), {
    status: 200,
    json: {
      tenantId: 'acme',
      algorithm: 'AES256-GCM',
      keyVersion: 1,
      masterKeyId: 'mk-test',
      exchange: null,
    },
  })
  const operationId = await world.rotate({ maxBytesPerSecond: 1_000_000 })
  const during = await world.show()
  t.match(during.json, {
    keyVersion: 2,
    exchange: {
      formerVersion: 1,
      chunksLeft: 1,
      inlineBytesLeft: 0,
      operation: { operationId, type: 'keyExchange' },
    },
  })
  for (const key of [world.tenant.dataKey, world.tenant.formerKey?.dataKey, world.tenant.dedupKey])
    t.notOk(
      during.bytes.includes(
        Buffer.from(key ?? [])
          .toString('base64')
          .slice(0, 20),
      ),
    )
})

t.test(
  'seals everything again, and every body reads as before [admin.encryption.rotate] [admin.encryption.rotate.new-writes]',
  async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.fill()
    const before = {
      tenant: world.tenant,
      chunks: await world.chunks(),
      usage: (await world.ask('GET', '/admin/api/v1/tenants/acme/usage')).json,
    }
    const { blobs } = world.films.world.memory
    const copies = before.chunks.map((chunk) => ({ chunk, bytes: Buffer.from(blobs.bytesOn('n2', chunk)) }))
    const heads = new Map<string, unknown>()
    for (const key of world.bodies.keys()) heads.set(key, (await world.films.head(key)).headers.etag)
    const operation = await world.rotate()
    await world.put('new', patternBytes(9_000, 44))
    const made = (await world.chunks()).find(({ id }) => !before.chunks.some((chunk) => chunk.id === id))
    t.equal(made?.keyVersion, 2, 'a new write has the new key at once')
    await world.check()
    for (let n = 0; n < 6; n++) {
      await world.round()
      await world.check()
    }
    await world.untilEnded(operation)
    await world.check()
    t.strictSame(await world.otherVersions(2), [])
    for (const [key, etag] of heads)
      t.equal((await world.films.head(key)).headers.etag, etag, `${key} keeps its etag`)
    const { asOf: _, ...usage } = (await world.ask('GET', '/admin/api/v1/tenants/acme/usage')).json
    const births = new Set((await world.chunks()).map(({ birth }) => birth))
    for (const { chunk, bytes } of copies) {
      t.notOk(births.has(chunk.birth), 'no row names the copies before')
      t.equal(
        (await opened(bytes, chunk, before.tenant)).length,
        chunk.size,
        'the image of a disk opens with the key of its time',
      )
      await t.rejects(opened(bytes, chunk, world.tenant), SealBrokenError, 'and not with the new one')
    }
    t.match(await world.show(), { json: { keyVersion: 2, exchange: null } })
    await world.complete()
    // `new` was added meanwhile, and is the only difference.
    const was = before.usage as Record<string, number>
    t.strictSame(usage['dedupSavedBytes'], was['dedupSavedBytes'])
    t.strictSame(usage['compressionSavedBytes'], was['compressionSavedBytes'])
    t.strictSame(usage['inlineBytes'], was['inlineBytes'])
    t.strictSame(usage['storedBytes'], (was['storedBytes'] ?? 0) + 9_000 + 16)
  },
)

t.test('equal bytes are shared before, during and after', async (t) => {
  const world = await ExchangeWorld.start(t)
  const bytes = patternBytes(10_000, 4)
  await world.put('a', bytes)
  const operation = await world.rotate()
  await world.put('b', bytes)
  await world.untilEnded(operation)
  await world.put('c', bytes)
  t.match(await world.chunks(), [{ references: 3, keyVersion: 2 }])
  t.equal((await world.chunks()).length, 1)
})

t.test('a download that is under way ends well [admin.encryption.rotate.downloads]', async (t) => {
  const world = await ExchangeWorld.start(t)
  const large = patternBytes(3 * 4 * 1024 * 1024, 5)
  await world.put('large', large)
  const { memory } = world.films.world
  const tenant = world.tenant
  const old = await world.chunks()
  const bucketId = memory.reader.get(bucketKeys.bucket('acme', 'films'))?.id ?? ''
  const object = memory.reader.get(versionKeys.object(bucketId, 'large'))
  if (object === undefined) return t.fail('the object is there')
  const pieces: Uint8Array[] = []
  const reading = memory.content.read(
    tenant,
    { bucketId, object, pinned: {} },
    { start: 0, end: large.length },
  )
  for await (const piece of reading) {
    pieces.push(piece)
    if (pieces.length !== 3) continue
    await world.untilEnded(await world.rotate())
    for (const chunk of old) for (const node of ['n1', 'n2', 'n3']) memory.blobs.lose(node, chunk)
  }
  t.ok(Buffer.concat(pieces).equals(large))
})

t.test(
  'a dry run says how much it would be, and changes nothing [admin.encryption.rotate.dry-run]',
  async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.put('small', patternBytes(900, 3))
    await world.put('chunk', patternBytes(10_000, 4))
    const checksum = world.films.world.memory.checksum()
    t.match(await world.ask('POST', `${ROTATE}?dryRun=true`, REASON), {
      status: 200,
      json: {
        dryRun: true,
        operation: 'exchangeDataKey',
        tenantId: 'acme',
        allowed: true,
        plan: { objects: 2, versions: 2, chunks: 1, bytes: 900 + 16 + 10_000 + 16 },
        warnings: [/backups/],
      },
    })
    t.equal(world.films.world.memory.checksum(), checksum)
    await world.rotate()
    t.match(await world.ask('POST', `${ROTATE}?dryRun=true`, REASON), {
      json: { allowed: false, blockers: [{}] },
    })
  },
)

t.test(
  'is refused [admin.encryption.rotate.again] [admin.encryption.rotate.reason] [admin.encryption.rotate.unknown]',
  async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.put('chunk', patternBytes(10_000, 4))
    t.match(await world.ask('POST', ROTATE, { reason: ' ' }), { status: 400, code: 'reason_required' })
    t.match(await world.ask('POST', ROTATE, { ...REASON, maxBytesPerSecond: 0 }), { status: 400 })
    t.match(await world.ask('POST', ROTATE.replace('acme', 'none'), REASON), {
      status: 404,
      code: 'not_found',
    })
    t.match(await world.ask('GET', PATH.replace('acme', 'none')), { status: 404, code: 'not_found' })
    const operation = await world.rotate()
    t.match(await world.ask('POST', ROTATE, REASON), {
      status: 412,
      code: 'precondition_failed',
      json: { message: new RegExp(operation) },
    })
  },
)

t.test(
  'needs the role of an operator and the tenant itself [admin.encryption.rotate.role] [admin.encryption.rotate.scope]',
  async (t) => {
    const world = await ExchangeWorld.start(t)
    const { memory } = world.films.world
    const viewer = await memory.adminToken('viewer')
    t.match(await world.ask('POST', ROTATE, REASON, viewer), { status: 403, code: 'access_denied' })
    t.match(await world.ask('GET', PATH, undefined, viewer), { status: 200 })
    await memory.tenant('rival')
    const rival = await memory.adminToken('owner', 'rival')
    t.match(await world.ask('POST', ROTATE, REASON, rival), { status: 403, code: 'tenant_scope_denied' })
    t.match(await world.ask('GET', PATH, undefined, rival), { status: 403, code: 'tenant_scope_denied' })
    t.match(await world.ask('POST', ROTATE, REASON, await memory.adminToken('operator', 'acme')), {
      status: 202,
    })
  },
)

t.test('version_incompatible: a member does not know it yet [admin.encryption.rotate.level]', async (t) => {
  const world = await ExchangeWorld.start(t)
  world.films.world.memory.featureLevel = 6
  t.match(await world.ask('POST', ROTATE, REASON), {
    status: 412,
    json: { blockers: [{ code: 'version_incompatible' }] },
  })
  t.equal(world.tenant.dataKeyVersion, undefined)
})

t.test('is audited without a key [admin.encryption.rotate.audited]', async (t) => {
  const world = await ExchangeWorld.start(t)
  const operationId = await world.rotate()
  const owner = await world.films.world.memory.adminToken('owner')
  const log = await world.ask('GET', '/admin/api/v1/audit?operation=exchangeDataKey', undefined, owner)
  t.match(log.json, {
    records: [
      {
        operation: 'exchangeDataKey',
        tenantId: 'acme',
        reason: 'yearly',
        details: { operationId, formerVersion: 1 },
      },
    ],
  })
  t.equal((log.json['records'] as readonly object[]).length, 1)
})

t.test('the driver', async (t) => {
  t.test('of another node continues, and a chunk is sealed again once', async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.fill()
    const operation = await world.rotate()
    await world.round()
    world.nextDriver()
    await world.untilEnded(operation)
    const { blobsTotal, blobsDone, bytesMoved, bytesTotal, skipped } = world.operation(operation).progress
    t.same([blobsDone, bytesMoved, skipped], [blobsTotal, bytesTotal, 0])
  })

  t.test(
    'does nothing on another node than the one on duty, while it is paused, and without an exchange',
    async (t) => {
      const world = await ExchangeWorld.start(t)
      await world.put('chunk', patternBytes(10_000, 4))
      t.equal(await world.round(), false)
      const operation = await world.rotate()
      world.isJobRunner = false
      t.equal(await world.round(), false)
      world.isJobRunner = true
      const owner = await world.films.world.memory.adminToken('owner')
      const steer = (how: string) =>
        world.ask('POST', `/admin/api/v1/cluster/operations/${operation}/${how}`, {}, owner)
      t.match(await steer('pause'), { status: 200 })
      t.equal(await world.round(), false)
      t.strictSame((await world.otherVersions(1)).length, 0)
      t.match(await steer('cancel'), { status: 412 })
      t.match(await steer('resume'), { status: 200 })
      await world.untilEnded(operation)
    },
  )

  t.test('keeps the former key while a chunk cannot be read, says so, and ends when it can', async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.put('chunk', patternBytes(10_000, 4))
    await world.put('other', patternBytes(11_000, 5))
    const { blobs } = world.films.world.memory
    const broken = (await world.chunks()).find(({ size }) => size === 10_000)
    if (broken === undefined) return t.fail('the chunk is there')
    const bytes = Buffer.from(blobs.bytesOn('n1', broken))
    const damaged = Buffer.from(bytes)
    damaged[5] = (damaged[5] ?? 0) ^ 1
    for (const node of ['n1', 'n2', 'n3']) blobs.put(node, broken, damaged)
    const operation = await world.rotate()
    for (let n = 0; n < 60; n++) await world.round()
    t.match(world.operation(operation), {
      status: 'running',
      phase: /1 of its chunks and bodies cannot be sealed again/,
    })
    t.equal(world.tenant.formerKey?.version, 1)
    t.equal((await world.otherVersions(2)).length, 1)
    blobs.put('n3', broken, bytes)
    await world.untilEnded(operation)
    await world.check()
  })

  t.test('commits no chunk whose new copy reads back as other bytes', async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.put('chunk', patternBytes(10_000, 4))
    const operation = await world.rotate()
    const { blobs } = world.films.world.memory
    const write = blobs.write.bind(blobs)
    blobs.write = async (blob) => {
      const written = await write(blob)
      blobs.put('n3', blob, Buffer.alloc(blob.bytes.length))
      return written
    }
    for (let n = 0; n < 20; n++) await world.round()
    t.equal((await world.otherVersions(2)).length, 1)
    blobs.write = write
    await world.untilEnded(operation)
  })

  t.test('waits for an upload that holds the former key, until its object is there', async (t) => {
    const world = await ExchangeWorld.start(t)
    const { memory } = world.films.world
    const plain = patternBytes(10_000, 4)
    const ingested = await memory.content.ingest({
      tenant: world.tenant,
      caller: { tenantId: 'acme', accessKeyId: 'AK', address: '127.0.0.1' },
      source: (async function* () {
        yield plain
      })(),
      expectedSize: plain.length,
      sizeMax: plain.length,
      claimed: new Map(),
      signal: new AbortController().signal,
    })
    const operation = await world.rotate()
    await memory.change({ ...put('late', ingested.body, plain.length), bucket: 'films' })
    ingested.end('known')
    t.equal((await world.otherVersions(2)).length, 1)
    await world.untilEnded(operation)
    world.bodies.set('late', plain)
    await world.check()
    t.strictSame(await world.otherVersions(2), [])
  })

  t.test('keeps to the rate of its operation', async (t) => {
    const world = await ExchangeWorld.start(t)
    for (let n = 0; n < 4; n++) await world.put(`k${n}`, patternBytes(10_000, 4 + n))
    const began = world.removal.now
    await world.untilEnded(await world.rotate({ maxBytesPerSecond: 10_000 }))
    t.ok(world.removal.now - began >= 4_000, 'four seconds for 40,000 bytes')
  })

  t.test('gives up when the tenant is being deleted', async (t) => {
    const world = await ExchangeWorld.start(t)
    await world.put('chunk', patternBytes(10_000, 4))
    const operation = await world.rotate()
    const { memory } = world.films.world
    await memory.change({ type: 'disableTenant', tenantId: 'acme', reason: 'ended' })
    const about = { operationId: 'del', requestedBy: 'olga', reason: 'ended', locksEndedBy: 0 }
    await memory.change({ type: 'deleteTenant', tenantId: 'acme', ...about })
    await world.round()
    t.match(world.operation(operation), { status: 'failed', error: /being deleted/ })
  })
})
