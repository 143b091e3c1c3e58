/**
 * Each digest that an upload may claim, by the check value that its definition publishes, not by the code that is tested: in
 * X-Service headers, in those of RFC 1864 and RFC 9530, and in trailers.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { BucketClient } from './bucket-client.ts'

/** Of the nine bytes "123456789". */
const CHECK = {
  CRC32: 'cbf43926',
  CRC32C: 'e3069283',
  CRC64NVME: 'ae8b14860a799888',
  SHA1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
  SHA256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
} as const

t.test('every algorithm is verified and kept [objects.put.algorithms]', async (t) => {
  const films = await BucketClient.start(t)
  for (const [algorithm, hex] of Object.entries(CHECK)) {
    const header = `x-service-checksum-${algorithm.toLowerCase()}`
    const digest = Buffer.from(hex, 'hex').toString('base64')
    const refused = await films.put(algorithm, '123456788', { [header]: digest })
    t.match(refused, { status: 400, code: 'checksum_mismatch' }, algorithm)
    t.equal((await films.get(algorithm)).status, 404, 'and nothing is stored')
    const stored = await films.put(algorithm, '123456789', { [header]: digest })
    t.match(stored, { status: 200, json: { checksums: { [algorithm]: digest } } }, algorithm)
    t.equal((await films.head(algorithm)).headers[header], digest)
  }
})

/** Of "123456789" and of "hello", as OpenSSL makes them. base64. */
const NINE = {
  md5: 'JfnnlDI7RTiF9RgfG2JNCw==',
  'sha-256': 'FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=',
  'sha-512': '2eZ2LdHI6vbWGzxhkvxAjU1tXxF20MKRabwk5xw/J0rSf81YEbMT1oH35V7ALXPUmclUVba1u1A6z1dPuo/+hQ==',
}
const HELLO_SHA_256 = 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ='

const STANDARD: readonly (readonly [name: string, value: string, wrong: string])[] = [
  ['content-md5', NINE.md5, 'XUFAKrxLKna5cZ2REBfFkg=='],
  ['content-digest', `sha-256=:${NINE['sha-256']}:`, `sha-256=:${HELLO_SHA_256}:`],
  ['content-digest', `sha-512=:${NINE['sha-512']}:`, `sha-512=:${'A'.repeat(86)}==:`],
  [
    'content-digest',
    `sha-512=:${NINE['sha-512']}:, sha-256=:${NINE['sha-256']}:`,
    `sha-512=:${NINE['sha-512']}:, sha-256=:${HELLO_SHA_256}:`,
  ],
  ['repr-digest', `sha-256=:${NINE['sha-256'].slice(0, -1)}:`, `sha-256=:${HELLO_SHA_256}:`],
]
const MALFORMED: readonly (readonly [name: string, value: string])[] = [
  ['content-md5', 'garbage'],
  ['content-md5', ''],
  ['content-md5', '25f9e794323b453885f5181f1b624d0b'],
  ['content-md5', `${NINE.md5}, ${NINE.md5}`],
  ['content-digest', ''],
  ['content-digest', 'garbage'],
  ['content-digest', NINE['sha-256']],
  ['content-digest', `sha-256=${NINE['sha-256']}`],
  ['content-digest', `sha-256="${NINE['sha-256']}"`],
  ['content-digest', 'sha-256=:AAAA:'],
  ['content-digest', `SHA-256=:${NINE['sha-256']}:`],
  ['content-digest', `sha-256=:${NINE['sha-256']}:,`],
  ['repr-digest', `sha-256=:${NINE['sha-512']}:`],
]

t.test(
  'the standard headers are verified [objects.put.content-md5] [objects.put.content-digest]',
  async (t) => {
    const films = await BucketClient.start(t)
    const started = await films.on('multipart', 'm', { method: 'POST' })
    const part = `multipart/${String(started.json['uploadId'])}/parts/1`
    const link = await films.ask({
      method: 'POST',
      path: '/api/v1/sign-url',
      body: { method: 'PUT', bucket: 'films', key: 'k' },
    })
    const signed = String(link.json['url']).replace(/^https?:\/\/[^/]+/, '')
    const ways = {
      'an object': (headers: Record<string, string>) => films.put('k', '123456789', headers),
      'a part': (headers: Record<string, string>) =>
        films.on(part, 'm', { method: 'PUT', body: '123456789', headers }),
      'a signed upload': (headers: Record<string, string>) =>
        films.world.call({ method: 'PUT', path: signed, body: '123456789', headers }),
    }
    for (const [way, send] of Object.entries(ways)) {
      for (const [name, , wrong] of STANDARD) {
        const refused = await send({ [name]: wrong })
        t.match(refused, { status: 400, code: 'checksum_mismatch' }, `${way} ${name}: ${wrong}`)
        t.equal((await films.get('k')).status, 404, 'and nothing is stored')
      }
      for (const [name, value] of MALFORMED)
        t.match(
          await send({ [name]: value }),
          { status: 400, code: 'checksum_malformed' },
          `${way} ${name}: ${value}`,
        )
      for (const name of ['content-digest', 'repr-digest'])
        for (const algorithm of ['md5', 'sha', 'crc32c', 'unixsum', 'sha-384'])
          t.match(
            await send({ [name]: `sha-256=:${NINE['sha-256']}:, ${algorithm}=:AAAA:` }),
            { status: 400, code: 'checksum_unsupported' },
            `${way} ${name} ${algorithm}`,
          )
      const both = {
        'content-digest': `sha-256=:${NINE['sha-256']}:`,
        'x-service-checksum-sha256': HELLO_SHA_256,
      }
      t.match(await send(both), { status: 400, code: 'checksum_mismatch' }, 'two claims that differ')
    }
    for (const [way, send] of Object.entries(ways))
      for (const [name, value] of STANDARD)
        t.equal((await send({ [name]: value })).status, 200, `${way} ${name}: ${value}`)
    const kept = await films.put('k', '123456789', {
      'content-md5': NINE.md5,
      'repr-digest': STANDARD[3]?.[1],
    })
    t.same(
      Object.keys(kept.json['checksums'] as object).sort(),
      ['CRC64NVME', 'SHA256'],
      'MD5 and SHA-512 are not kept',
    )
    const repeatable = { 'content-md5': NINE.md5, 'idempotency-key': 'one' }
    t.equal((await films.put('i', '123456789', repeatable)).status, 200, 'a checksum for an idempotency key')
  },
)

t.test('bodies in JSON, and requests without a body, are held to their digests too', async (t) => {
  const films = await BucketClient.start(t)
  const body = JSON.stringify({ objects: [{ key: 'a' }] })
  const path = '/api/v1/buckets/films/objects:batchDelete'
  const send = (headers: Record<string, string | undefined>) =>
    films.ask({ method: 'POST', path, body, headers: { 'content-type': 'application/json', ...headers } })
  const right = createHash('md5').update(body).digest('base64')
  t.equal((await send({ 'content-md5': right })).status, 200)
  t.match(await send({ 'content-md5': NINE.md5 }), { status: 400, code: 'checksum_mismatch' })
  t.match(await send({ 'content-encoding': 'gzip' }), { status: 415, code: 'unsupported_media_type' })
  const chunks = { 'content-length': undefined, 'transfer-encoding': 'chunked', trailer: 'content-digest' }
  t.match(await send(chunks), { status: 501, code: 'not_implemented' })
  await films.put('k')
  t.match(await films.remove('k', { 'content-md5': NINE.md5 }), { status: 400, code: 'checksum_mismatch' })
  const empty = createHash('md5').digest('base64')
  t.equal((await films.remove('k', { 'content-md5': empty })).status, 204)
})

/** [what `Trailer` says, the trailer fields, the status, the code] */
const TRAILERS: readonly (readonly [announced: string, fields: string, status: number, code?: string])[] = [
  ['X-Service-Checksum-SHA256', `x-service-checksum-sha256: ${HELLO_SHA_256}`, 200],
  ['X-Service-Checksum-SHA256', `x-service-checksum-sha256: ${NINE['sha-256']}`, 400, 'checksum_mismatch'],
  ['Content-Digest', `Content-Digest: sha-256=:${HELLO_SHA_256}:`, 200],
  ['Content-Digest', `Content-Digest: sha-512=:${NINE['sha-512']}:`, 400, 'checksum_mismatch'],
  ['repr-digest', `Repr-Digest: sha-256=:${NINE['sha-256']}:`, 400, 'checksum_mismatch'],
  ['repr-digest', 'Repr-Digest: sha-256=:AAAA:', 400, 'checksum_malformed'],
  ['Content-MD5', `Content-MD5: ${NINE.md5}`, 400, 'checksum_mismatch'],
  ['Content-MD5', 'Content-MD5: XUFAKrxLKna5cZ2REBfFkg==', 200],
  [
    'Content-MD5, Content-Digest',
    `Content-MD5: XUFAKrxLKna5cZ2REBfFkg==\r\nContent-Digest: sha-256=:${NINE['sha-256']}:`,
    400,
    'checksum_mismatch',
  ],
  ['X-Service-Checksum-MD5', '', 400, 'checksum_unsupported'],
  ['X-Service-Checksum-SHA256', '', 400, 'invalid_request'],
  ['', `Content-Digest: sha-256=:${HELLO_SHA_256}:`, 400, 'invalid_request'],
  ['', `x-service-checksum-sha256: ${HELLO_SHA_256}`, 400, 'invalid_request'],
  ['', 'Authorization: Bearer x', 400, 'invalid_request'],
  ['X-Amz-Checksum-Sha256', `X-Amz-Checksum-Sha256: ${HELLO_SHA_256}`, 501, 'not_implemented'],
  ['Expires', 'Expires: 0', 501, 'not_implemented'],
]

t.test(
  'digests behind a body are verified before the commit, others refused [objects.put.trailers]',
  async (t) => {
    const films = await BucketClient.start(t)
    for (const [n, [announced, fields, status, code]] of TRAILERS.entries()) {
      const head = `PUT /api/v1/buckets/films/objects/${n} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${films.token}\r\nTransfer-Encoding: chunked\r\n`
      const trailer = announced === '' ? '' : `Trailer: ${announced}\r\n`
      const end = fields === '' ? '\r\n' : `${fields}\r\n\r\n`
      const answer = await films.world.raw(`${head}${trailer}\r\n5\r\nhello\r\n0\r\n${end}`)
      t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), `${announced} | ${fields}`)
      if (code !== undefined) t.match(answer, `"code":"${code}"`)
      t.equal((await films.get(`${n}`)).status, status === 200 ? 200 : 404, 'and stored only then')
    }
  },
)
