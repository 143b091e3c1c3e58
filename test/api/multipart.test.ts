/**
 * Multipart uploads over HTTP: from creation to the object, and each rule in between. [native: Multipart] [decisions 6, 7]
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { MIB, MultipartClient, PART_MIN, partBytes } from './multipart-client.ts'

const UPLOAD_ID = /^mpu_[0-9A-HJKMNP-TV-Z]{26}$/
const WEEK_MS = 7 * 24 * 3_600_000

const base64Crc32 = (bytes: Buffer): string => {
  const digest = Buffer.alloc(4)
  digest.writeUInt32BE(crc32(bytes))
  return digest.toString('base64')
}

t.test(
  'an object is assembled of its parts [multipart.create] [multipart.id] [multipart.part] [multipart.parts] [multipart.complete] [multipart.complete.etag] [multipart.expiry]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const key = 'films/a%20film.mp4'
    const started = await client.ask('POST', key, {
      contentType: 'video/mp4',
      metadata: { camera: 'x100' },
      checksumAlg: 'CRC32',
    })
    t.equal(started.status, 201)
    const id = String(started.json['uploadId'])
    t.match(started.json, { bucket: 'photos', key: 'films/a film.mp4', uploadId: UPLOAD_ID })
    t.equal(started.headers.location, `/api/v1/buckets/photos/multipart/${id}/parts/${key}`)
    const { createdAt, expiresAt } = started.json
    t.equal(Date.parse(String(expiresAt)) - Date.parse(String(createdAt)), WEEK_MS)

    const upload = { key, id }
    const bodies = [partBytes(1, PART_MIN), partBytes(2, PART_MIN + 3), Buffer.from('the end')]
    const whole = Buffer.concat(bodies)
    // Not in order, and with gaps between the numbers.
    const numbers = [7, 19, 10_000]
    const named = []
    for (const n of [2, 0, 1]) {
      const body = bodies[n] ?? Buffer.alloc(0)
      const stored = await client.put(upload, numbers[n] ?? 0, body)
      t.match(stored.json, { partNumber: numbers[n], size: body.length, etag: /^[0-9a-f]{32}-1$/ })
      t.equal((stored.json['checksums'] as Record<string, string>)['CRC32'], base64Crc32(body))
      t.equal(stored.headers.etag, `"${String(stored.json['etag'])}"`)
      named[n] = { partNumber: numbers[n] ?? 0, etag: String(stored.json['etag']) }
    }
    t.match(client.usage, { uploads: 1, uploadBytes: whole.length, logicalBytes: 0, objects: 0 })
    t.equal((await client.get(key)).status, 404, 'it is no object yet')

    const listed = await client.ask('GET', `${id}/parts/${key}`)
    t.match(listed.json, { uploadId: id, key: 'films/a film.mp4', maxParts: 1000, partNumberMarker: 0 })
    t.match(
      listed.json['parts'],
      numbers.map((partNumber, n) => ({ partNumber, size: bodies[n]?.length })),
    )

    const done = await client.complete(upload, named)
    t.equal(done.status, 200, done.bytes.toString())
    const tag = createHash('sha256')
    for (const { etag } of named) tag.update(Buffer.from(etag.slice(0, 32), 'hex'))
    const etag = `${tag.digest('hex').slice(0, 32)}-3`
    const expected = {
      key: 'films/a film.mp4',
      size: whole.length,
      etag,
      partsCount: 3,
      contentType: 'video/mp4',
    }
    t.match(done.json, { ...expected, metadata: { camera: 'x100' }, checksumType: 'FULL_OBJECT' })
    t.equal((done.json['checksums'] as Record<string, string>)['CRC32'], base64Crc32(whole))
    t.match(client.usage, { uploads: 0, uploadBytes: 0, logicalBytes: whole.length, objects: 1 })

    const got = await client.get(key)
    t.ok(got.bytes.equals(whole), 'and read as one')
    t.match(got.headers, { etag: `"${etag}"`, 'x-service-parts-count': '3', 'x-service-meta-camera': 'x100' })
    t.equal((await client.head(key)).headers['x-service-parts-count'], '3')
    t.equal((await client.ask('GET', `${id}/parts/${key}`)).status, 404, 'the upload has ended')
    t.same((await client.ask('GET', '')).json['uploads'], [])
  },
)

t.test(
  '[decisions 6] a completion repeated within a day gets the same answer [multipart.complete.again]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const upload = { key: 'k', id: await client.begin('k') }
    const parts = [await client.part(upload, 1, 'one part')]
    const first = await client.complete(upload, parts)
    const again = await client.complete(upload, parts)
    t.equal(again.status, 200)
    t.strictSame(again.json, first.json)
    const quoted = parts.map(({ partNumber, etag }) => ({ partNumber, etag: `"${etag}"` }))
    t.strictSame(
      (await client.complete(upload, quoted)).json,
      first.json,
      'tags with quotes are the same tags',
    )
    await client.world.call({
      method: 'PUT',
      path: '/api/v1/buckets/photos/objects/k',
      token: client.token,
      body: 'newer',
    })
    t.strictSame(
      (await client.complete(upload, parts)).json,
      first.json,
      'though the object is another one now',
    )
    t.equal((await client.get('k')).bytes.toString(), 'newer', 'which stays')
    const others = [{ partNumber: 2, etag: parts[0]?.etag ?? '' }]
    t.match(await client.complete(upload, others), { status: 404, code: 'not_found' })
    t.match(await client.put(upload, 1, 'late'), { status: 404, code: 'not_found' })
  },
)

t.test(
  'completeMultipartUpload refuses [multipart.complete.invalid-part] [multipart.complete.order] [limits.part-count] [errors.invalid_part] [errors.invalid_part_order]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const upload = { key: 'k', id: await client.begin('k') }
    const small = await client.part(upload, 1, 'small')
    const large = await client.part(upload, 2, partBytes(2, PART_MIN))
    const last = await client.part(upload, 3, 'last')
    const refused = async (what: string, parts: object, expected: object): Promise<void> => {
      const answer = await client.ask('POST', `${upload.id}/complete/k`, parts)
      t.match({ status: answer.status, code: answer.code }, expected, `${what}: ${answer.bytes.toString()}`)
    }
    const parts = (...named: readonly object[]) => ({ parts: named })
    await refused('no part', parts(), { status: 400, code: 'invalid_request' })
    await refused('no list', {}, { status: 400, code: 'invalid_request' })
    await refused('what is unknown', { ...parts(last), tags: {} }, { status: 400, code: 'invalid_request' })
    await refused('a falling order', parts(last, large), { status: 400, code: 'invalid_part_order' })
    await refused('a part twice', parts(large, large), { status: 400, code: 'invalid_part_order' })
    await refused('a part below 1', parts({ ...last, partNumber: 0 }), {
      status: 400,
      code: 'invalid_part_order',
    })
    await refused('another tag', parts({ ...last, etag: large.etag }), { status: 400, code: 'invalid_part' })
    await refused('an invalid tag', parts({ ...last, etag: 'abc' }), { status: 400, code: 'invalid_part' })
    for (const partNumber of [4, 10_000, 10_001, 2 ** 40])
      await refused(`part ${partNumber}`, parts(large, { ...last, partNumber }), { code: 'invalid_part' })
    await refused('a small part before the last', parts(small, large), {
      status: 400,
      code: 'entity_too_small',
    })
    const many = Array.from({ length: 10_001 }, (_, n) => ({ ...last, partNumber: n + 1 }))
    await refused('more parts than there can be', parts(...many), { status: 400, code: 'invalid_request' })
    t.equal((await client.complete(upload, [large, last])).status, 200, 'and leaves the upload unchanged')
    t.match(
      client.usage,
      { uploads: 0, uploadBytes: 0, logicalBytes: PART_MIN + 4 },
      'a part not named is dropped',
    )
  },
)

t.test(
  '[native: Part upload rules] a digest is verified before a part is created [multipart.part.rule] [multipart.part.sums]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const upload = { key: 'k', id: await client.begin('k') }
    const bytes = partBytes(1, 3 * MIB)
    const sha256 = createHash('sha256').update(bytes).digest('base64')
    const before = client.world.memory.proposals
    for (const [headers, code] of [
      [{ 'x-service-checksum-sha256': createHash('sha256').digest('base64') }, 'checksum_mismatch'],
      [{ 'x-service-checksum-sha256': 'abc' }, 'checksum_malformed'],
      [{ 'x-service-checksum-md5': sha256 }, 'checksum_unsupported'],
      [{ 'x-service-checksum-sha256': sha256, 'x-service-checksum-crc32': 'AAAAAA==' }, 'checksum_mismatch'],
    ] as const)
      t.match(await client.put(upload, 1, bytes, headers), { status: 400, code })
    t.match((await client.ask('GET', `${upload.id}/parts/k`)).json, { parts: { length: 0 } })
    t.equal(client.usage.uploadBytes, 0)
    const opened = 1
    t.ok(client.world.memory.proposals <= before + opened, 'nothing but a session was proposed')
    const stored = await client.put(upload, 1, bytes, { 'x-service-checksum-sha256': sha256 })
    t.match(stored.json['checksums'], { SHA256: sha256, CRC64NVME: String })
    const listed = (await client.ask('GET', `${upload.id}/parts/k`)).json['parts'] as object[]
    t.match(listed, [{ checksums: { SHA256: sha256 } }], 'and persisted')
  },
)

t.test('checksums of the whole', async (t) => {
  const client = await MultipartClient.start(t)
  const bodies = [partBytes(1, PART_MIN), Buffer.from('tail')]
  const whole = Buffer.concat(bodies)
  const begin = async (checksumAlg?: string) => {
    const upload = { key: 'k', id: await client.begin('k', checksumAlg === undefined ? {} : { checksumAlg }) }
    const parts = []
    for (const [n, body] of bodies.entries()) parts.push(await client.part(upload, n + 1, body))
    return { upload, parts }
  }

  await t.test('are compared when the client gives them, and nothing happens if they differ', async (t) => {
    const { upload, parts } = await begin('CRC32')
    const wrong = { 'x-service-checksum-crc32': 'AAAAAA==' }
    t.match(await client.complete(upload, parts, wrong), { status: 400, code: 'checksum_mismatch' })
    const sha = { 'x-service-checksum-sha256': createHash('sha256').update(whole).digest('base64') }
    t.match(await client.complete(upload, parts, sha), { status: 400, code: 'checksum_unsupported' })
    const right = { 'x-service-checksum-crc32': base64Crc32(whole) }
    t.equal((await client.complete(upload, parts, right)).status, 200)
    t.match(await client.complete(upload, parts, wrong), { code: 'checksum_mismatch' }, 'repeated, too')
    t.equal((await client.get('k')).headers['x-service-checksum-crc32'], base64Crc32(whole))
  })

  await t.test('always have CRC64NVME, and a hash never', async (t) => {
    const { upload, parts } = await begin('SHA256')
    const done = await client.complete(upload, parts)
    const put = await client.world.call({
      method: 'PUT',
      path: '/api/v1/buckets/photos/objects/at-once',
      token: client.token,
      body: whole,
    })
    t.strictSame(done.json['checksums'], put.json['checksums'], 'the same as of a single put')
  })
})

t.test('limits of a part [limits.part-number]', async (t) => {
  const client = await MultipartClient.start(t, { limits: { objectPutBytesMax: 3000 } })
  const upload = { key: 'k', id: await client.begin('k') }
  for (const number of ['0', '10001', '999999999', '1234567890', '-1', '1.5', 'x', '%31x', '1e3'])
    t.match(await client.put(upload, number, 'x'), { status: 400, code: 'invalid_argument' }, number)
  t.match(await client.put(upload, 1, Buffer.alloc(3001)), { status: 413, code: 'entity_too_large' })
  const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined }
  const answer = await client.put(upload, 1, Buffer.alloc(3001), chunked)
  t.match(answer, { status: 413, code: 'entity_too_large' }, 'while it streams')
  t.equal((await client.put(upload, 1, Buffer.alloc(3000), chunked)).status, 200)
  for (const header of ['x-service-meta-a', 'if-match', 'content-range', 'x-service-tagging'])
    t.match(await client.put(upload, 1, 'x', { [header]: 'x' }), { status: 400 }, header)
})

t.test('a part that is sent again replaces the one before [multipart.part.again]', async (t) => {
  const client = await MultipartClient.start(t)
  const upload = { key: 'k', id: await client.begin('k') }
  const first = await client.part(upload, 1, partBytes(1, 9 * MIB))
  const second = await client.part(upload, 1, partBytes(2, 6 * MIB))
  t.match(client.usage, { uploadBytes: 6 * MIB })
  t.match(await client.complete(upload, [first]), { code: 'invalid_part' })
  t.equal((await client.complete(upload, [second])).status, 200)
  t.ok((await client.get('k')).bytes.equals(partBytes(2, 6 * MIB)))
})

t.test('abortMultipartUpload [multipart.abort] [multipart.complete.gone]', async (t) => {
  const client = await MultipartClient.start(t)
  const upload = { key: 'k', id: await client.begin('k') }
  const parts = [await client.part(upload, 1, 'x')]
  t.equal((await client.abort(upload)).status, 204)
  t.equal((await client.abort(upload)).status, 204, 'may be repeated')
  t.match(client.usage, { uploads: 0, uploadBytes: 0 })
  t.match(await client.complete(upload, parts), { status: 404, code: 'not_found' })
  t.match(await client.put(upload, 1, 'x'), { status: 404, code: 'not_found' })
  t.match(await client.ask('GET', `${upload.id}/parts/k`), { status: 404, code: 'not_found' })
  const before = client.world.memory.proposals
  t.equal((await client.abort({ key: 'k', id: 'never%00started' })).status, 204)
  t.equal(client.world.memory.proposals, before, 'an unknown upload costs no entry of the log')
})
