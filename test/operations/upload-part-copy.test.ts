/**
 * uploadPartCopy: bytes of an object become a part of an upload.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { ClientSpeed } from '../../src/content/client-speed.ts'
import { nodeSource } from '../../src/content/node-source.ts'
import { BodyGoneError } from '../../src/content/read-content.ts'
import { createMultipartUpload } from '../../src/operations/multipart/create-multipart-upload.ts'
import { completeMultipartUpload } from '../../src/operations/multipart/complete-multipart-upload.ts'
import { listParts } from '../../src/operations/multipart/list-parts.ts'
import { uploadPartCopy, type UploadPartCopyInput } from '../../src/operations/multipart/upload-part-copy.ts'
import { BucketClient, etagOf, idOf } from '../api/bucket-client.ts'
import { denial, PolicyClient } from '../api/policy-client.ts'
import { deferred, until } from '../helpers/async.ts'
import { inPieces, patternBytes } from '../helpers/content-world.ts'
import { principalOf, UNCONDITIONAL } from './copy-world.ts'

const MIB = 1024 * 1024
const NAME = { bucket: 'films', key: 'whole' }
const SOURCE = patternBytes(9 * MIB)

async function started(films: BucketClient) {
  const { services } = films.world.memory
  const principal = await principalOf(films)
  await films.put('source', SOURCE)
  const { upload } = await createMultipartUpload(services, principal, {
    ...NAME,
    contentType: 'a/b',
    metadata: {},
    tags: {},
    retention: null,
    legalHold: false,
    checksumAlg: 'CRC32C',
  })
  const { uploadId } = upload
  const base: UploadPartCopyInput = {
    ...NAME,
    uploadId,
    partNumber: 1,
    source: { bucket: 'films', key: 'source', versionId: undefined },
    conditions: UNCONDITIONAL,
    range: null,
    inTurns: (pieces) => pieces,
    signal: new AbortController().signal,
  }
  const copy = (more: Partial<UploadPartCopyInput> = {}) =>
    uploadPartCopy(services, principal, { ...base, ...more })
  const parts = async () => {
    const page = { maxParts: undefined, partNumberMarker: undefined }
    return (await listParts(services, principal, { ...NAME, uploadId, ...page })).parts
  }
  return { services, principal, uploadId, base, copy, parts }
}

t.test('uploadPartCopy', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const { memory } = films.world
  const { services, principal, uploadId, copy, parts } = await started(films)

  await t.test(
    'makes a part of the whole, or of the range, and the upload becomes those bytes',
    async (t) => {
      const written = memory.blobs.written.length
      const whole = await copy()
      t.match(whole.part, {
        partNumber: 1,
        size: SOURCE.length,
        checksums: { CRC32C: String, CRC64NVME: String },
      })
      t.equal(whole.part.etag, createHash('md5').update(SOURCE).digest('hex'))
      t.match(whole.source.object, { key: 'source' })
      t.equal(memory.blobs.written.length, written, 'a chunk that the tenant has is not stored again')
      const range = { start: 3, end: 3 + 6 * MIB }
      t.match(await copy({ partNumber: 2, range }), { part: { size: 6 * MIB } })
      t.match(await copy({ partNumber: 3, range: { start: 0, end: 1 } }), { part: { size: 1 } })
      const again = await copy({ partNumber: 3, range: { start: 5, end: 6 } })
      const all = await parts()
      t.equal(all.length, 3, 'a part that is copied again replaces the one before')
      t.equal(all[2]?.etag, again.part.etag)
      const completed = await completeMultipartUpload(services, principal, {
        ...NAME,
        uploadId,
        parts: all.map(({ partNumber, etag }) => ({ partNumber, etag })),
        precondition: { ifMatch: null, ifNoneMatch: null },
        claimed: new Map(),
      })
      const expected = Buffer.concat([SOURCE, SOURCE.subarray(3, 3 + 6 * MIB), SOURCE.subarray(5, 6)])
      t.equal(completed.object.size, expected.length)
      t.ok((await films.get('whole')).bytes.equals(expected))
    },
  )
})

t.test('uploadPartCopy copies the version that is named, of a body of any kind', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const { copy } = await started(films)
  const old = await films.put('small', 'old')
  await films.put('small', 'newest')
  await films.put('empty', '')
  const source = { bucket: 'films', key: 'small', versionId: undefined }
  t.match(await copy({ source }), { part: { size: 6 } })
  const named = await copy({ source: { ...source, versionId: idOf(old) } })
  t.match(named, { part: { size: 3 }, source: { object: { versionId: idOf(old) } } })
  t.match(await copy({ source: { ...source, key: 'empty' } }), { part: { size: 0, body: { kind: 'empty' } } })
  await films.remove('small')
  await t.rejects(copy({ source }), { code: 'not_found' })
  const marker = idOf(await films.remove('small'))
  await t.rejects(copy({ source: { ...source, versionId: marker } }), {
    code: 'invalid_request',
    message: /is a delete marker/,
  })
})

t.test('uploadPartCopy refuses, and stores nothing', async (t) => {
  const policies = await PolicyClient.start(t)
  const { films } = policies
  const { memory } = films.world
  const { services, base, copy, parts } = await started(films)
  const etag = etagOf(await films.put('source', SOURCE))

  await t.test('a range that is not inside the source', async (t) => {
    const { length } = SOURCE
    for (const [start, end] of [
      [0, length + 1],
      [length, length + 1],
      [length, length],
      [5, 5],
    ] as const)
      await t.rejects(copy({ range: { start, end } }), { code: 'range_not_satisfiable' }, `${start}-${end}`)
  })

  await t.test('conditions on the source that do not hold: always a 412', async (t) => {
    for (const failing of [
      { ifMatch: ['other'] },
      { ifNoneMatch: [etag] },
      { ifModifiedSince: memory.now + 86_400_000 },
      { ifUnmodifiedSince: 1000 },
    ])
      await t.rejects(copy({ conditions: { ...UNCONDITIONAL, ...failing } }), { code: 'precondition_failed' })
    t.ok(await copy({ conditions: { ...UNCONDITIONAL, ifMatch: [etag], ifUnmodifiedSince: 1000 } }))
  })

  await t.test('part numbers, uploads and sizes as uploadPart does', async (t) => {
    await t.rejects(copy({ uploadId: `mpu_${'0'.repeat(26)}` }), { code: 'not_found', message: /Upload/ })
    await t.rejects(copy({ partNumber: 10_001 }), { code: 'invalid_argument' })
    const config = { ...services.config, limits: { ...services.config.limits, objectPutBytesMax: 100 } }
    const { config: before } = services
    services.config = config
    await t.rejects(copy(), { code: 'entity_too_large' })
    services.config = before
  })

  await t.test('a caller without read scope on the source or write scope on the target', async (t) => {
    const table = [
      ['op=read:bucket=films:prefix=source', 'access_denied'],
      ['op=write:bucket=films:prefix=whole', 'access_denied'],
      ['op=read:bucket=films:prefix=other,op=write:bucket=films:prefix=whole', 'access_denied'],
      ['op=read:bucket=films:prefix=sourc,op=write:bucket=films:prefix=whole', null],
    ] as const
    for (const [scopes, code] of table) {
      const asked = uploadPartCopy(services, await principalOf(films, scopes), { ...base, partNumber: 9 })
      if (code === null) t.ok(await asked)
      else await t.rejects(asked, { code }, scopes)
    }
  })

  await t.test('what a policy denies at either end', async (t) => {
    for (const [Action, key] of [
      ['s3:GetObject', 'source'],
      ['s3:PutObject', 'whole'],
    ] as const) {
      await policies.set(denial({ Action, Resource: `arn:aws:s3:::films/${key}` }))
      await t.rejects(copy(), { code: 'access_denied' }, Action)
    }
    await policies.set(denial({ Action: 's3:PutObject', Resource: 'arn:aws:s3:::films/source' }))
    t.ok(await copy())
  })

  await t.test('while an older member could not read the entry, and reads nothing', async (t) => {
    memory.featureLevel = 3
    const inTurns = () => {
      throw new Error('The source is read')
    }
    await t.rejects(copy({ inTurns }), { code: 'precondition_failed' })
    memory.featureLevel = 4
  })

  await t.test('the bucket of another tenant, which does not exist for this one', async (t) => {
    await memory.tenant('other')
    await memory.change({
      type: 'createBucket',
      tenantId: 'other',
      name: 'theirs',
      versioning: 'Unversioned',
      objectLockEnabled: false,
      bucketsMax: 10,
    })
    const source = { bucket: 'theirs', key: 'source', versionId: undefined }
    await t.rejects(copy({ source }), { code: 'not_found', message: /bucket/i })
  })

  t.same(
    (await parts()).map(({ partNumber }) => partNumber),
    [1, 9],
  )
})

t.test('uploadPartCopy reads no further than what is being stored', async (t) => {
  const films = await BucketClient.start(t)
  const { memory } = films.world
  const { copy } = await started(films)
  await films.put('source', patternBytes(40 * MIB, 7))
  const gate = deferred()
  memory.blobs.beforeWrite = () => gate.promise
  let read = 0
  const counted = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      read += piece.length
      yield piece
    }
  }
  // Shifted by a byte, so that every chunk is another one.
  const copying = copy({ range: { start: 1, end: 40 * MIB }, inTurns: counted })
  await until('two chunks wait for their copies', () => memory.blobs.writesNow === 2)
  const before = read
  t.ok(before <= 12 * MIB + 64 * 1024, `${before} bytes`)
  gate.resolve()
  t.equal((await copying).part.size, 40 * MIB - 1)
  t.equal(read, 40 * MIB - 1)
})

t.test('uploadPartCopy ends with its client, and with its source', async (t) => {
  const films = await BucketClient.start(t)
  const { memory } = films.world
  const { copy, parts } = await started(films)
  const client = new AbortController()
  const gone = new Error('The client went away')
  let ended = false
  const leaving = async function* (pieces: AsyncIterable<Uint8Array>) {
    try {
      for await (const piece of pieces) {
        yield piece
        client.abort(gone)
      }
    } finally {
      ended = true
    }
  }
  await t.rejects(copy({ inTurns: leaving, signal: client.signal }), gone)
  t.ok(ended, 'the source is closed')
  t.same(await parts(), [])
  t.equal(memory.content.memory.bytes, 0)

  const failing = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      yield piece
      throw new Error('no copy can be read')
    }
  }
  await t.rejects(copy({ inTurns: failing }), { message: 'no copy can be read' })
  t.same(await parts(), [])
})

t.test('uploadPartCopy looks once more at a source that was replaced while it was read', async (t) => {
  const films = await BucketClient.start(t)
  const { memory } = films.world
  const { copy, parts } = await started(films)
  let looks = 0
  const replacedOnce = async function* (pieces: AsyncIterable<Uint8Array>) {
    looks += 1
    if (looks === 1) {
      await films.put('source', 'new')
      throw new BodyGoneError('It was replaced')
    }
    yield* pieces
  }
  const { barriers } = memory
  t.match(await copy({ inTurns: replacedOnce }), { part: { size: 3 } })
  t.equal(looks, 2)
  t.ok(memory.barriers > barriers)
  const always = async function* (pieces: AsyncIterable<Uint8Array>) {
    looks += 1
    for await (const piece of pieces) {
      yield piece
      throw new BodyGoneError('It was replaced')
    }
  }
  await t.rejects(copy({ partNumber: 2, inTurns: always }), { code: 'slow_down' })
  t.equal(looks, 4, 'and no more')
  t.equal((await parts()).length, 1)
})

t.test('the bytes of a node are never taken for those of a slow client', async (t) => {
  let now = 0
  const source = nodeSource(inPieces(Buffer.alloc(10), 5), () => now)
  const speed = new ClientSpeed(() => source.heldMs?.() ?? 0)
  speed.asked(now)
  now += 3_600_000
  t.equal(speed.at(now), null, 'there is no client to judge')
  speed.arrived(5, now)
  t.equal(speed.at(now), null)
})
