/**
 * Copies through the S3 API: of whole objects, and of ranges into parts.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import t from 'tap'
import { deferred, until } from '../../helpers/async.ts'
import { NO_CALLER_LIMITS, patternBytes } from '../../helpers/content-world.ts'
import { AuditedWorld } from '../audited-world.ts'
import { md5Of, MIB, MultipartCalls } from './multipart-calls.ts'
import { type S3Answer, S3World } from './s3-world.ts'

type Headers = Readonly<Record<string, string>>

const DAY_MS = 86_400_000

async function worldWith(
  t: Parameters<typeof S3World.start>[0],
  bucket: object,
): Promise<{
  readonly s3: S3World
  readonly put: (key: string, body: string, headers?: Headers) => Promise<S3Answer>
}> {
  const s3 = await S3World.start(t)
  const made = await s3.world.call({
    method: 'POST',
    path: '/api/v1/buckets',
    token: s3.token,
    body: { name: 'films', ...bucket },
  })
  assert.equal(made.status, 201)
  const put = (key: string, body: string, headers: Headers = {}) =>
    s3.call({ method: 'PUT', path: `/films/${key}`, body, headers })
  return { s3, put }
}

t.test('CopyObject', async (t) => {
  const { s3, put } = await worldWith(t, { objectLockEnabled: true })
  const described = {
    'content-type': 'a/b',
    'x-amz-meta-by': 'me',
    'x-amz-tagging': 'a=b',
    'cache-control': 'no-store',
  }
  const source = await put('a%20source', 'hello', described)
  const copy = (key: string, headers: Headers = {}) =>
    s3.call({
      method: 'PUT',
      path: `/films/${key}`,
      headers: { 'x-amz-copy-source': '/films/a%20source', ...headers },
    })
  const head = (key: string) => s3.call({ method: 'HEAD', path: `/films/${key}` })

  await t.test('copies bytes, metadata and tags', async (t) => {
    const copied = await copy('copy')
    t.match(copied, {
      status: 200,
      headers: {
        'x-amz-version-id': /.{26}/,
        'x-amz-copy-source-version-id': source.headers['x-amz-version-id'],
      },
    })
    t.equal(copied.xml?.name, 'CopyObjectResult')
    t.equal(copied.xml?.textOf('ETag'), `"${md5Of('hello')}"`)
    t.match(copied.xml?.textOf('LastModified'), /Z$/)
    t.match((await head('copy')).headers, {
      'content-type': 'a/b',
      'cache-control': 'no-store',
      'x-amz-meta-by': 'me',
      'x-amz-tagging-count': '1',
    })
    t.equal((await s3.call({ path: '/films/copy' })).bytes.toString(), 'hello')
    const ignored = await copy('ignored', { 'x-amz-metadata-directive': 'COPY', 'x-amz-meta-by': 'you' })
    t.match([ignored.status, (await head('ignored')).headers['x-amz-meta-by']], [200, 'me'])
  })

  await t.test('replaces metadata, and tags, each by its own directive', async (t) => {
    const metadata = {
      'x-amz-metadata-directive': 'REPLACE',
      'content-type': 'c/d',
      'x-amz-meta-lens': '35mm',
    }
    t.match(await copy('replaced', metadata), { status: 200 })
    const { headers } = await head('replaced')
    t.match(headers, { 'content-type': 'c/d', 'x-amz-meta-lens': '35mm', 'x-amz-tagging-count': '1' })
    t.notOk('x-amz-meta-by' in headers || 'cache-control' in headers)
    t.match(await copy('tags', { 'x-amz-tagging-directive': 'REPLACE', 'x-amz-tagging': 'c=d&e=f' }), {
      status: 200,
    })
    t.match((await head('tags')).headers, { 'x-amz-meta-by': 'me', 'x-amz-tagging-count': '2' })
    t.match(await copy('no-tags', { 'x-amz-tagging-directive': 'REPLACE' }), { status: 200 })
    t.notOk('x-amz-tagging-count' in (await head('no-tags')).headers)
  })

  await t.test('onto itself only where something changes', async (t) => {
    t.match(await copy('a%20source'), { status: 400, s3Code: 'InvalidRequest' })
    const touched = await copy('a%20source', {
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-meta-mtime': '1',
    })
    t.match(touched, { status: 200 })
    t.match((await head('a%20source')).headers, { 'x-amz-meta-mtime': '1', etag: `"${md5Of('hello')}"` })
    const old = `/films/a%20source?versionId=${String(source.headers['x-amz-version-id'])}`
    t.match(
      await copy('a%20source', { 'x-amz-copy-source': old }),
      { status: 200 },
      'an older version is restored',
    )
    t.match((await head('a%20source')).headers, { 'x-amz-meta-by': 'me' })
  })

  await t.test('has the checksum that is asked for', async (t) => {
    const sha256 = createHash('sha256').update('hello').digest('base64')
    const copied = await copy('digested', { 'x-amz-checksum-algorithm': 'SHA256' })
    t.same(
      [copied.xml?.textOf('ChecksumSHA256'), copied.xml?.textOf('ChecksumType')],
      [sha256, 'FULL_OBJECT'],
    )
    t.match(await copy('digested', { 'x-amz-checksum-algorithm': 'MD4' }), {
      status: 400,
      s3Code: 'InvalidRequest',
    })
  })

  await t.test('locks are those of the copy', async (t) => {
    const until = new Date(s3.world.memory.now + DAY_MS).toISOString()
    const locks = {
      'x-amz-object-lock-mode': 'GOVERNANCE',
      'x-amz-object-lock-retain-until-date': until,
      'x-amz-object-lock-legal-hold': 'ON',
    }
    t.match(await copy('locked', locks), { status: 200 })
    t.match((await head('locked')).headers, locks)
    const again = await copy('unlocked', { 'x-amz-copy-source': 'films/locked' })
    t.equal(again.status, 200)
    t.notOk('x-amz-object-lock-mode' in (await head('unlocked')).headers)
  })

  await t.test('conditions on source and target, which always end in 412', async (t) => {
    const tag = `"${md5Of('hello')}"`
    const past = 'Fri, 20 Nov 2015 02:05:22 GMT'
    const future = new Date(s3.world.memory.now + DAY_MS).toUTCString()
    const failing: Headers[] = [
      { 'x-amz-copy-source-if-match': '"other"' },
      { 'x-amz-copy-source-if-none-match': tag },
      { 'x-amz-copy-source-if-unmodified-since': past },
      { 'x-amz-copy-source-if-modified-since': future },
      { 'if-match': '"other"' },
      { 'if-none-match': '*' },
    ]
    for (const headers of failing)
      t.match(
        await copy('copy', headers),
        { status: 412, s3Code: 'PreconditionFailed' },
        JSON.stringify(headers),
      )
    for (const ifMatch of ['*', tag])
      t.match(await copy('absent', { 'if-match': ifMatch }), { status: 404, s3Code: 'NoSuchKey' })
    const holding = {
      'x-amz-copy-source-if-match': tag,
      'x-amz-copy-source-if-unmodified-since': past,
      'if-none-match': '*',
    }
    t.match(await copy('new', holding), { status: 200 })
  })

  await t.test('refuses what it cannot carry out', async (t) => {
    const table: readonly (readonly [Headers, number, string])[] = [
      [{ 'x-amz-copy-source': 'films/absent' }, 404, 'NoSuchKey'],
      [{ 'x-amz-copy-source': 'absent/k' }, 404, 'NoSuchBucket'],
      [{ 'x-amz-copy-source': `films/a%20source?versionId=${'0'.repeat(26)}` }, 404, 'NoSuchVersion'],
      [{ 'x-amz-copy-source': 'films' }, 400, 'InvalidArgument'],
      [{ 'x-amz-metadata-directive': 'MERGE' }, 400, 'InvalidArgument'],
      [{ 'x-amz-tagging-directive': 'replace' }, 400, 'InvalidArgument'],
      [{ 'x-amz-storage-class': 'GLACIER' }, 400, 'InvalidStorageClass'],
      [{ 'x-amz-website-redirect-location': '/x' }, 501, 'NotImplemented'],
      [{ 'x-amz-copy-source-server-side-encryption-customer-algorithm': 'AES256' }, 400, 'InvalidRequest'],
      [{ 'x-amz-source-expected-bucket-owner': 'other' }, 403, 'AccessDenied'],
    ]
    for (const [headers, status, s3Code] of table)
      t.match(await copy('refused', headers), { status, s3Code }, JSON.stringify(headers))
    t.equal((await head('refused')).status, 404)
    const body = await s3.call({
      method: 'PUT',
      path: '/films/refused',
      headers: { 'x-amz-copy-source': 'films/copy' },
      body: 'x',
    })
    t.match(body, { status: 400, s3Code: 'InvalidRequest' })
  })
})

t.test('UploadPartCopy', async (t) => {
  const { s3 } = await worldWith(t, { versioning: 'Enabled' })
  const bytes = patternBytes(6 * MIB, 3)
  const put = await s3.call({ method: 'PUT', path: '/films/source', body: bytes })
  const whole = new MultipartCalls(s3, 'whole')
  const uploadId = await whole.begin()
  const source = { 'x-amz-copy-source': 'films/source' }

  const audited = await AuditedWorld.around(s3.world, s3.token)
  const path = `${whole.path}?partNumber=1&uploadId=${uploadId}`
  const { row } = await audited.row(s3.signed({ method: 'PUT', path, headers: source }))
  t.match(row, {
    api: 's3',
    operation: 'uploadPartCopy',
    bucket: 'photos',
    key: 'whole',
    details: {
      uploadId,
      partNumber: 1,
      size: bytes.length,
      source: { bucket: 'films', key: 'source', versionId: put.headers['x-amz-version-id'] },
    },
  })
  const first = await whole.copy(uploadId, 1, source)
  t.match(first, {
    status: 200,
    headers: { 'x-amz-copy-source-version-id': put.headers['x-amz-version-id'] },
  })
  t.equal(first.xml?.name, 'CopyPartResult')
  t.equal(first.xml?.textOf('ETag'), `"${md5Of(bytes)}"`)
  t.ok(first.xml?.textOf('ChecksumCRC64NVME'))
  const range = await whole.copy(uploadId, 2, { ...source, 'x-amz-copy-source-range': 'bytes=1-5' })
  t.equal(range.xml?.textOf('ETag'), `"${md5Of(bytes.subarray(1, 6))}"`)

  const refused: readonly (readonly [Headers, number, string])[] = [
    [{ 'x-amz-copy-source-range': `bytes=0-${bytes.length}` }, 416, 'InvalidRange'],
    [{ 'x-amz-copy-source-range': 'bytes=0-' }, 400, 'InvalidArgument'],
    [{ 'x-amz-copy-source-if-none-match': '*' }, 412, 'PreconditionFailed'],
    [{ 'x-amz-copy-source': 'films/absent' }, 404, 'NoSuchKey'],
    [{ 'x-amz-meta-a': 'b' }, 501, 'NotImplemented'],
  ]
  for (const [headers, status, s3Code] of refused)
    t.match(
      await whole.copy(uploadId, 3, { ...source, ...headers }),
      { status, s3Code },
      JSON.stringify(headers),
    )
  t.match(await whole.copy(uploadId, 0, source), { status: 400, s3Code: 'InvalidArgument' })
  t.match(await whole.copy(`mpu_${'0'.repeat(26)}`, 1, source), { status: 404, s3Code: 'NoSuchUpload' })
  const parts = [first, range].map(({ xml }, n) => ({ partNumber: n + 1, etag: xml?.textOf('ETag') ?? '' }))
  t.match(await whole.complete(uploadId, parts), { status: 200 })
  t.ok((await s3.call({ path: whole.path })).bytes.equals(Buffer.concat([bytes, bytes.subarray(1, 6)])))
})

t.test('a copied part counts as an upload of its caller', async (t) => {
  const accessKey = { ...NO_CALLER_LIMITS, uploadsAtOnce: 1 }
  const s3 = await S3World.start(t, { callers: { accessKey } })
  await s3.call({ method: 'PUT', path: '/photos/source', body: patternBytes(9 * MIB, 5) })
  const film = new MultipartCalls(s3, 'film')
  const uploadId = await film.begin()
  const gate = deferred()
  const { blobs } = s3.world.memory
  blobs.beforeWrite = () => gate.promise
  const range = { 'x-amz-copy-source': 'photos/source', 'x-amz-copy-source-range': `bytes=1-${8 * MIB}` }
  const copying = film.copy(uploadId, 1, range)
  await until('a chunk waits for its copies', () => blobs.writesNow > 0)
  t.match(await film.put(uploadId, 2, 'x'), { status: 503, s3Code: 'SlowDown' })
  gate.resolve()
  t.match(await copying, { status: 200 })
  t.match(await film.put(uploadId, 2, 'x'), { status: 200 })
})
