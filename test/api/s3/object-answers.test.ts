/**
 * Reads and deletions of objects through the S3 API: what a client asks for, and the answer of S3 to it.
 *
 * Actions: GetObject, HeadObject, DeleteObject, PutObject
 */
import t from 'tap'
import { S3World } from './s3-world.ts'

const TEXT = 'hello, world'
const CRC32 = '/6tyOg=='

t.test('GetObject and HeadObject', async (t) => {
  const s3 = await S3World.start(t)
  const put = await s3.call({
    method: 'PUT',
    path: '/photos/a',
    headers: {
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'x-amz-meta-name': 'b',
      'x-amz-checksum-crc32': CRC32,
    },
    body: TEXT,
  })
  t.match(put, {
    status: 200,
    headers: { 'x-amz-checksum-crc32': CRC32, 'x-amz-server-side-encryption': 'AES256' },
  })
  const { etag } = put.headers
  const get = (headers: Record<string, string> = {}, query = '') =>
    s3.call({ path: `/photos/a${query}`, headers })
  const head = (headers: Record<string, string> = {}, query = '') =>
    s3.call({ method: 'HEAD', path: `/photos/a${query}`, headers })

  t.test('say the same of an object', async (t) => {
    const [got, looked] = [await get(), await head()]
    t.equal(looked.bytes.length, 0)
    for (const { headers, status } of [got, looked]) {
      t.equal(status, 200)
      t.match(headers, {
        etag,
        'content-length': `${TEXT.length}`,
        'content-type': 'text/plain',
        'cache-control': 'no-store',
        'x-amz-meta-name': 'b',
        'accept-ranges': 'bytes',
        'last-modified': /GMT$/,
      })
      t.notOk('x-amz-checksum-crc32' in headers, 'digests are asked for')
      t.notOk('x-amz-version-id' in headers, 'the bucket has no versions')
      t.notOk(Object.keys(headers).some((name) => name.startsWith('x-service-')))
    }
    const mode = { 'x-amz-checksum-mode': 'ENABLED' }
    for (const { headers } of [await get(mode), await head(mode)])
      t.match(headers, { 'x-amz-checksum-crc32': CRC32, 'x-amz-checksum-type': 'FULL_OBJECT' })
  })

  t.test('give a range, and refuse one beyond the end with the size', async (t) => {
    for (const [range, text, said] of [
      ['bytes=0-4', 'hello', 'bytes 0-4/12'],
      ['bytes=7-', 'world', 'bytes 7-11/12'],
      ['bytes=-5', 'world', 'bytes 7-11/12'],
      ['bytes=0-99', TEXT, 'bytes 0-11/12'],
    ] as const) {
      const part = await get({ range })
      t.match(part, { status: 206, headers: { 'content-range': said, 'content-length': `${text.length}` } })
      t.equal(part.bytes.toString(), text)
      t.notOk('x-amz-checksum-crc32' in part.headers, 'the digest is that of the whole')
    }
    const beyond = await get({ range: 'bytes=12-' })
    t.match(beyond, { status: 416, s3Code: 'InvalidRange', headers: { 'content-range': 'bytes */12' } })
    t.equal(beyond.xml?.textOf('ActualObjectSize'), '12')
  })

  t.test('keep to conditions', async (t) => {
    const past = 'Thu, 01 Jan 2015 00:00:00 GMT'
    const future = new Date(s3.now.getTime() + 86_400_000).toUTCString()
    for (const [headers, status] of [
      [{ 'if-match': String(etag) }, 200],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-none-match': String(etag) }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-modified-since': past }, 200],
      [{ 'if-modified-since': future }, 304],
      [{ 'if-unmodified-since': past }, 412],
      [{ 'if-match': String(etag), 'if-unmodified-since': past }, 200],
      [{ 'if-none-match': String(etag), 'if-modified-since': past }, 304],
    ] as const) {
      const [got, looked] = [await get(headers), await head(headers)]
      t.equal(got.status, status, JSON.stringify(headers))
      t.equal(looked.status, status, JSON.stringify(headers))
      if (status === 412) t.equal(got.s3Code, 'PreconditionFailed')
      if (status === 304) t.match(got, { bytes: Buffer.alloc(0), headers: { etag } })
    }
  })

  t.test('answer with the headers that the query asks for', async (t) => {
    const query =
      '?response-content-type=image%2Fpng&response-content-disposition=attachment%3B%20filename%3D%22x%22&response-cache-control=max-age%3D1'
    for (const { headers } of [await get({}, query), await head({}, query)])
      t.match(headers, {
        'content-type': 'image/png',
        'content-disposition': 'attachment; filename="x"',
        'cache-control': 'max-age=1',
      })
    const broken = await get({}, '?response-content-type=a%0D%0Ab%3A%20c')
    t.equal(broken.status, 400)
  })
})

t.test('conditional writes', async (t) => {
  const s3 = await S3World.start(t)
  const put = (headers: Record<string, string>, body = TEXT) =>
    s3.call({ method: 'PUT', path: '/photos/once', headers, body })
  t.match(await put({ 'if-match': '"x"' }), { status: 404, s3Code: 'NoSuchKey' }, 'nothing can match')
  const first = await put({ 'if-none-match': '*' })
  t.equal(first.status, 200)
  t.match(await put({ 'if-none-match': '*' }), { status: 412, s3Code: 'PreconditionFailed' })
  t.match(await put({ 'if-match': '"x"' }), { status: 412, s3Code: 'PreconditionFailed' })
  t.equal((await put({ 'if-match': String(first.headers.etag) }, 'other')).status, 200)
  t.equal((await s3.call({ path: '/photos/once' })).bytes.toString(), 'other')
})

t.test('DeleteObject', async (t) => {
  const s3 = await S3World.start(t)
  const remove = (path: string, headers: Record<string, string> = {}) =>
    s3.call({ method: 'DELETE', path: `/photos/${path}`, headers })

  t.test('removes, and finds no fault with what is not there', async (t) => {
    const put = await s3.call({ method: 'PUT', path: '/photos/a', body: TEXT })
    t.match(await remove('a', { 'if-match': '"x"' }), { status: 412, s3Code: 'PreconditionFailed' })
    t.equal((await s3.call({ path: '/photos/a' })).status, 200)
    const gone = await remove('a', { 'if-match': String(put.headers.etag) })
    t.match(gone, { status: 204, bytes: Buffer.alloc(0) })
    t.notOk('x-amz-delete-marker' in gone.headers)
    t.equal((await s3.call({ path: '/photos/a' })).s3Code, 'NoSuchKey')
    t.equal((await remove('a')).status, 204)
    t.match(await s3.call({ method: 'DELETE', path: '/nosuch/a' }), { status: 404, s3Code: 'NoSuchBucket' })
  })

  t.test('hides what has versions, and removes the one that is named', async (t) => {
    const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
    t.equal((await s3.call({ method: 'PUT', path: '/photos?versioning', body })).status, 200)
    const made = await s3.call({ method: 'PUT', path: '/photos/v', body: TEXT })
    const versionId = String(made.headers['x-amz-version-id'])
    const hidden = await remove('v')
    t.match(hidden, { status: 204, headers: { 'x-amz-delete-marker': 'true' } })
    const old = await s3.call({ path: `/photos/v?versionId=${versionId}` })
    t.match(old, { status: 200, headers: { 'x-amz-version-id': versionId } })
    const marker = String(hidden.headers['x-amz-version-id'])
    t.match(await remove(`v?versionId=${marker}`), {
      status: 204,
      headers: { 'x-amz-version-id': marker, 'x-amz-delete-marker': 'true' },
    })
    t.equal((await s3.call({ path: '/photos/v' })).bytes.toString(), TEXT, 'it shows again')
    const removed = await remove(`v?versionId=${versionId}`)
    t.match(removed, { status: 204, headers: { 'x-amz-version-id': versionId } })
    t.notOk('x-amz-delete-marker' in removed.headers)
    t.equal((await s3.call({ path: `/photos/v?versionId=${versionId}` })).s3Code, 'NoSuchVersion')
  })
})
