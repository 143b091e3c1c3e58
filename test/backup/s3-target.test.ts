/**
 * A backup target that is a bucket: its promises over the S3 API of a real node, and what becomes of stores that fail, refuse and lie.
 */
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import {
  TargetCorrupt,
  type TargetError,
  TargetRefused,
  TargetUnreachable,
} from '../../src/backup/targets/target.ts'
import { newAuthority, newNodePair, readAuthority } from '../../src/cli/certificates/authority.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { FakeS3, listing, openS3, refuse } from './fake-s3.ts'
import { namesIn, piecesOf, readAll, testTarget } from './target-suite.ts'

const PART_BYTES = 5 * 1024 * 1024

t.test('S3Target over the S3 API of a node', async (t) => {
  const cluster = await ProcessCluster.start(t, 1)
  const { accessKeyId, secretKey } = keyOf(cluster)
  const endpoint = cluster.node('n1').dataUrl
  await cluster.login('n1')
  const made = await cluster.call('n1', 'POST', '/buckets', '{"name":"backups"}')
  t.equal(made.status, 201, made.body.toString())
  let places = 0
  const open = async (t: Parameters<typeof openS3>[0]) =>
    openS3(t, { endpoint, accessKeyId, secretKey, prefix: `of/${places++}`, partBytes: PART_BYTES })

  testTarget(t, open)

  t.test('a value of more than one part comes back, whole and across the parts', async (t) => {
    const { target } = await open(t)
    const bytes = randomBytes(2 * PART_BYTES + 12_345)
    await target.put('large', piecesOf(bytes.subarray(0, 7), bytes.subarray(7)), bytes.length)
    t.ok((await readAll(target.get('large'))).equals(bytes))
    const range = { offset: PART_BYTES - 3, length: 10 }
    t.ok((await readAll(target.get('large', range))).equals(bytes.subarray(PART_BYTES - 3, PART_BYTES + 7)))
    t.equal(await target.head('large'), bytes.length)
  })

  t.test('a large value whose bytes fail leaves no upload behind', async (t) => {
    const { target } = await open(t)
    const cut = piecesOf(randomBytes(2 * PART_BYTES))
    await t.rejects(target.put('large', cut, 2 * PART_BYTES + 1), TargetRefused)
    const left = await cluster.call('n1', 'GET', '/buckets/backups/multipart')
    t.equal(left.status, 200)
    t.match(JSON.parse(left.body.toString()), { uploads: { length: 0 } })
  })

  t.test('more names than a page of a listing has', async (t) => {
    const { target } = await open(t)
    const names = Array.from({ length: 1003 }, (_, n) => `n/${n.toString().padStart(4, '0')}`)
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => target.put(name, piecesOf('x'), 1)))
    t.same(await namesIn(target, 'n/'), names)
  })

  const refusals: readonly (readonly [string, Partial<Parameters<typeof openS3>[1]>, RegExp])[] = [
    ['a wrong secret', { secretKey: 'wrong' }, /the secret is wrong/],
    ['an unknown key', { accessKeyId: 'AK00000000000000' }, /does not know the access key/],
    ['a bucket that does not exist', { bucket: 'nothing' }, /bucket does not exist/],
    [
      'a clock that is wrong',
      { now: () => Date.UTC(2020, 1, 1) },
      /this cluster has 2020-02-01T00:00:00.000Z, its clock says 20[2-9]\d-/,
    ],
  ]
  for (const [what, options, message] of refusals) {
    t.test(`${what} is refused, and asked once`, async (t) => {
      const { target, waits } = openS3(t, { endpoint, accessKeyId, secretKey, ...options })
      const error = await caught(namesIn(target, ''))
      t.type(error, TargetRefused)
      t.match(error.message, message)
      t.notMatch(error.message, secretKey)
      t.same(waits, [])
    })
  }
})

t.test('S3Target and a store that is in trouble', async (t) => {
  for (const [status, code] of [
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [429, 'TooManyRequests'],
  ] as const) {
    t.test(`${status} is waited out`, async (t) => {
      const { fake, target, waits } = await fakeTarget(t)
      let failures = 0
      fake.intercept = ({ response }) => failures++ < 2 && (refuse(response, status, code), true)
      await target.put('a', piecesOf('abc'), 3)
      t.equal(fake.objects.get('a')?.toString(), 'abc')
      t.same(waits, [250, 500])
    })
  }

  t.test('a store that does not recover is given up after a bounded number of attempts', async (t) => {
    const { fake, target, waits } = await fakeTarget(t)
    fake.intercept = ({ response }) => (refuse(response, 503, 'SlowDown'), true)
    await t.rejects(target.put('a', piecesOf('abc'), 3), TargetUnreachable)
    t.equal(fake.asked.length, 6)
    t.same(waits, [250, 500, 1000, 2000, 4000])
  })

  t.test('Retry-After is followed, and not without a bound', async (t) => {
    const { fake, target, waits } = await fakeTarget(t)
    let failures = 0
    fake.intercept = ({ response }) =>
      failures++ < 2 &&
      (refuse(response, 503, 'SlowDown', { 'retry-after': failures === 1 ? '3' : '86400' }), true)
    await target.put('a', piecesOf('abc'), 3)
    t.same(waits, [3000, 15_000])
  })

  t.test('a connection that is reset is opened again', async (t) => {
    const { fake, target } = await fakeTarget(t)
    let failures = 0
    fake.intercept = ({ response }) => failures++ < 2 && (response.socket?.destroy(), true)
    await target.put('a', piecesOf('abc'), 3)
    t.equal(await target.head('a'), 3)
  })

  t.test('an address where nothing listens: unreachable', async (t) => {
    const { target } = openS3(t, { endpoint: 'http://127.0.0.1:1' })
    await t.rejects(target.head('a'), TargetUnreachable)
  })

  for (const [status, code] of [
    [507, 'InsufficientStorage'],
    [403, 'QuotaExceeded'],
    [400, 'XMinioStorageFull'],
  ] as const) {
    t.test(`${code} is full: refused at once`, async (t) => {
      const { fake, target, waits } = await fakeTarget(t)
      fake.intercept = ({ response }) => (refuse(response, status, code), true)
      const error = await caught(target.put('a', piecesOf('abc'), 3))
      t.type(error, TargetRefused)
      t.match(error.message, /it is full/)
      t.same(waits, [])
    })
  }

  t.test('a redirect is not followed, and says which region to set', async (t) => {
    const { fake, target } = await fakeTarget(t)
    fake.intercept = ({ response }) => (
      refuse(response, 301, 'PermanentRedirect', {
        location: 'http://127.0.0.1:1/',
        'x-amz-bucket-region': 'eu-west-3',
      }),
      true
    )
    const error = await caught(target.head('a'))
    t.type(error, TargetRefused)
    t.match(error.message, /region eu-west-3/)
  })

  t.test('a download whose connection breaks continues where it was', async (t) => {
    const { fake, target } = await fakeTarget(t)
    const bytes = randomBytes(300_000)
    fake.objects.set('a', bytes)
    fake.intercept = ({ headers, response }) => {
      const from = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0)
      if (from >= 200_000) return false
      const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
      const range = from === 0 ? {} : { 'content-range': `bytes ${from}-299999/300000` }
      response.writeHead(from === 0 ? 200 : 206, { etag, 'content-length': `${300_000 - from}`, ...range })
      response.write(bytes.subarray(from, from + 100_000), () => response.socket?.destroySoon())
      return true
    }
    t.ok((await readAll(target.get('a'))).equals(bytes))
    t.ok(fake.asked.length > 1)
    t.ok(fake.asked.slice(1).every(({ headers }) => headers['if-match'] !== undefined))
  })

  t.test('errors quote no control characters of the store', async (t) => {
    const { fake, target } = await fakeTarget(t)
    fake.intercept = ({ response }) => (refuse(response, 418, 'Tea&#9;Pot\n'), true)
    t.notMatch((await caught(target.remove('a'))).message, /[\n\t]/)
  })
})

t.test('S3Target and a store that lies', async (t) => {
  const lies: readonly (readonly [string, Parameters<typeof lying>[1]])[] = [
    ['other bytes under the checksum that it keeps', { body: 'hallo', checksum: 'hello' }],
    ['a size that is none', { body: 'hello', length: null }],
  ]
  for (const [what, lie] of lies) {
    t.test(`${what}: corrupt`, async (t) => {
      const { fake, target } = await fakeTarget(t)
      lying(fake, lie)
      await t.rejects(readAll(target.get('a')), TargetCorrupt)
    })
  }

  t.test('fewer bytes than it says: not taken for the whole', async (t) => {
    const { fake, target } = await fakeTarget(t)
    lying(fake, { body: 'hel', length: 5 })
    await t.rejects(readAll(target.get('a')), TargetCorrupt)
  })

  t.test('the whole where a range was asked for: corrupt', async (t) => {
    const { fake, target } = await fakeTarget(t)
    fake.objects.set('a', Buffer.from('hello'))
    fake.intercept = ({ method, response }) =>
      method === 'GET' && (response.writeHead(200, { 'content-length': '5', etag: '"x"' }).end('hello'), true)
    await t.rejects(readAll(target.get('a', { offset: 1, length: 2 })), TargetCorrupt)
  })

  t.test('another range than was asked for: corrupt', async (t) => {
    const { fake, target } = await fakeTarget(t)
    fake.objects.set('a', Buffer.from('hello'))
    fake.intercept = ({ method, response }) => {
      if (method !== 'GET') return false
      const headers = { 'content-length': '2', 'content-range': 'bytes 2-3/5', etag: '"x"' }
      response.writeHead(206, headers).end('ll')
      return true
    }
    await t.rejects(readAll(target.get('a', { offset: 1, length: 2 })), TargetCorrupt)
  })

  t.test('a checksum of a put that is another: corrupt', async (t) => {
    const { fake, target } = await fakeTarget(t)
    fake.intercept = ({ response }) => (
      response.writeHead(200, { 'x-amz-checksum-sha256': 'AAAA' }).end(), true
    )
    await t.rejects(target.put('a', piecesOf('abc'), 3), TargetCorrupt)
  })

  const listings: readonly (readonly [string, readonly (readonly [string, number])[], string | null])[] = [
    [
      'names that are not in order',
      [
        ['b', 1],
        ['a', 1],
      ],
      null,
    ],
    [
      'a name twice',
      [
        ['a', 1],
        ['a', 1],
      ],
      null,
    ],
    ['names outside of the prefix', [['other', 1]], null],
    ['a size below zero', [['a', -1]], null],
    ['a page that leads to itself', [['a', 1]], 'same'],
  ]
  for (const [what, entries, next] of listings) {
    t.test(`a listing with ${what}: corrupt`, async (t) => {
      const { fake } = await fakeTarget(t)
      const prefix = what.includes('prefix') ? 'own' : ''
      const { target } = openS3(t, { endpoint: fake.endpoint, prefix })
      fake.intercept = ({ response }) => (listing(response, entries, next), true)
      await t.rejects(namesIn(target, ''), TargetCorrupt)
    })
  }

  t.test('what others keep in the bucket is not listed', async (t) => {
    const { fake, target } = await fakeTarget(t)
    for (const key of ['Photo of a cat.jpg', '.hidden', 'a', 'b/../c'])
      fake.objects.set(key, Buffer.from('x'))
    t.same(await namesIn(target, ''), ['a'])
  })

  t.test('an error inside of a completion is no completion', async (t) => {
    const fake = await FakeS3.start(t)
    const { target } = openS3(t, { endpoint: fake.endpoint, partBytes: 4 })
    fake.intercept = ({ method, query, response }) => {
      if (query.has('uploads'))
        response.end('<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>')
      else if (method === 'POST') response.writeHead(200).end('<Error><Code>InternalError</Code></Error>')
      else if (method === 'PUT') response.writeHead(200, { etag: '"e"' }).end()
      else return false
      return true
    }
    await t.rejects(target.put('a', piecesOf('abcdefgh'), 8), TargetUnreachable)
    t.equal(fake.asked.at(-1)?.method, 'DELETE', 'the upload is aborted')
  })
})

t.test('S3Target and a certificate that is not trusted: refused, and asked once', async (t) => {
  const term = { now: Date.now(), days: 2 }
  const made = newAuthority('c1', term)
  const pair = newNodePair(readAuthority(made, term.now), { nodeId: 'n1', hosts: ['127.0.0.1'] }, term)
  const fake = await FakeS3.start(t, { cert: pair.certificate, key: pair.key })
  const { target, waits } = openS3(t, { endpoint: fake.endpoint })
  const error = await caught(target.head('a'))
  t.type(error, TargetRefused)
  t.match(error.message, /certificate is not trusted/)
  t.same(waits, [])
  const trusting = openS3(t, { endpoint: fake.endpoint, ca: made.certificate })
  t.equal(await trusting.target.head('a'), undefined)
})

async function fakeTarget(t: Parameters<typeof openS3>[0]) {
  const fake = await FakeS3.start(t)
  return { fake, ...openS3(t, { endpoint: fake.endpoint }) }
}

function lying(
  fake: FakeS3,
  {
    body,
    length,
    checksum,
  }: { readonly body: string; readonly length?: number | null; readonly checksum?: string },
): void {
  fake.intercept = ({ response }) => {
    const kept =
      checksum === undefined
        ? {}
        : { 'x-amz-checksum-sha256': createHash('sha256').update(checksum).digest('base64') }
    const size = length === null ? {} : { 'content-length': `${length ?? body.length}` }
    response.writeHead(200, { etag: '"x"', ...size, ...kept })
    response.write(body, () =>
      length === null || length === undefined ? response.end() : response.socket?.destroySoon(),
    )
    return true
  }
}

async function caught(promise: Promise<unknown>): Promise<TargetError> {
  return promise.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error: TargetError) => error,
  )
}

function keyOf({ setup: { accessKeyId, secretKey } }: ProcessCluster) {
  if (accessKeyId === null || secretKey === null) throw new Error('the cluster has no demo key')
  return { accessKeyId, secretKey }
}
