/**
 * Which requests of the data listener are those of the S3 API, and which action each of them is.
 */
import t from 'tap'
import { NATIVE_NAMES } from '../../../src/api/s3/s3-api.ts'
import { isS3Request, s3TargetOf } from '../../../src/api/s3/entry/s3-target.ts'
import { S3World } from './s3-world.ts'

const PLACES = { domains: ['s3.example.org', 'objects.example.net'], nativeNames: NATIVE_NAMES }

t.test('the paths of the native API stay native, in every spelling that the router takes', async (t) => {
  for (const path of ['/api', '/api/v1/buckets', '/api/', '/healthz', '/readyz', '/api?x', 'http://h/api/v1'])
    t.equal(isS3Request(path, 'localhost', PLACES), false, path)
  for (const path of [
    '/',
    '/photos',
    '/photos/api/v1',
    '/apis',
    '/API/v1',
    '/%61pi/v1',
    '/healthz.txt',
    '//api',
  ])
    t.equal(isS3Request(path, 'localhost', PLACES), true, path)
})

t.test('a bucket stands in the path, or in a host below listeners.s3_domain', async (t) => {
  const rows: readonly (readonly [string, string | undefined, string, string, string])[] = [
    ['/', undefined, 'service', '', ''],
    ['/?x=/a', 'localhost', 'service', '', ''],
    ['/photos', 'localhost', 'bucket', 'photos', ''],
    ['/photos/', 's3.example.org', 'bucket', 'photos', ''],
    ['/photos//a/./b', 'localhost', 'object', 'photos', '/a/./b'],
    ['/', 'photos.s3.example.org', 'bucket', 'photos', ''],
    ['/api/v1/x', 'Photos.S3.example.org:9000', 'object', 'photos', 'api/v1/x'],
    ['/a', 'a.b.objects.example.net', 'object', 'a.b', 'a'],
    ['/a', 'xs3.example.org', 'bucket', 'a', ''],
  ]
  for (const [target, host, level, bucket, rawKey] of rows)
    t.same(s3TargetOf(target, host, PLACES), { level, bucket, rawKey }, `${host} ${target}`)
  t.equal(isS3Request('/api/v1/x', 'photos.s3.example.org', PLACES), true)
})

t.test('requests of the S3 API', async (t) => {
  const s3 = await S3World.start(t, { s3Domains: ['s3.example.org'] })

  t.test('without a signature are refused, whatever they ask for', async (t) => {
    const barriers = s3.world.memory.barriers
    for (const path of [
      '/',
      '/photos',
      '/photos/a',
      '/nowhere',
      '/admin/api/v1/tenants',
      '/signed/films/k',
      '/photos?nonsense',
    ])
      for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
        const { status, s3Code } = await s3.sent({ method, path })
        t.same([status, s3Code], [403, 'AccessDenied'], `${method} ${path}`)
      }
    t.equal(s3.world.memory.barriers, barriers, 'and cause no work in the cluster')
    t.match(await s3.sent({ method: 'HEAD', path: '/photos/a' }), { status: 403, bytes: Buffer.alloc(0) })
    const bearer = await s3.sent({ path: '/photos', token: s3.token })
    t.same([bearer.status, bearer.s3Code], [403, 'AccessDenied'], 'a bearer token is none')
  })

  t.test('a browser at the root gets a page that says what this is', async (t) => {
    const page = await s3.world.send({ path: '/', headers: { accept: 'text/html,*/*' } })
    t.match(page, {
      status: 200,
      headers: { 'content-type': /^text\/html/, 'content-security-policy': /default-src 'none'/ },
    })
    t.match(page.bytes.toString(), /us-east-1/)
    t.notMatch(page.bytes.toString(), /photos/)
  })

  t.test('a parameter that no action has is refused by its name', async (t) => {
    for (const [method, path] of [
      ['GET', '/photos/a?nonsense'],
      ['GET', '/photos/a?torrents='],
      ['PUT', '/photos/a?nonsense=1'],
      ['DELETE', '/photos/a?tagging2'],
      ['GET', '/?nonsense'],
    ] as const) {
      const { status, s3Code, xml } = await s3.call({ method, path })
      t.same([status, s3Code], [501, 'NotImplemented'], `${method} ${path}`)
      t.match(xml?.textOf('Message'), /nonsense|torrents|tagging2/)
    }
    const { status } = await s3.call({ path: '/photos/a' })
    t.equal(status, 404, 'nothing was stored')
  })

  t.test('a header that changes what is meant is refused by its name', async (t) => {
    for (const [name, value] of [
      ['x-amz-server-side-encryption', 'aws:kms'],
      ['x-amz-acl', 'public-read'],
      ['x-amz-grant-read', 'id=1'],
      ['x-amz-website-redirect-location', '/b'],
      ['x-amz-write-offset-bytes', '5'],
    ] as const) {
      const { status, s3Code } = await s3.call({
        method: 'PUT',
        path: '/photos/a',
        headers: { [name]: value },
        body: 'x',
      })
      t.same([status, s3Code], [501, 'NotImplemented'], name)
    }
    const other = await s3.call({
      method: 'PUT',
      path: '/photos/a',
      headers: { 'x-amz-storage-class': 'GLACIER' },
      body: 'x',
    })
    t.same([other.status, other.s3Code], [400, 'InvalidStorageClass'])
    const read = (name: string) => s3.call({ path: '/photos/a', headers: { [name]: 'private' } })
    for (const name of ['x-amz-acl', 'x-amz-storage-class'])
      t.equal((await read(name)).status, 501, `${name} of a read`)
    const encryption = { status: 400, s3Code: 'InvalidArgument' }
    t.match(await read('x-amz-server-side-encryption'), encryption, 'a read asks for no encryption')
    t.equal((await s3.call({ path: '/photos/a' })).status, 404, 'nothing was stored')
  })

  t.test('the bucket may stand in the host', async (t) => {
    const host = 'photos.s3.example.org'
    const put = await s3.call({ method: 'PUT', path: '/api/v1/healthz', host, body: 'in the host' })
    t.equal(put.status, 200)
    const got = await s3.call({ path: '/photos/api/v1/healthz' })
    t.equal(got.bytes.toString(), 'in the host')
  })

  t.test('the owner that a client expects has to be the tenant', async (t) => {
    const asked = (owner: string) => s3.call({ path: '/', headers: { 'x-amz-expected-bucket-owner': owner } })
    t.equal((await asked('acme')).status, 200)
    t.match(await asked('other'), { status: 403, s3Code: 'AccessDenied' })
  })
})
