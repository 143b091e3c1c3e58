/**
 * Multipart uploads through the S3 API: what clients send, what they read, and what each mistake is called.
 *
 * Actions: CreateMultipartUpload, UploadPart, ListParts, CompleteMultipartUpload, AbortMultipartUpload
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { patternBytes } from '../../helpers/content-world.ts'
import { completionOf, md5Of, MultipartCalls, PART_MIN } from './multipart-calls.ts'
import { S3World } from './s3-world.ts'

const NO_UPLOAD = `mpu_${'0'.repeat(26)}`
const ONE = patternBytes(PART_MIN, 1)
const TWO = Buffer.from('the end')

t.test('a multipart upload', async (t) => {
  const s3 = await S3World.start(t)
  const film = new MultipartCalls(s3, 'films/a%20b.mp4')

  await t.test('from its beginning to the object, which both APIs show', async (t) => {
    const started = await s3.call({
      method: 'POST',
      path: `${film.path}?uploads=`,
      headers: {
        'content-type': 'video/mp4',
        'x-amz-meta-by': 'me',
        'x-amz-tagging': 'a=b',
        'x-amz-checksum-algorithm': 'CRC32C',
      },
    })
    t.match(started, {
      status: 200,
      headers: { 'x-amz-checksum-algorithm': 'CRC32C', 'x-amz-server-side-encryption': 'AES256' },
    })
    t.same(
      started.xml?.children.map(({ name, text }) => [name, name === 'UploadId' ? '' : text]),
      [
        ['Bucket', 'photos'],
        ['Key', 'films/a b.mp4'],
        ['UploadId', ''],
      ],
    )
    const uploadId = started.xml?.textOf('UploadId') ?? ''
    t.match(uploadId, /^mpu_/)
    const first = await film.put(uploadId, 1, ONE)
    t.match(first, { status: 200, headers: { etag: `"${md5Of(ONE)}"`, 'x-amz-checksum-crc32c': /=$/ } })
    t.equal(first.bytes.length, 0)
    const parts = [{ partNumber: 1, etag: String(first.headers.etag) }, await film.part(uploadId, 7, TWO)]

    const listed = (await film.list(uploadId)).xml
    assert.ok(listed)
    t.same(
      listed.children.map(({ name }) => name),
      [
        'Bucket',
        'Key',
        'UploadId',
        'Initiator',
        'Owner',
        'StorageClass',
        'PartNumberMarker',
        'NextPartNumberMarker',
        'MaxParts',
        'IsTruncated',
        'ChecksumAlgorithm',
        'ChecksumType',
        'Part',
        'Part',
      ],
    )
    t.same([listed.textOf('NextPartNumberMarker'), listed.textOf('IsTruncated')], ['7', 'false'])
    t.same(
      listed
        .childrenNamed('Part')
        .map((part) => [part.textOf('PartNumber'), part.textOf('ETag'), part.textOf('Size')]),
      [
        ['1', parts[0]?.etag, `${PART_MIN}`],
        ['7', parts[1]?.etag, '7'],
      ],
    )
    t.equal((await film.list(uploadId, '&encoding-type=url')).xml?.textOf('Key'), 'films/a%20b.mp4')
    const page = (await film.list(uploadId, '&max-parts=1')).xml
    t.same(
      ['MaxParts', 'IsTruncated', 'NextPartNumberMarker'].map((name) => page?.textOf(name)),
      ['1', 'true', '1'],
    )
    const rest = (await film.list(uploadId, '&max-parts=1&part-number-marker=1')).xml
    t.same(
      [
        rest?.textOf('PartNumberMarker'),
        rest?.needed('Part').textOf('PartNumber'),
        rest?.textOf('IsTruncated'),
      ],
      ['1', '7', 'false'],
    )

    const completed = await film.complete(uploadId, parts)
    t.match(completed, {
      status: 200,
      s3Code: undefined,
      headers: { 'x-amz-server-side-encryption': 'AES256' },
    })
    t.equal(completed.xml?.name, 'CompleteMultipartUploadResult')
    t.same(
      ['Location', 'Bucket', 'Key'].map((name) => completed.xml?.textOf(name)),
      [`http://${s3.host}/photos/films/a%20b.mp4`, 'photos', 'films/a b.mp4'],
    )
    const tags = Buffer.concat([ONE, TWO].map((bytes) => Buffer.from(md5Of(bytes), 'hex')))
    t.equal(completed.xml?.textOf('ETag'), `"${md5Of(tags)}-2"`)
    const again = await film.complete(uploadId, parts)
    t.same(again.bytes, completed.bytes, 'clients that lost the answer ask again')

    const got = await s3.call({ path: film.path })
    t.match(got.headers, { 'content-type': 'video/mp4', 'x-amz-meta-by': 'me', 'x-amz-tagging-count': '1' })
    t.ok(got.bytes.equals(Buffer.concat([ONE, TWO])))
    t.equal(got.headers.etag, completed.xml?.textOf('ETag'))
    const native = await s3.world.call({
      path: '/api/v1/buckets/photos/objects/films/a%20b.mp4',
      token: s3.token,
    })
    t.match(native, { status: 200, headers: { etag: got.headers.etag, 'x-service-parts-count': '2' } })
  })

  await t.test('is ended by an abort, and its parts with it', async (t) => {
    const uploadId = await film.begin()
    await film.part(uploadId, 1, TWO)
    t.match(await film.abort(uploadId), { status: 204 })
    for (const answer of [
      await film.abort(uploadId),
      await film.list(uploadId),
      await film.put(uploadId, 1, TWO),
      await film.complete(uploadId, [{ partNumber: 1, etag: '0'.repeat(32) }]),
    ])
      t.match(answer, { status: 404, s3Code: 'NoSuchUpload' })
    t.equal((await film.abort(uploadId)).xml?.textOf('UploadId'), uploadId)
  })

  await t.test('conditions and digests of the whole are those of the completion', async (t) => {
    const once = new MultipartCalls(s3, 'once')
    const [one, two, three] = [await once.begin(), await once.begin(), await once.begin()]
    const parts = await Promise.all([one, two, three].map((id) => once.part(id, 1, TWO)))
    const [first, second, third] = parts.map((part) => [part])
    assert.ok(first && second && third)
    t.match(await once.complete(one, first, { 'if-match': '*' }), { status: 404, s3Code: 'NoSuchKey' })
    const wrong = { 'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=' }
    t.match(await once.complete(one, first, wrong), { status: 400, s3Code: 'BadDigest' })
    t.match(await once.complete(one, first, { 'if-none-match': '*' }), { status: 200 })
    t.match(await once.complete(two, second, { 'if-none-match': '*' }), {
      status: 412,
      s3Code: 'PreconditionFailed',
    })
    t.match(await once.complete(two, second, { 'if-match': '"other"' }), {
      status: 412,
      s3Code: 'PreconditionFailed',
    })
    const head = await s3.call({
      method: 'HEAD',
      path: once.path,
      headers: { 'x-amz-checksum-mode': 'ENABLED' },
    })
    const right = {
      'if-match': String(head.headers.etag),
      'x-amz-checksum-crc64nvme': String(head.headers['x-amz-checksum-crc64nvme']),
    }
    t.match(await once.complete(two, second, right), { status: 200 })
    t.match(await once.complete(three, third, { 'x-amz-checksum-crc64nvme': 'x' }), {
      status: 400,
      s3Code: 'InvalidDigest',
    })
  })
})

t.test('mistakes of a multipart upload are called as S3 calls them', async (t) => {
  const s3 = await S3World.start(t)
  const film = new MultipartCalls(s3, 'film')
  const uploadId = await film.begin()
  const [one, two] = [await film.part(uploadId, 1, TWO), await film.part(uploadId, 2, TWO)]
  const other = { ...one, etag: '0'.repeat(32) }
  const table = [
    ['parts that are too small', [one, two], 'EntityTooSmall'],
    ['parts out of order', [two, one], 'InvalidPartOrder'],
    ['a part twice', [one, one], 'InvalidPartOrder'],
    ['a part that was never sent', [one, { ...two, partNumber: 3 }], 'InvalidPart'],
    ['a part with another tag', [other], 'InvalidPart'],
    ['a tag that is none', [{ ...one, etag: 'x' }], 'InvalidPart'],
    ['no part', [], 'MalformedXML'],
    ['what is no XML', '<Complete', 'MalformedXML'],
    ['another document', '<Delete/>', 'MalformedXML'],
    ['nothing', '', 'MalformedXML'],
  ] as const
  for (const [what, parts, s3Code] of table)
    t.match(await film.complete(uploadId, parts), { status: 400, s3Code }, what)
  for (const number of ['0', '10001', 'x', '', '-1', '1.5'])
    t.match(await film.put(uploadId, number, TWO), { status: 400, s3Code: 'InvalidArgument' }, number)
  t.match(await film.put(NO_UPLOAD, 1, TWO), { status: 404, s3Code: 'NoSuchUpload' })
  t.match(await film.put('', 1, TWO), { status: 404, s3Code: 'NoSuchUpload' })
  t.match(await film.put(uploadId, 1, TWO, { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }), {
    status: 400,
    s3Code: 'BadDigest',
  })
  t.match(await film.put(uploadId, 1, TWO, { 'x-amz-meta-a': 'b' }), {
    status: 501,
    s3Code: 'NotImplemented',
  })
  const begin = (headers: Record<string, string>) =>
    s3.call({ method: 'POST', path: `${film.path}?uploads`, headers })
  t.match(await begin({ 'x-amz-acl': 'public-read' }), { status: 501, s3Code: 'NotImplemented' })
  t.match(await begin({ 'x-amz-checksum-algorithm': 'MD4' }), { status: 400, s3Code: 'InvalidRequest' })
  t.match(await begin({ 'if-none-match': '*' }), { status: 501, s3Code: 'NotImplemented' })
  t.match(await begin({ 'x-amz-object-lock-legal-hold': 'ON' }), { status: 400, s3Code: 'InvalidRequest' })
  t.match(await s3.call({ method: 'POST', path: '/absent/k?uploads' }), {
    status: 404,
    s3Code: 'NoSuchBucket',
  })
  t.match(await film.complete(uploadId, [one]), { status: 200 }, 'nothing of it has harmed the upload')
})

t.test('ListMultipartUploads', async (t) => {
  const s3 = await S3World.start(t)
  const ids: string[] = []
  for (const key of ['a/1', 'a/1', 'b', 'c%20d']) ids.push(await new MultipartCalls(s3, key).begin())
  const list = async (query: string) => {
    const { status, xml, bytes } = await s3.call({ path: `/photos?uploads${query}` })
    assert.equal(status, 200, bytes.toString())
    assert.ok(xml)
    return xml
  }
  const page = await list('&delimiter=%2F&encoding-type=url')
  t.same(
    page.children.map(({ name }) => name),
    [
      'Bucket',
      'KeyMarker',
      'UploadIdMarker',
      'Delimiter',
      'Prefix',
      'EncodingType',
      'MaxUploads',
      'IsTruncated',
      'Upload',
      'Upload',
      'CommonPrefixes',
    ],
  )
  t.same(
    page.childrenNamed('CommonPrefixes').map((one) => one.textOf('Prefix')),
    ['a/'],
  )
  const [shown, spaced] = page.childrenNamed('Upload')
  t.same(
    shown?.children.map(({ name }) => name),
    ['Key', 'UploadId', 'Initiator', 'Owner', 'StorageClass', 'Initiated'],
  )
  t.same([shown?.textOf('Key'), shown?.textOf('UploadId'), spaced?.textOf('Key')], ['b', ids[2], 'c%20d'])
  const paged: (string | null)[] = []
  let [key, id] = ['', '']
  for (let n = 0; n < 4; n++) {
    const one = await list(`&max-uploads=1&key-marker=${encodeURIComponent(key)}&upload-id-marker=${id}`)
    paged.push(one.needed('Upload').textOf('UploadId'))
    t.equal(one.textOf('IsTruncated'), `${n < 3}`)
    key = one.textOf('NextKeyMarker') ?? ''
    id = one.textOf('NextUploadIdMarker') ?? ''
  }
  t.same(paged, ids)
  t.same((await list('&max-uploads=0')).childrenNamed('Upload'), [])
  t.match(await s3.call({ path: '/photos?uploads&max-uploads=x' }), {
    status: 400,
    s3Code: 'InvalidArgument',
  })
})

t.test('parts need the rights of the object that they make', async (t) => {
  const s3 = await S3World.start(t, {
    scopes: 'op=write:bucket=photos:prefix=in/,op=read:bucket=photos:prefix=in/',
  })
  const own = new MultipartCalls(s3, 'in/film')
  const uploadId = await own.begin()
  const part = await own.part(uploadId, 1, TWO)
  const foreign = new MultipartCalls(s3, 'out/film')
  for (const answer of [
    await s3.call({ method: 'POST', path: `${foreign.path}?uploads` }),
    await foreign.put(uploadId, 1, TWO),
    await foreign.complete(uploadId, [part]),
    await foreign.list(uploadId),
    await foreign.abort(uploadId),
    await foreign.copy(uploadId, 1, { 'x-amz-copy-source': 'photos/in/film' }),
  ])
    t.match(answer, { status: 403, s3Code: 'AccessDenied' })
  t.match(await own.complete(uploadId, completionOf([part])), { status: 200 })
})

t.test('the location of an assembled object is where its client or the operator says', async (t) => {
  const table = [
    [{ s3Domains: ['s3.example'] }, 'photos.s3.example:8080', '', 'http://photos.s3.example:8080/a%20b'],
    [{ s3Domains: ['s3.example'] }, 's3.example', '/photos', 'http://s3.example/photos/a%20b'],
    [{ publicUrl: 'https://files.example' }, 'inside', '/photos', 'https://files.example/photos/a%20b'],
  ] as const
  for (const [options, host, bucket, location] of table) {
    const s3 = await S3World.start(t, options)
    const path = `${bucket}/a%20b`
    const started = await s3.call({ method: 'POST', path: `${path}?uploads`, host })
    const query = `uploadId=${started.xml?.textOf('UploadId')}`
    const part = await s3.call({ method: 'PUT', path: `${path}?partNumber=1&${query}`, host, body: 'x' })
    const body = completionOf([{ partNumber: 1, etag: String(part.headers.etag) }])
    const completed = await s3.call({ method: 'POST', path: `${path}?${query}`, host, body })
    t.equal(completed.xml?.textOf('Location'), location)
  }
})

t.test('an upload is the same upload through both APIs', async (t) => {
  const s3 = await S3World.start(t)
  const film = new MultipartCalls(s3, 'film')
  const uploads = '/api/v1/buckets/photos/multipart'
  const native = (method: string, path: string, body: object | Buffer) =>
    s3.world.call({ method, path: `${uploads}/${path}`, token: s3.token, body })

  const uploadId = await film.begin()
  const one = await native('PUT', `${uploadId}/parts/1/film`, ONE)
  const two = await film.part(uploadId, 2, TWO)
  const parts = [{ partNumber: 1, etag: `"${String(one.json['etag'])}"` }, two]
  const listed = (await film.list(uploadId)).xml?.childrenNamed('Part') ?? []
  t.same(
    listed.map((part) => part.textOf('ETag')),
    parts.map(({ etag }) => etag),
  )
  t.match(await film.complete(uploadId, parts), { status: 200 })
  t.ok((await s3.call({ path: film.path })).bytes.equals(Buffer.concat([ONE, TWO])))

  const started = await native('POST', 'film', {})
  const second = String(started.json['uploadId'])
  const part = await film.part(second, 1, TWO)
  t.match(await native('POST', `${second}/complete/film`, { parts: [part] }), { status: 200 })
  t.equal((await s3.call({ path: film.path })).bytes.toString(), TWO.toString())
})

t.test('parts are sent by presigned URLs', async (t) => {
  const s3 = await S3World.start(t)
  const film = new MultipartCalls(s3, 'film')
  const uploadId = await film.begin()
  const path = s3.presigned({ method: 'PUT', path: `${film.path}?partNumber=1&uploadId=${uploadId}` })
  const sent = await s3.sent({ method: 'PUT', path, body: TWO })
  t.match(sent, { status: 200, headers: { etag: `"${md5Of(TWO)}"` } })
  const elsewhere = path.replace('partNumber=1', 'partNumber=2')
  t.match(await s3.sent({ method: 'PUT', path: elsewhere, body: TWO }), { s3Code: 'SignatureDoesNotMatch' })
  const parts = [{ partNumber: 1, etag: String(sent.headers.etag) }]
  t.match(await film.complete(uploadId, parts), { status: 200 })
})
