/**
 * Bodies in and out: sizes, digests, ranges, conditions, headers, and clients or disks that fail half-way.
 */
import { createHash } from 'node:crypto'
import http from 'node:http'
import t from 'tap'
import { patternBytes } from '../helpers/content-world.ts'
import { type Ask, ApiWorld } from './api-world.ts'

const MIB = 1024 * 1024
const OBJECTS = '/api/v1/buckets/photos/objects/'

t.test('a small body that lies in the state is sent in one piece, without a stream', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  await world.call({ method: 'PUT', path: `${OBJECTS}small`, token, body: 'hello' })
  t.capture(world.memory.content, 'read', async function* () {
    yield Buffer.from('a stream is read')
  })
  const range = await world.call({ path: `${OBJECTS}small`, token, headers: { range: 'bytes=1-3' } })
  t.same([range.status, range.bytes.toString()], [206, 'ell'])
  t.equal((await world.call({ path: `${OBJECTS}small`, token })).bytes.toString(), 'hello')
})

t.test('putObject', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t, { limits: { objectPutBytesMax: 6 * MIB } })
  const put = (key: string, more: Partial<Ask> = {}) =>
    world.call({ method: 'PUT', path: `${OBJECTS}${key}`, token, body: 'hello', ...more })
  const isAbsent = async (
    t: { equal(a: unknown, b: unknown, message: string): unknown },
    key: string,
  ): Promise<void> => {
    t.equal((await world.call({ path: `${OBJECTS}${key}`, token })).status, 404, 'stores nothing')
  }

  await t.test('takes any content type as bytes, JSON too [objects.put.content-type]', async (t) => {
    for (const type of [
      'application/json',
      'application/json; charset=latin1',
      'text/plain',
      'a/b;c="d"',
      '?',
      'x',
    ]) {
      const body = '{"a":1,"a":2'
      t.equal((await put('typed', { body, headers: { 'content-type': type } })).status, 200, type)
      const got = await world.call({ path: `${OBJECTS}typed`, token })
      t.equal(got.headers['content-type'], type)
      t.equal(got.bytes.toString(), body)
    }
    const plain = await put('plain')
    t.equal(plain.json['contentType'], 'application/octet-stream')
    t.match(await put('bad', { headers: { 'content-type': 'é' } }), { status: 400, code: 'invalid_request' })
  })

  await t.test(
    'takes bodies of every kind: empty, inline, in chunks [objects.get] [objects.put.streamed]',
    async (t) => {
      for (const size of [0, 1, 2048, 2049, 4 * MIB, 5 * MIB + 3]) {
        const body = patternBytes(size, size + 1)
        const stored = await put('sized', { body })
        t.equal(stored.json['size'], size)
        const got = await world.call({ path: `${OBJECTS}sized`, token })
        t.ok(got.bytes.equals(body), `${size} bytes`)
        t.equal(got.headers['content-length'], `${size}`)
      }
      const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined }
      const streamed = await put('chunked', { body: patternBytes(3 * MIB), headers: chunked })
      t.equal(streamed.json['size'], 3 * MIB, 'without a length')
    },
  )

  await t.test(
    'verifies every digest before anything is stored [objects.put.rule-1] [objects.put.several-sums] [errors.checksum_malformed] [errors.checksum_unsupported] [errors.checksum_mismatch]',
    async (t) => {
      const sha256 = createHash('sha256').update('hello').digest('base64')
      const sha1 = createHash('sha1').update('hello').digest('base64')
      const good = await put('summed', {
        headers: { 'x-service-checksum-SHA256': sha256, 'X-Service-Checksum-sha1': ` ${sha1} ` },
      })
      t.match(good.json, {
        checksums: { SHA256: sha256, SHA1: sha1, CRC64NVME: /=$/ },
        checksumType: 'FULL_OBJECT',
      })
      t.equal(good.headers['x-service-checksum-sha256'], sha256)
      const cases = [
        ['SHA256', createHash('sha256').update('other').digest('base64'), 'checksum_mismatch'],
        ['CRC32', 'AAAAAA==', 'checksum_mismatch'],
        ['SHA256', 'AAAA', 'checksum_malformed'],
        ['SHA256', `${sha256.slice(0, -1)}!`, 'checksum_malformed'],
        ['CRC32', '', 'checksum_malformed'],
        ['FOO', sha256, 'checksum_unsupported'],
        ['MD5', sha256, 'checksum_unsupported'],
      ] as const
      for (const [algorithm, digest, code] of cases) {
        const headers = { [`x-service-checksum-${algorithm}`]: digest, 'x-service-checksum-sha1': sha1 }
        t.match(await put('refused', { headers }), { status: 400, code }, `${algorithm} ${digest}`)
      }
      const large = { body: patternBytes(5 * MIB), headers: { 'x-service-checksum-crc32c': 'AAAAAA==' } }
      t.match(await put('refused', large), { status: 400, code: 'checksum_mismatch' })
      await isAbsent(t, 'refused')
    },
  )

  await t.test(
    'refuses a body that is too large, by its header before a byte is read, or while it streams [objects.body.too-large] [errors.entity_too_large]',
    async (t) => {
      const before = world.memory.blobs.written.length
      t.match(await put('large', { body: Buffer.alloc(6 * MIB + 1) }), {
        status: 413,
        code: 'entity_too_large',
      })
      t.equal(world.memory.blobs.written.length, before, 'nothing was placed')
      const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined }
      t.match(await put('large', { body: Buffer.alloc(6 * MIB + 1), headers: chunked }), {
        status: 413,
        code: 'entity_too_large',
      })
      await isAbsent(t, 'large')
    },
  )

  await t.test(
    'refuses by name headers that it would otherwise ignore [objects.put.unknown-header] [errors.not_implemented] [errors.length_required]',
    async (t) => {
      for (const name of ['If-Modified-Since', 'If-Unmodified-Since']) {
        const refused = await put('later', { headers: { [name]: 'x' } })
        t.match(refused, {
          status: 501,
          code: 'not_implemented',
          json: { message: new RegExp(`header ${name} `) },
        })
      }
      const misspelt = await put('later', {
        headers: { 'X-Service-Retention-Until': '2099-01-01T00:00:00Z' },
      })
      t.match(misspelt, {
        status: 400,
        code: 'invalid_request',
        json: { message: /did you mean x-service-ret/ },
      })
      const answered = await put('later', { headers: { 'X-Service-Storage-Class': 'STANDARD' } })
      t.match(answered, { status: 400, code: 'invalid_request' })
      t.match(await put('later', { headers: { 'content-range': 'bytes 0-4/5' } }), {
        status: 400,
        code: 'invalid_request',
      })
      t.match(await put('later?versionId=x'), { status: 400, code: 'invalid_argument' })
      const withoutLength = await world.raw(
        `PUT ${OBJECTS}later HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
      )
      t.match(withoutLength, /^HTTP\/1\.1 411 [^]*"code":"length_required"/)
      await isAbsent(t, 'later')
      const conditional = {
        method: 'DELETE',
        path: `${OBJECTS}plain`,
        token,
        headers: { 'if-none-match': '*' },
      }
      t.match(await world.call(conditional), { status: 501, code: 'not_implemented' })
      t.equal(
        (await world.call({ path: `${OBJECTS}plain`, token })).status,
        200,
        'a refused delete deletes nothing',
      )
    },
  )

  await t.test(
    'keeps user metadata byte for byte, up to 2 KiB [objects.put.metadata] [limits.metadata]',
    async (t) => {
      // The last of its bytes is no space of HTTP, though some trim it.
      const text = 'größe 😀\u00a0'
      const utf8 = Buffer.from(text).toString('latin1')
      const stored = await put('meta', {
        headers: { 'x-service-meta-Name': utf8, 'x-service-meta-empty': '' },
      })
      t.match(stored.json, { metadata: { name: text, empty: '' } })
      const got = await world.call({ path: `${OBJECTS}meta`, token })
      t.equal(got.headers['x-service-meta-name'], utf8)
      const full = await put('meta', { headers: { 'x-service-meta-a': 'x'.repeat(2047) } })
      t.equal(full.status, 200)
      for (const headers of [
        { 'x-service-meta-a': 'x'.repeat(2048) },
        { 'x-service-meta-': 'x' },
        { 'x-service-meta-__proto__': 'x' },
        { 'x-service-meta-a': '\u00ff' },
        { 'x-service-meta-a': Buffer.from('\u0085').toString('latin1') },
      ]) {
        t.match(await put('refused', { headers }), { status: 400, code: 'invalid_request' })
      }
    },
  )

  await t.test('replaces the previous object', async (t) => {
    const first = await put('twice', { body: patternBytes(3000) })
    const second = await put('twice', { body: 'new' })
    t.not(first.json['etag'], second.json['etag'])
    t.equal((await world.call({ path: `${OBJECTS}twice`, token })).bytes.toString(), 'new')
  })
})

t.test('getObject', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const body = patternBytes(4 * MIB + 1000)
  const path = `${OBJECTS}k`
  await world.call({ method: 'PUT', path, token, body })
  await world.call({ method: 'PUT', path: `${OBJECTS}empty`, token, body: '' })
  const size = body.length

  await t.test(
    '[RFC 9110 14.2] serves one range [objects.get.range] [errors.range_not_satisfiable]',
    async (t) => {
      const table = [
        ['bytes=0-0', 0, 1],
        ['bytes=0-99', 0, 100],
        ['bytes=100-', 100, size],
        ['bytes=-1', size - 1, size],
        ['bytes=-100', size - 100, size],
        [`bytes=-${size + 5}`, 0, size],
        [`bytes=${size - 1}-`, size - 1, size],
        [`bytes=0-${size * 2}`, 0, size],
        ['bytes=0-99999999999999999999999', 0, size],
        [`bytes=${4 * MIB - 3}-${4 * MIB + 2}`, 4 * MIB - 3, 4 * MIB + 3],
        ['BYTES=65535-65536', 65535, 65537],
      ] as const
      for (const [range, start, end] of table) {
        const got = await world.call({ path, token, headers: { range } })
        t.equal(got.status, 206, range)
        t.ok(got.bytes.equals(body.subarray(start, end)), 'the very bytes')
        t.equal(got.headers['content-range'], `bytes ${start}-${end - 1}/${size}`)
        t.equal(got.headers['content-length'], `${end - start}`)
        t.equal(got.headers['x-service-object-length'], `${size}`)
      }
      for (const range of ['items=0-1', 'bytes=0-1,5-9']) {
        t.equal((await world.call({ path, token, headers: { range } })).status, 200, `${range} is ignored`)
      }
      const refused = [
        `bytes=${size}-`,
        'bytes=99999999999999999999-',
        'bytes=-0',
        'bytes=9-2',
        'bytes=a-b',
        'bytes=',
        'bytes=-',
        'bytes=1',
        'bytes=--1',
        'bytes=0x1-2',
      ]
      for (const range of refused) {
        const got = await world.call({ path, token, headers: { range } })
        t.match(got, { status: 416, code: 'range_not_satisfiable' }, range)
        t.equal(got.headers['content-range'], `bytes */${size}`)
      }
      const ofNothing = await world.call({ path: `${OBJECTS}empty`, token, headers: { range: 'bytes=0-' } })
      t.match(ofNothing, { status: 416 })
      const head = await world.call({ method: 'HEAD', path, token, headers: { range: 'bytes=0-0' } })
      t.match(head, { status: 200, headers: { 'content-length': `${size}` } }, 'HEAD knows no range')
    },
  )

  await t.test('[RFC 9110 13.2.2] honours conditions [objects.get.conditions]', async (t) => {
    // Small, because many of the answers carry it.
    const path = `${OBJECTS}conditional`
    const stored = await world.call({ method: 'PUT', path, token, body: 'small' })
    const etag = String(stored.json['etag'])
    const stamp = String(stored.headers['last-modified'])
    const earlier = new Date(Date.parse(stamp) - 1000).toUTCString()
    const table: readonly (readonly [http.OutgoingHttpHeaders, number])[] = [
      [{ 'if-match': `"${etag}"` }, 200],
      [{ 'if-match': etag }, 200],
      [{ 'if-match': '*' }, 200],
      [{ 'if-match': `"x", "${etag}"` }, 200],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-match': `W/"${etag}"` }, 412],
      [{ 'if-none-match': `"${etag}"` }, 304],
      [{ 'if-none-match': `W/"${etag}"` }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-modified-since': stamp }, 304],
      [{ 'if-modified-since': earlier }, 200],
      [{ 'if-modified-since': 'yesterday' }, 200],
      [{ 'if-unmodified-since': stamp }, 200],
      [{ 'if-unmodified-since': earlier }, 412],
      [{ 'if-none-match': '"x"', 'if-modified-since': stamp }, 200],
      [{ 'if-match': `"${etag}"`, 'if-unmodified-since': earlier }, 200],
      [{ 'if-range': `"${etag}"`, range: 'bytes=0-1' }, 206],
      [{ 'if-range': stamp, range: 'bytes=0-1' }, 206],
      [{ 'if-range': '"x"', range: 'bytes=0-1' }, 200],
      [{ 'if-range': earlier, range: 'bytes=0-1' }, 200],
      [{ 'if-range': '*', range: 'bytes=0-1' }, 200],
    ]
    for (const [headers, status] of table) {
      const got = await world.call({ path, token, headers })
      t.equal(got.status, status, JSON.stringify(headers))
      if (status === 304) t.match(got, { bytes: { length: 0 }, headers: { etag: `"${etag}"` } })
    }
    const head = await world.call({ method: 'HEAD', path, token, headers: { 'if-none-match': etag } })
    t.equal(head.status, 304)
  })

  await t.test('selects the null version and no other [versions.select.null]', async (t) => {
    t.equal((await world.call({ path: `${path}?versionId=null`, token })).status, 200)
    t.equal((await world.call({ path: `${path}?versionId=01J`, token })).status, 404)
    t.equal((await world.call({ method: 'DELETE', path: `${path}?versionId=01J`, token })).status, 204)
    t.equal((await world.call({ path, token })).status, 200, 'still there')
  })

  await t.test(
    'says so when no copy can be read, and resets the connection rather than ending cleanly',
    async (t) => {
      const nodes = ['n1', 'n2', 'n3']
      for (const node of nodes) world.memory.blobs.failAfter(node, 0, new Error('disk is gone'))
      const none = await world.call({ path, token })
      t.ok(none.status >= 500, 'before the first byte it is an error answer')
      // Every copy is tried twice, and each try may bring so much: not enough for the whole body.
      for (const node of nodes) world.memory.blobs.failAfter(node, 128 * 1024, new Error('disk is gone'))
      await t.rejects(world.send({ path, token }), { code: 'ECONNRESET' })
      const cause = world.memory.lines.find(({ message }) => message === 'body broke while it was sent')
      t.ok(cause, 'and the error is logged')
      for (const node of nodes) world.memory.blobs.failAfter(node, Infinity, new Error('never'))
      t.ok((await world.call({ path, token })).bytes.equals(body), 'the next request is served')

      const { content } = world.memory.services
      const honest = content.read.bind(content)
      const answering = (text: string, length: number) => {
        content.read = async function* () {
          yield Buffer.from(text.slice(0, 4))
          yield Buffer.from(text.slice(4))
        }
        return world.send({ path, token, headers: { range: `bytes=0-${length - 1}` } })
      }
      for (const wrong of [20_000 - 1, 20_000 + 1])
        await t.rejects(answering('x'.repeat(wrong), 20_000), `${wrong} is not 20000 bytes`)
      // A small body is in hand before anything of its answer leaves.
      for (const wrong of ['1234567', '123456789'])
        t.match(await answering(wrong, 8), { status: 500, code: 'internal_error' })
      t.match(await answering('', 20_000), { status: 500, code: 'internal_error' })
      const nothing = await answering('', 8)
      t.match(nothing, { status: 500, code: 'internal_error' })
      t.notOk(
        'etag' in nothing.headers || 'content-range' in nothing.headers,
        'an error says nothing of the object',
      )
      content.read = honest
    },
  )
})
