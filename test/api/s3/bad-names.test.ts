/**
 * Requests for what is not there: sub-resources, parameters, keys, buckets, hosts and parts that are none.
 */
import t from 'tap'
import { NO_KEYS } from '../key-corpus.ts'
import { MANY, PUT, refuses, type Row } from './bad-input.ts'
import { S3_ROUTES } from './s3-samples.ts'
import { S3World } from './s3-world.ts'

/** Of S3, as far as AWS documents them. */
const SUB_RESOURCES = [
  'accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory legal-hold',
  'lifecycle location logging metadataConfiguration metadataTable metrics notification object-lock',
  'ownershipControls policy policyStatus publicAccessBlock renameObject replication requestPayment',
  'restore retention select session tagging torrent uploads versioning versions website nonsense',
  'toString __proto__',
].join(' ')

t.test('a sub-resource that no action has is refused by its name, and is never another action', async (t) => {
  const s3 = await S3World.start(t, MANY)
  await s3.call({ ...PUT, path: '/photos/k' })
  const known = new Set(
    S3_ROUTES.flatMap(({ level, method, marks }) => marks.map((mark) => `${method} ${level} ${mark}`)),
  )
  for (const level of ['service', 'bucket', 'object'] as const)
    for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'PATCH'])
      for (const name of SUB_RESOURCES.split(' ')) {
        if (known.has(`${method} ${level} ${name}`)) continue
        const path = { service: '/', bucket: '/photos', object: '/photos/k' }[level]
        const before = s3.world.memory.checksum()
        const { status, s3Code, xml } = await s3.call({ method, path: `${path}?${name}` })
        const label = `${method} ${path}?${name}: ${status} ${s3Code}`
        t.ok(status === 501 || status === 405, label)
        if (status === 501 && method !== 'HEAD')
          t.match(xml?.textOf('Message')?.toLowerCase().replaceAll('_', ''), wordOf(name), label)
        t.equal(s3.world.memory.checksum(), before, label)
      }
})

/** Refused by the parameter, or by the action that it means: either has this in it. */
const wordOf = (name: string): RegExp =>
  new RegExp(name.slice(0, 5).replaceAll(/[-_]/g, '').toLowerCase(), 'i')

t.test('queries that contradict themselves', async (t) => {
  const s3 = await S3World.start(t, MANY)
  await refuses(t, s3, [
    ['a parameter twice', () => s3.call({ path: '/?prefix=a&prefix=b' }), 400, 'InvalidArgument'],
    [
      'a parameter twice, spelled otherwise',
      () => s3.call({ path: '/?prefix=a&%70refix=b' }),
      400,
      'InvalidArgument',
    ],
    ['no number', () => s3.call({ path: '/?max-buckets=many' }), 400, 'InvalidArgument'],
    ['a negative number', () => s3.call({ path: '/?max-buckets=-1' }), 400, 'InvalidArgument'],
    ['an empty version', () => s3.call({ path: '/photos/k?versionId=' }), 400, 'InvalidArgument'],
    ['a percent sign alone', () => s3.call({ path: '/?prefix=%25%ff' }), 400, 'InvalidArgument'],
  ])
})

t.test('keys and buckets that are none', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const rows = NO_KEYS.filter((raw) => raw !== '').flatMap((raw) =>
    ['PUT', 'GET', 'DELETE'].map((method): Row => {
      const code = raw.length > 1024 ? 'KeyTooLongError' : 'InvalidURI'
      const ask = { method, path: `/photos/${raw}`, ...(method === 'PUT' ? { body: 'x' } : {}) }
      return [`${method} ${encodeURIComponent(raw).slice(0, 30)}`, () => s3.call(ask), 400, code]
    }),
  )
  await refuses(t, s3, rows)
  for (const bucket of [
    '..',
    '%2e%2e',
    'photos%2Fx',
    'photos%00',
    'PHOTOS',
    'ph%6Ftos',
    '%',
    'photos.',
    '-',
    '{bucket}',
  ]) {
    const { status, s3Code } = await s3.call({ path: `/${bucket}/k` })
    t.match(`${status} ${s3Code}`, /^(404 NoSuchBucket|400 InvalidBucketName)$/, bucket)
    const put = await s3.call({ ...PUT, path: `/${bucket}/k` })
    t.match(`${put.status} ${put.s3Code}`, /^(404 NoSuchBucket|400 InvalidBucketName)$/, `PUT ${bucket}`)
  }
})

t.test('hosts', async (t) => {
  const s3 = await S3World.start(t, { ...MANY, s3Domains: ['s3.example.org'] })
  await s3.call({ method: 'PUT', path: '/photos/k', body: 'here' })
  for (const host of [
    'photos.s3.example.org',
    'PHOTOS.S3.Example.ORG',
    'photos.s3.example.org:443',
    'photos.s3.example.org.',
  ])
    t.equal((await s3.call({ path: '/k', host })).bytes.toString(), 'here', host)
  for (const host of [
    '127.0.0.1',
    '127.0.0.1:9000',
    '[::1]',
    '[::1]:9000',
    's3.example.org',
    's3.example.org.',
    'x.example',
    'photos.s3.example.org.evil.example',
  ])
    t.equal((await s3.call({ path: '/photos/k', host })).bytes.toString(), 'here', host)
  const put = (host: string) => () => s3.call({ ...PUT, path: '/k', host })
  const isRefused = async (host: string): Promise<void> => {
    const before = s3.world.memory.checksum()
    const { status, s3Code } = await put(host)()
    t.match(
      `${status} ${s3Code}`,
      /^(404 NoSuchBucket|400 InvalidBucketName|403 SignatureDoesNotMatch|400 InvalidRequest)$/,
      host,
    )
    t.equal(s3.world.memory.checksum(), before, host)
  }
  for (const host of [
    '.s3.example.org',
    '..s3.example.org',
    '%70hotos.s3.example.org',
    'photos/.s3.example.org',
    'a@photos.s3.example.org',
    'x.photos.s3.example.org',
  ])
    await isRefused(host)
})

t.test('parts that do not fit', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const started = await s3.call({ method: 'POST', path: '/photos/k?uploads' })
  const uploadId = started.xml?.textOf('UploadId') ?? ''
  const at = (number: number | string): string => `/photos/k?uploadId=${uploadId}&partNumber=${number}`
  const etags: string[] = []
  for (const number of [1, 2]) {
    const part = await s3.call({ method: 'PUT', path: at(number), body: `part ${number}` })
    etags.push(String(part.headers.etag))
  }
  const [one = '', two = ''] = etags
  const complete = (
    parts: readonly (readonly [number | string, string])[],
    path = `/photos/k?uploadId=${uploadId}`,
  ) => {
    const named = parts.map(
      ([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`,
    )
    const body = `<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`
    return () => s3.call({ method: 'POST', path, body })
  }
  const put = (number: number | string) => () => s3.call({ method: 'PUT', path: at(number), body: 'x' })
  await refuses(t, s3, [
    [
      'in reverse',
      complete([
        [2, two],
        [1, one],
      ]),
      400,
      'InvalidPartOrder',
    ],
    [
      'one twice',
      complete([
        [1, one],
        [1, one],
      ]),
      400,
      'InvalidPartOrder',
    ],
    [
      'one that is not there',
      complete([
        [1, one],
        [3, two],
      ]),
      400,
      'InvalidPart',
    ],
    ['of another etag', complete([[1, two]]), 400, 'InvalidPart'],
    [
      'that are too small',
      complete([
        [1, one],
        [2, two],
      ]),
      400,
      'EntityTooSmall',
    ],
    ['none at all', complete([]), 400, 'MalformedXML'],
    ['no number', complete([['one', one]]), 400, 'MalformedXML'],
    ['of no upload', complete([[1, one]], '/photos/k?uploadId=none'), 404, 'NoSuchUpload'],
    ['of another key', complete([[1, one]], `/photos/l?uploadId=${uploadId}`), 404, 'NoSuchUpload'],
    ['number 0', put(0), 400, 'InvalidArgument'],
    ['number 10001', put(10_001), 400, 'InvalidArgument'],
    ['number -1', put(-1), 400, 'InvalidArgument'],
    ['number 1.5', put('1.5'), 400, 'InvalidArgument'],
    ['an empty number', put(''), 400, 'InvalidArgument'],
  ])
  t.equal((await s3.call({ path: '/photos/k' })).status, 404, 'no object was made')
})
