/**
 * Objects that are sealed with a key of their client, through both APIs. [docs/adr/0092-keys-of-clients.md]
 */
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { OWN_KEY, readCustomerKey } from '../../src/api/customer-key-headers.ts'
import { chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import { CUSTOMER_KEY_VERSION } from '../../src/state-machine/tenants/data-keys.ts'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { completionOf, md5Of, MIB, MultipartCalls } from './s3/multipart-calls.ts'
import { S3World } from './s3/s3-world.ts'

type Headers = Readonly<Record<string, string>>

const S3 = 'x-amz-server-side-encryption-customer'
const S3_SOURCE = 'x-amz-copy-source-server-side-encryption-customer'
const OWN = 'x-service-customer'
const OWN_SOURCE = 'x-service-copy-source-customer'

const md5 = (key: Buffer): string => createHash('md5').update(key).digest('base64')

function keyHeaders(prefix: string, key: Buffer): Headers {
  return {
    [`${prefix}-algorithm`]: 'AES256',
    [`${prefix}-key`]: key.toString('base64'),
    [`${prefix}-key-md5`]: md5(key),
  }
}

const echo = (prefix: string, key: Buffer): Headers => ({
  [`${prefix}-algorithm`]: 'AES256',
  [`${prefix}-key-md5`]: md5(key),
})

const KEY = randomBytes(32)
const OTHER = randomBytes(32)
const BODY = patternBytes(5 * MIB + 17, 3)

t.test('SSE-C', async (t) => {
  const s3 = await S3World.start(t)
  const { world, token } = s3
  const s3Call = (method: string, key: string, headers: Headers = {}, body?: string | Buffer) =>
    s3.call({ method, path: `/photos/${key}`, headers, ...(body === undefined ? {} : { body }) })
  const own = (method: string, key: string, headers: Headers = {}, body?: string | Buffer) =>
    world.call({
      method,
      path: `/api/v1/buckets/photos/objects/${key}`,
      token,
      headers,
      ...(body === undefined ? {} : { body }),
    })
  const chunks = async () =>
    (await world.memory.reader.page(chunkRanges.chunksOf('acme'), { limit: 1000 })).items

  await t.test(
    'stores and gives back only with the key [customer-keys.put] [customer-keys.read]',
    async (t) => {
      const stored = await s3Call('PUT', 'sealed', keyHeaders(S3, KEY), BODY)
      t.match(stored, { status: 200, headers: echo(S3, KEY) })
      t.equal(stored.headers['x-amz-server-side-encryption'], undefined)
      t.not(stored.headers.etag, `"${md5Of(BODY)}"`, 'the etag is no MD5 of the bytes')
      for (const method of ['GET', 'HEAD']) {
        const read = await s3Call(method, 'sealed', keyHeaders(S3, KEY))
        t.match(
          read,
          { status: 200, headers: { ...echo(S3, KEY), 'content-length': `${BODY.length}` } },
          method,
        )
        t.equal((await s3Call(method, 'sealed')).status, 400, `${method} without it`)
        t.equal((await s3Call(method, 'sealed', keyHeaders(S3, OTHER))).status, 403, `${method} with another`)
      }
      t.ok((await s3Call('GET', 'sealed', keyHeaders(S3, KEY))).bytes.equals(BODY))
      t.match(await s3Call('GET', 'sealed'), { s3Code: 'InvalidRequest' })
      t.match(await s3Call('GET', 'sealed', keyHeaders(S3, OTHER)), { s3Code: 'AccessDenied' })
      const part = await s3Call('GET', 'sealed', {
        ...keyHeaders(S3, KEY),
        range: `bytes=${4 * MIB - 3}-${4 * MIB + 4}`,
      })
      t.equal(part.status, 206)
      t.ok(part.bytes.equals(BODY.subarray(4 * MIB - 3, 4 * MIB + 5)), 'a range over two chunks')
      const attributes = await s3.call({
        path: '/photos/sealed?attributes',
        headers: { 'x-amz-object-attributes': 'ObjectSize' },
      })
      t.equal(attributes.status, 400, 'attributes too')
      t.match(await s3Call('GET', 'sealed?tagging'), { status: 200 }, 'tags need no key')
    },
  )

  await t.test('has one record for both APIs [customer-keys.both] [customer-keys.needless]', async (t) => {
    t.match(await own('GET', 'sealed'), { status: 400, code: 'invalid_request' })
    t.match(await own('GET', 'sealed', keyHeaders(OWN, OTHER)), { status: 403, code: 'access_denied' })
    const read = await own('GET', 'sealed', keyHeaders(OWN, KEY))
    t.match(read, { status: 200, headers: echo(OWN, KEY) })
    t.ok(read.bytes.equals(BODY))
    const stored = await own('PUT', 'small', keyHeaders(OWN, KEY), 'hello')
    t.match(stored, {
      status: 200,
      headers: echo(OWN, KEY),
      json: { encryption: { customerKey: true } },
    })
    t.equal((await s3Call('GET', 'small', keyHeaders(S3, KEY))).bytes.toString(), 'hello')
    t.match(world.memory.reader.get(usageKeys.usage('acme')), { inlineBytes: 0 }, 'small ones are chunks too')
    t.match(await own('HEAD', 'small'), { status: 400 })
    t.equal((await own('PUT', 'empty', keyHeaders(OWN, KEY), '')).status, 200)
    t.equal((await own('GET', 'empty')).status, 400, 'also of an object without bytes')
    t.equal((await own('GET', 'empty', keyHeaders(OWN, KEY))).status, 200)
    const listed = await world.call({ path: '/api/v1/buckets/photos/objects', token })
    const shown = (listed.json['objects'] as { key: string; customerKey?: boolean }[]).map(
      ({ key, customerKey }) => `${key} ${customerKey}`,
    )
    t.same(shown, ['empty true', 'sealed true', 'small true'])
    t.equal((await own('PUT', 'plain', {}, 'x')).status, 200)
    t.match(await own('GET', 'plain', keyHeaders(OWN, KEY)), { status: 400, code: 'invalid_request' })
  })

  await t.test('shares no chunk with any other object [customer-keys.sharing]', async (t) => {
    const before = (await chunks()).length
    for (const name of ['one', 'two', 'three'])
      t.equal((await s3Call('PUT', name, name === 'three' ? {} : keyHeaders(S3, KEY), BODY)).status, 200)
    t.equal((await chunks()).length - before, 3 * 2, 'two chunks each, although bytes and key are equal')
  })

  await t.test(
    'repeats an upload by its idempotency key, with the same key of the client only [customer-keys.idempotency]',
    async (t) => {
      const headers = { 'idempotency-key': 'once', 'x-service-checksum-crc32c': 'mnG7TA==' }
      const put = (key: Buffer) => own('PUT', 'again', { ...headers, ...keyHeaders(OWN, key) }, 'hello')
      const first = await put(KEY)
      t.equal(first.status, 200, first.bytes.toString())
      const second = await put(KEY)
      t.match(second, { status: 200, headers: { 'idempotent-replayed': 'true', etag: first.headers.etag } })
      t.match(await put(OTHER), { status: 409, code: 'idempotency_conflict' })
    },
  )

  await t.test(
    'refuses headers that contradict each other, and says nothing of the key [customer-keys.headers]',
    async (t) => {
      const whole = keyHeaders(S3, KEY)
      const without = (name: string): Headers =>
        Object.fromEntries(Object.entries(whole).filter(([one]) => one !== `${S3}-${name}`))
      const short = randomBytes(31)
      for (const [what, headers] of [
        ['no algorithm', without('algorithm')],
        ['no key', without('key')],
        ['no MD5', without('key-md5')],
        ['another algorithm', { ...whole, [`${S3}-algorithm`]: 'AES128' }],
        ['a short key', { ...whole, [`${S3}-key`]: short.toString('base64'), [`${S3}-key-md5`]: md5(short) }],
        ['the MD5 of another key', { ...whole, [`${S3}-key-md5`]: md5(OTHER) }],
        ['encryption by the server too', { ...whole, 'x-amz-server-side-encryption': 'AES256' }],
      ] as const) {
        const { status, bytes } = await s3Call('PUT', 'refused', headers, 'x')
        t.equal(status, 400, what)
        t.notOk(bytes.toString().includes(KEY.toString('base64')), what)
      }
      t.equal((await s3Call('GET', 'refused')).status, 404)
    },
  )

  await t.test('takes the key in a header, and never in a URL [customer-keys.urls]', async (t) => {
    const secret = `${S3}-key=${encodeURIComponent(KEY.toString('base64'))}`
    const path = s3.presigned({ method: 'PUT', path: `/photos/presigned?${secret}` })
    t.match(await s3.sent({ method: 'PUT', path, body: 'x' }), { status: 400, s3Code: 'InvalidArgument' })
    const headers = keyHeaders(S3, KEY)
    const signed = s3.presigned({ method: 'PUT', path: '/photos/presigned', headers })
    const put = await s3.sent({ method: 'PUT', path: signed, headers, body: 'by URL' })
    t.equal(put.status, 200, put.bytes.toString())
    const get = s3.presigned({ path: '/photos/presigned' })
    t.equal((await s3.sent({ path: get })).status, 400)
    const keyed = s3.presigned({ path: '/photos/presigned', headers })
    t.equal((await s3.sent({ path: keyed, headers })).bytes.toString(), 'by URL')
    const asked = { method: 'GET', bucket: 'photos', key: 'presigned', ttlSeconds: 60 }
    const made = await world.call({ method: 'POST', path: '/api/v1/sign-url', token, body: asked })
    const { pathname, search } = new URL(String(made.json['url']))
    t.equal((await world.send({ path: `${pathname}${search}` })).status, 400)
    const read = await world.send({ path: `${pathname}${search}`, headers: keyHeaders(OWN, KEY) })
    t.equal(read.bytes.toString(), 'by URL')
  })

  await t.test('copies between keys [customer-keys.copy]', async (t) => {
    const copy = (key: string, headers: Headers) =>
      s3Call('PUT', key, { 'x-amz-copy-source': '/photos/sealed', ...headers })
    t.match(await copy('copy', {}), { status: 400, s3Code: 'InvalidRequest' })
    t.match(await copy('copy', keyHeaders(S3_SOURCE, OTHER)), { status: 403, s3Code: 'AccessDenied' })
    t.match(await copy('copy', { ...keyHeaders(S3_SOURCE, KEY), ...keyHeaders(S3, OTHER) }), {
      status: 200,
      headers: echo(S3, OTHER),
    })
    t.ok((await s3Call('GET', 'copy', keyHeaders(S3, OTHER))).bytes.equals(BODY))
    t.equal((await s3Call('GET', 'copy', keyHeaders(S3, KEY))).status, 403)
    t.equal((await copy('plain-copy', keyHeaders(S3_SOURCE, KEY))).status, 200)
    t.ok((await s3Call('GET', 'plain-copy')).bytes.equals(BODY))
    t.equal((await s3Call('GET', 'plain-copy')).headers.etag, `"${md5Of(BODY)}"`)
    const itself = { ...keyHeaders(S3_SOURCE, KEY), ...keyHeaders(S3, OTHER) }
    t.equal((await s3Call('PUT', 'small', { 'x-amz-copy-source': '/photos/small', ...itself })).status, 200)
    t.equal(
      (await s3Call('GET', 'small', keyHeaders(S3, OTHER))).bytes.toString(),
      'hello',
      'another key for itself',
    )
    const native = await world.call({
      method: 'POST',
      path: '/api/v1/buckets/photos/object-copy/native',
      token,
      headers: { ...keyHeaders(OWN_SOURCE, KEY), ...keyHeaders(OWN, OTHER) },
      body: { sourceBucket: 'photos', sourceKey: 'sealed' },
    })
    t.match(native, { status: 200, headers: echo(OWN, OTHER), json: { encryption: { customerKey: true } } })
    t.ok((await own('GET', 'native', keyHeaders(OWN, OTHER))).bytes.equals(BODY))
  })

  await t.test(
    'assembles parts that all have the key of their upload [customer-keys.multipart]',
    async (t) => {
      const calls = new MultipartCalls(s3, 'assembled')
      const uploadId = await calls.begin(keyHeaders(S3, KEY))
      t.match(await calls.put(uploadId, 1, BODY), { status: 400, s3Code: 'InvalidRequest' })
      t.match(await calls.put(uploadId, 1, BODY, keyHeaders(S3, OTHER)), {
        status: 400,
        s3Code: 'InvalidRequest',
      })
      const first = await calls.part(uploadId, 1, BODY, keyHeaders(S3, KEY))
      const copied = await calls.copy(uploadId, 2, {
        'x-amz-copy-source': '/photos/sealed',
        'x-amz-copy-source-range': 'bytes=10-99',
        ...keyHeaders(S3_SOURCE, KEY),
        ...keyHeaders(S3, KEY),
      })
      t.match(copied, { status: 200, headers: echo(S3, KEY) })
      const second = { partNumber: 2, etag: String(copied.xml?.textOf('ETag')) }
      const wrong = await calls.complete(uploadId, completionOf([first, second]), keyHeaders(S3, OTHER))
      t.match(wrong, { status: 400, s3Code: 'InvalidRequest' })
      t.equal((await calls.complete(uploadId, [first, second])).status, 200)
      const whole = Buffer.concat([BODY, BODY.subarray(10, 100)])
      t.ok((await s3Call('GET', 'assembled', keyHeaders(S3, KEY))).bytes.equals(whole))
      t.match(await s3Call('GET', 'assembled?partNumber=2', keyHeaders(S3, KEY)), { status: 206 })
      t.equal((await s3Call('GET', 'assembled')).status, 400)
      const plain = new MultipartCalls(s3, 'other')
      const other = await plain.begin()
      t.match(await plain.put(other, 1, 'x', keyHeaders(S3, KEY)), { status: 400, s3Code: 'InvalidRequest' })
    },
  )

  await t.test(
    'is counted apart, for the exchange of the key of the tenant [customer-keys.usage]',
    async (t) => {
      const own = (await chunks()).filter(({ keyVersion }) => keyVersion === CUSTOMER_KEY_VERSION)
      t.match(world.memory.services.state.get(usageKeys.usage('acme')), {
        customerChunks: own.length,
        customerBytes: own.reduce((bytes, { sealedSize }) => bytes + sealedSize, 0),
      })
    },
  )
})

t.test(
  'a key is taken over TLS, from this machine and from trusted proxies only [customer-keys.secure]',
  async (t) => {
    const headers = keyHeaders(OWN, KEY)
    const plain = { isSecure: false }
    t.throws(() => readCustomerKey(headers, OWN_KEY, plain), { code: 'invalid_request', message: /TLS only/ })
    t.ok(readCustomerKey(headers, OWN_KEY, { isSecure: true }))
    t.ok(readCustomerKey(headers, OWN_KEY, { isSecure: false, isSheltered: true }))
    t.equal(readCustomerKey({}, OWN_KEY, plain), undefined)
  },
)

t.test(
  'is refused before a byte is read while a member does not know it [customer-keys.level]',
  async (t) => {
    const s3 = await S3World.start(t)
    s3.world.memory.featureLevel = 6
    const refused = await s3.world.call({
      method: 'PUT',
      path: '/api/v1/buckets/photos/objects/early',
      token: s3.token,
      headers: keyHeaders(OWN, KEY),
      body: 'x',
    })
    t.match(refused, { status: 412, json: { blockers: [{ code: 'version_incompatible' }] } })
  },
)
