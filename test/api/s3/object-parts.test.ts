/**
 * Parts and attributes of stored objects through the S3 API.
 *
 * Actions: GetObjectAttributes
 */
import t from 'tap'
import { MultipartCalls, PART_MIN } from './multipart-calls.ts'
import { S3World } from './s3-world.ts'

t.test('parts of an object', async (t) => {
  const s3 = await S3World.start(t)
  const upload = new MultipartCalls(s3, 'film')
  const bytes = [Buffer.alloc(PART_MIN, 'a'), Buffer.alloc(PART_MIN + 1, 'b'), Buffer.from('the end')]
  const id = await upload.begin({ 'x-amz-checksum-algorithm': 'CRC32' })
  const parts = []
  for (const [n, body] of bytes.entries()) parts.push(await upload.part(id, n + 1, body))
  t.equal((await upload.complete(id, parts)).status, 200)
  const size = bytes.reduce((sum, { length }) => sum + length, 0)

  await t.test('are read by their numbers', async (t) => {
    let start = 0
    for (const [n, body] of bytes.entries()) {
      const path = `/photos/film?partNumber=${n + 1}`
      const range = `bytes ${start}-${start + body.length - 1}/${size}`
      const headers = { 'x-amz-mp-parts-count': '3', 'content-length': `${body.length}` }
      const got = await s3.call({ path, headers: { 'x-amz-checksum-mode': 'ENABLED' } })
      t.match(got, {
        status: 206,
        headers: { ...headers, 'content-range': range, 'x-amz-checksum-crc32': String },
      })
      t.ok(got.bytes.equals(body))
      t.match(await s3.call({ method: 'HEAD', path }), { status: 206, headers })
      start += body.length
    }
  })

  await t.test('that are not there are refused, and so is a part of a range', async (t) => {
    for (const n of [0, 4]) {
      const answer = await s3.call({ path: `/photos/film?partNumber=${n}` })
      t.match(answer, { status: 416, s3Code: 'InvalidPartNumber' }, `${n}`)
    }
    t.match(await s3.call({ path: '/photos/film?partNumber=x' }), { status: 400, s3Code: 'InvalidArgument' })
    const both = await s3.call({ path: '/photos/film?partNumber=1', headers: { range: 'bytes=0-1' } })
    t.match(both, { status: 400, s3Code: 'InvalidRequest' })
  })

  await t.test('of an object that was put at once are one', async (t) => {
    await s3.call({ method: 'PUT', path: '/photos/one', body: 'whole' })
    const got = await s3.call({ path: '/photos/one?partNumber=1' })
    t.match(got, { status: 206, headers: { 'content-range': 'bytes 0-4/5' } })
    t.equal(got.headers['x-amz-mp-parts-count'], undefined)
    t.equal((await s3.call({ path: '/photos/one?partNumber=2' })).status, 416)
    await s3.call({ method: 'PUT', path: '/photos/none', body: '' })
    t.match(await s3.call({ path: '/photos/none?partNumber=1' }), {
      status: 206,
      headers: { 'content-length': '0' },
    })
  })

  const attributes = (names: string, more: Record<string, string> = {}) =>
    s3.call({ path: '/photos/film?attributes', headers: { 'x-amz-object-attributes': names, ...more } })

  await t.test('are listed among the attributes, page by page', async (t) => {
    const all = await attributes('ETag,Checksum,ObjectParts,StorageClass,ObjectSize')
    t.equal(all.status, 200)
    t.match(all.xml?.textOf('ETag'), /^[0-9a-f]{32}-3$/)
    t.equal(all.xml?.textOf('ObjectSize'), `${size}`)
    t.same(
      sizesIn(all.xml?.needed('ObjectParts')),
      bytes.map(({ length }) => `${length}`),
    )
    const first = await attributes('ObjectParts', { 'x-amz-max-parts': '2' })
    const page = first.xml?.needed('ObjectParts')
    t.same(
      [sizesIn(page).length, page?.textOf('IsTruncated'), page?.textOf('NextPartNumberMarker')],
      [2, 'true', '2'],
    )
    const rest = await attributes('ObjectParts', { 'x-amz-part-number-marker': '2' })
    t.same(sizesIn(rest.xml?.needed('ObjectParts')), ['7'])
    t.equal(rest.xml?.child('ETag'), null, 'what was not asked for is not said')
  })

  await t.test('attributes that do not exist are refused', async (t) => {
    t.match(await attributes('ETag,Colour'), { status: 400, s3Code: 'InvalidArgument' })
    t.match(await attributes(''), { status: 400, s3Code: 'InvalidRequest' })
    const absent = await s3.call({
      path: '/photos/absent?attributes',
      headers: { 'x-amz-object-attributes': 'ETag' },
    })
    t.match(absent, { status: 404, s3Code: 'NoSuchKey' })
  })
})

function sizesIn(
  parts: { childrenNamed(name: string): readonly { textOf(name: string): string | null }[] } | undefined,
) {
  return (parts?.childrenNamed('Part') ?? []).map((part) => part.textOf('Size'))
}
