/**
 * Checksums of assembled objects through the S3 API: over all bytes or over those of the parts, and what clients claim of them.
 */
import assert from 'node:assert/strict'
import { crc32c } from '@node-rs/crc32'
import t from 'tap'
import { patternBytes } from '../../helpers/content-world.ts'
import { completionOf, MultipartCalls, PART_MIN, type S3Part } from './multipart-calls.ts'
import { type S3Answer, S3World } from './s3-world.ts'

const ONE = patternBytes(PART_MIN, 1)
const TWO = Buffer.from('the end')

t.test('checksums of a multipart upload', async (t) => {
  const s3 = await S3World.start(t)
  const film = new MultipartCalls(s3, 'film')
  const types = (answer: S3Answer) => [
    answer.headers['x-amz-checksum-algorithm'],
    answer.headers['x-amz-checksum-type'],
  ]
  const begin = (headers: Readonly<Record<string, string>>) =>
    s3.call({ method: 'POST', path: `${film.path}?uploads`, headers })
  const started = async (headers: Readonly<Record<string, string>>) => {
    const answer = await begin(headers)
    assert.equal(answer.status, 200, answer.bytes.toString())
    const uploadId = answer.xml?.textOf('UploadId') ?? ''
    const sent = [await film.put(uploadId, 1, ONE), await film.put(uploadId, 2, TWO)]
    const sums = sent.map((one) => String(one.headers['x-amz-checksum-crc32c']))
    const parts = sent.map((one, n) => ({ partNumber: n + 1, etag: String(one.headers.etag) }))
    return { answer, uploadId, parts, sums }
  }
  const claims = (parts: readonly S3Part[], sums: readonly string[]) =>
    completionOf(parts.map((part, n) => ({ ...part, inner: `<ChecksumCRC32C>${sums[n]}</ChecksumCRC32C>` })))

  await t.test('over those of the parts, as S3 takes it where nothing is said', async (t) => {
    const { answer, uploadId, parts, sums } = await started({ 'x-amz-checksum-algorithm': 'CRC32C' })
    t.same(types(answer), ['CRC32C', 'COMPOSITE'])
    const [listed] = (await s3.call({ path: '/photos?uploads' })).xml?.childrenNamed('Upload') ?? []
    t.same([listed?.textOf('ChecksumAlgorithm'), listed?.textOf('ChecksumType')], ['CRC32C', 'COMPOSITE'])
    const wrong = await film.complete(uploadId, claims(parts, sums.toReversed()))
    t.match(wrong, { status: 400, s3Code: 'InvalidPart' })
    const size = { 'x-amz-mp-object-size': `${ONE.length + TWO.length}` }
    const refused = [
      [{ 'x-amz-mp-object-size': '1' }, 'InvalidRequest'],
      [{ 'x-amz-mp-object-size': 'x' }, 'InvalidArgument'],
      [{ 'x-amz-checksum-type': 'FULL_OBJECT' }, 'InvalidRequest'],
      [{ 'x-amz-checksum-type': 'HALF' }, 'InvalidRequest'],
      [{ 'x-amz-checksum-crc32c': `${sums[0]}-3` }, 'BadDigest'],
      [{ 'x-amz-checksum-crc32c': `${sums[0]}-2` }, 'BadDigest'],
    ] as const
    for (const [headers, s3Code] of refused)
      t.match(await film.complete(uploadId, parts, headers), { status: 400, s3Code }, JSON.stringify(headers))
    const completed = await film.complete(uploadId, claims(parts, sums), size)
    t.equal(completed.status, 200)
    const checksum = completed.xml?.textOf('ChecksumCRC32C') ?? ''
    t.match(checksum, /^[A-Za-z0-9+/]{6}==-2$/)
    t.same(
      [completed.xml?.textOf('ChecksumType'), completed.xml?.child('ChecksumCRC64NVME')],
      ['COMPOSITE', null],
    )
    const right = { 'x-amz-checksum-crc32c': checksum, 'x-amz-checksum-type': 'COMPOSITE', ...size }
    t.match(await film.complete(uploadId, parts, right), { status: 200 })
    const mode = { 'x-amz-checksum-mode': 'ENABLED' }
    const second = await s3.call({ path: `${film.path}?partNumber=2`, headers: mode })
    t.same([second.headers['x-amz-checksum-crc32c'], types(second)[1]], [sums[1], 'COMPOSITE'], 'of a part')
    const [shown] = (await s3.call({ path: '/photos' })).xml?.childrenNamed('Contents') ?? []
    t.same([shown?.textOf('ChecksumAlgorithm'), shown?.textOf('ChecksumType')], ['CRC32C', 'COMPOSITE'])
    const copied = await s3.call({
      method: 'PUT',
      path: '/photos/copy',
      headers: { 'x-amz-copy-source': film.path },
    })
    t.same(
      [copied.xml?.textOf('ChecksumCRC32C'), copied.xml?.textOf('ChecksumType')],
      [checksum, 'COMPOSITE'],
    )
  })

  await t.test('over all bytes, on request', async (t) => {
    const headers = { 'x-amz-checksum-algorithm': 'CRC32C', 'x-amz-checksum-type': 'FULL_OBJECT' }
    const { answer, uploadId, parts } = await started(headers)
    t.same(types(answer), ['CRC32C', 'FULL_OBJECT'])
    const whole = Buffer.alloc(4)
    whole.writeUInt32BE(crc32c(Buffer.concat([ONE, TWO])))
    const claim = { 'x-amz-checksum-crc32c': whole.toString('base64'), 'x-amz-checksum-type': 'FULL_OBJECT' }
    const ofParts = { 'x-amz-checksum-crc32c': `${whole.toString('base64')}-2` }
    t.match(await film.complete(uploadId, parts, ofParts), { status: 400, s3Code: 'InvalidRequest' })
    const completed = await film.complete(uploadId, parts, claim)
    t.equal(completed.status, 200)
    t.equal(completed.xml?.textOf('ChecksumCRC32C'), whole.toString('base64'))
    t.equal(completed.xml?.textOf('ChecksumType'), 'FULL_OBJECT')
  })

  const impossible = [
    { 'x-amz-checksum-type': 'COMPOSITE' },
    { 'x-amz-checksum-algorithm': 'SHA256', 'x-amz-checksum-type': 'FULL_OBJECT' },
    { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'x' },
  ]
  for (const headers of impossible) t.match(await begin(headers), { status: 400, s3Code: 'InvalidRequest' })
  t.same(types(await begin({})), [undefined, undefined])
})
