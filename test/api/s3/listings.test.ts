/**
 * Listings through the S3 API, as clients page through them.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import type { ReadElement } from '../../../src/api/s3/xml/read-xml.ts'
import { type S3Answer, S3World } from './s3-world.ts'

const KEYS = ['a/1', 'a/2', 'a/x/1', 'b+c', 'b c', 'é', 'z\u0001', '😀']
const IN_BYTE_ORDER = KEYS.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

type Query = Readonly<Record<string, string>>

async function list(s3: S3World, query: Query): Promise<ReadElement> {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const { status, xml, bytes } = await s3.call({ path: `/photos?${pairs.join('&')}` })
  assert.equal(status, 200, bytes.toString())
  assert.ok(xml)
  return xml
}

const keysIn = (page: ReadElement, name = 'Contents') =>
  page.childrenNamed(name).map((one) => decodeURIComponent((one.textOf('Key') ?? '').replaceAll('+', ' ')))
const prefixesIn = (page: ReadElement) =>
  page
    .childrenNamed('CommonPrefixes')
    .map((one) => decodeURIComponent((one.textOf('Prefix') ?? '').replaceAll('+', ' ')))

async function filled(s3: S3World): Promise<void> {
  for (const key of KEYS) {
    const path = `/photos/${key.split('/').map(encodeURIComponent).join('/')}`
    assert.equal((await s3.call({ method: 'PUT', path, body: key })).status, 200)
  }
}

const refused = async (s3: S3World, query: string): Promise<S3Answer> => s3.call({ path: `/photos?${query}` })

t.test('ListObjectsV2', async (t) => {
  const s3 = await S3World.start(t)
  await filled(s3)
  const v2 = (query: Query) => list(s3, { 'list-type': '2', 'encoding-type': 'url', ...query })

  await t.test('shows what S3 shows, in its order', async (t) => {
    const page = await v2({ prefix: 'a/', delimiter: '/', 'fetch-owner': 'true' })
    t.equal(page.name, 'ListBucketResult')
    t.same(
      page.children.map(({ name }) => name),
      [
        'Name',
        'Prefix',
        'KeyCount',
        'MaxKeys',
        'Delimiter',
        'EncodingType',
        'IsTruncated',
        'Contents',
        'Contents',
        'CommonPrefixes',
      ],
    )
    t.same(
      ['Name', 'Prefix', 'KeyCount', 'MaxKeys', 'IsTruncated'].map((name) => page.textOf(name)),
      ['photos', 'a/', '3', '1000', 'false'],
    )
    const [first] = page.childrenNamed('Contents')
    assert.ok(first)
    t.same(
      first.children.map(({ name }) => name),
      ['Key', 'LastModified', 'ETag', 'ChecksumAlgorithm', 'ChecksumType', 'Size', 'Owner', 'StorageClass'],
    )
    t.match(first.textOf('LastModified'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.match(first.textOf('ETag'), /^"[0-9a-f]{32}(-1)?"$/)
    t.same([first.textOf('Size'), first.textOf('StorageClass')], ['3', 'STANDARD'])
    t.same(
      [first.needed('Owner').textOf('ID'), first.needed('Owner').textOf('DisplayName')],
      ['acme', 'acme'],
    )
    t.equal((await v2({})).childrenNamed('Contents')[0]?.child('Owner'), null)
  })

  await t.test('pages of any size show every key once, encoded so that any parser reads it', async (t) => {
    for (const size of ['1', '3', '8', '1000']) {
      const keys: string[] = []
      for (let token: string | null = ''; token !== null; ) {
        const page: ReadElement = await v2({
          'max-keys': size,
          ...(token === '' ? {} : { 'continuation-token': token }),
        })
        t.equal(page.textOf('ContinuationToken'), token === '' ? null : token)
        keys.push(...keysIn(page))
        token = page.textOf('NextContinuationToken')
        t.equal(page.textOf('IsTruncated'), `${token !== null}`)
      }
      t.same(keys, IN_BYTE_ORDER)
    }
    const raw = await v2({ delimiter: ' ', prefix: 'b' })
    t.same(
      [raw.textOf('Delimiter'), raw.childrenNamed('CommonPrefixes')[0]?.textOf('Prefix')],
      ['%20', 'b%20'],
    )
    t.equal(raw.childrenNamed('Contents')[0]?.textOf('Key'), 'b%2Bc')
  })

  await t.test('start-after, empty tokens, and nothing at all', async (t) => {
    t.same(keysIn(await v2({ 'start-after': 'b c' })), ['b+c', 'z\u0001', 'é', '😀'])
    t.same((await v2({ 'start-after': 'b c' })).textOf('StartAfter'), 'b%20c')
    t.same(prefixesIn(await v2({ 'start-after': 'a/', delimiter: '/' })), [])
    t.equal((await v2({ 'continuation-token': '' })).textOf('ContinuationToken'), '')
    const none = await v2({ 'max-keys': '0' })
    t.same(
      ['KeyCount', 'MaxKeys', 'IsTruncated', 'NextContinuationToken'].map((name) => none.textOf(name)),
      ['0', '0', 'false', null],
    )
    t.same(keysIn(none), [])
  })

  await t.test('refuses what it cannot carry out', async (t) => {
    for (const query of [
      'list-type=2&max-keys=x',
      'list-type=2&max-keys=-1',
      'list-type=2&encoding-type=utf',
      'list-type=2&continuation-token=abc',
    ])
      t.match(await refused(s3, query), { status: 400, s3Code: 'InvalidArgument' }, query)
    t.match(await refused(s3, 'list-type=2&what=1'), { status: 501, s3Code: 'NotImplemented' })
    t.match(await s3.call({ path: '/absent?list-type=2&max-keys=0' }), {
      status: 404,
      s3Code: 'NoSuchBucket',
    })
  })
})

t.test('ListObjects', async (t) => {
  const s3 = await S3World.start(t)
  await filled(s3)
  const v1 = (query: Query) => list(s3, { 'encoding-type': 'url', ...query })

  await t.test(
    'with a delimiter it says where the next page begins, and skips what lies below the marker',
    async (t) => {
      const page = await v1({ delimiter: '/', 'max-keys': '1' })
      t.same(
        page.children.map(({ name }) => name),
        [
          'Name',
          'Prefix',
          'Marker',
          'NextMarker',
          'MaxKeys',
          'Delimiter',
          'EncodingType',
          'IsTruncated',
          'CommonPrefixes',
        ],
      )
      t.same(
        [prefixesIn(page), page.textOf('NextMarker'), page.textOf('IsTruncated')],
        [['a/'], 'a/', 'true'],
      )
      for (const marker of ['a/', 'a/2', 'a/x/1']) {
        const next = await v1({ delimiter: '/', marker })
        t.same([prefixesIn(next), keysIn(next)[0], next.textOf('NextMarker')], [[], 'b c', null], marker)
      }
      const asked = await v1({ prefix: 'b c\n' })
      t.equal(asked.textOf('Prefix'), 'b c\n', 'clients do not decode the prefix of this call')
      t.equal(
        (await v1({ delimiter: '/' })).childrenNamed('Contents')[0]?.needed('Owner').textOf('ID'),
        'acme',
      )
    },
  )

  await t.test('without a delimiter clients continue behind the last key', async (t) => {
    const keys: string[] = []
    for (let marker: string | undefined = ''; marker !== undefined; ) {
      const page: ReadElement = await v1({ 'max-keys': '3', marker })
      keys.push(...keysIn(page))
      t.equal(page.child('NextMarker'), null)
      marker = page.textOf('IsTruncated') === 'true' ? keys.at(-1) : undefined
    }
    t.same(keys, IN_BYTE_ORDER)
  })

  await t.test('keys as they are, where no encoding is asked for', async (t) => {
    const page = await list(s3, { prefix: 'b' })
    t.same(
      page.childrenNamed('Contents').map((one) => one.textOf('Key')),
      ['b c', 'b+c'],
    )
    t.equal(page.child('EncodingType'), null)
  })
})

t.test('ListObjectVersions', async (t) => {
  const s3 = await S3World.start(t)
  const put = (key: string, body: string) => s3.call({ method: 'PUT', path: `/photos/${key}`, body })
  await put('a', 'null version')
  const path = '/api/v1/buckets/photos/versioning'
  await s3.world.call({ method: 'PUT', path, token: s3.token, body: { status: 'Enabled' } })
  const second = await put('a', 'second')
  const marker = await s3.call({ method: 'DELETE', path: '/photos/a' })
  await put('dir/x', 'x')
  const versions = (query: Query) => list(s3, { versions: '', ...query })
  const ids = (page: ReadElement) =>
    page.children
      .filter(({ name }) => name === 'Version' || name === 'DeleteMarker')
      .map((one) => `${one.name} ${one.textOf('Key')} ${one.textOf('VersionId')} ${one.textOf('IsLatest')}`)

  await t.test('versions and markers in one order, the newest first', async (t) => {
    const page = await versions({ delimiter: '/' })
    t.equal(page.name, 'ListVersionsResult')
    const [markerId, secondId] = [marker, second].map(({ headers }) => String(headers['x-amz-version-id']))
    const expected = [
      `DeleteMarker a ${markerId} true`,
      `Version a ${secondId} false`,
      'Version a null false',
    ]
    t.same(ids(page), expected)
    t.same(prefixesIn(page), ['dir/'])
    const [shown] = page.childrenNamed('Version')
    t.same(
      shown?.children.map(({ name }) => name),
      [
        'Key',
        'VersionId',
        'IsLatest',
        'LastModified',
        'ETag',
        'ChecksumAlgorithm',
        'ChecksumType',
        'Size',
        'StorageClass',
        'Owner',
      ],
    )
    t.same(
      page.childrenNamed('DeleteMarker')[0]?.children.map(({ name }) => name),
      ['Key', 'VersionId', 'IsLatest', 'LastModified', 'Owner'],
    )

    const paged: string[] = []
    let [keyMarker, versionIdMarker] = ['', '']
    for (let n = 0; n < 4; n++) {
      const one = await versions({
        delimiter: '/',
        'max-keys': '1',
        'key-marker': keyMarker,
        'version-id-marker': versionIdMarker,
      })
      paged.push(...ids(one), ...prefixesIn(one))
      t.equal(one.textOf('IsTruncated'), `${n < 3}`)
      keyMarker = one.textOf('NextKeyMarker') ?? ''
      versionIdMarker = one.textOf('NextVersionIdMarker') ?? ''
    }
    t.same(paged, [...expected, 'dir/'])
    t.same(ids(await versions({ 'max-keys': '0' })), [])
  })

  t.match(await refused(s3, 'versions&version-id-marker=null'), { status: 400, s3Code: 'InvalidArgument' })
})

t.test('a listing outside of the scopes of its caller is denied', async (t) => {
  const s3 = await S3World.start(t, { scopes: 'op=read:bucket=photos:prefix=a/' })
  for (const query of ['', '?list-type=2', '?versions', '?uploads', '?list-type=2&max-keys=0'])
    t.match(await s3.call({ path: `/photos${query}` }), { status: 403, s3Code: 'AccessDenied' }, query)
  for (const query of [
    '?prefix=a%2F',
    '?list-type=2&prefix=a%2F',
    '?versions&prefix=a%2Fb',
    '?uploads&prefix=a%2F',
  ])
    t.match(await s3.call({ path: `/photos${query}` }), { status: 200 }, query)
})
