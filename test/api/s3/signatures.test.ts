/**
 * Who may use the S3 API: signatures in the header and in the query, of good and bad keys, in and out of time; and the proofs of bodies.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { S3World } from './s3-world.ts'
import { amzDate, presignedPath, signedChunks } from './s3-signer.ts'

const MINUTE_MS = 60_000
const crcOf = (bytes: Buffer): string => {
  const digest = Buffer.alloc(4)
  digest.writeUInt32BE(crc32(bytes))
  return digest.toString('base64')
}

t.test('signatures in the header', async (t) => {
  const s3 = await S3World.start(t)
  const { memory } = s3.world

  t.test('of any region are good, on any node', async (t) => {
    for (const region of ['us-east-1', 'eu-central-1', 'garage'])
      t.equal((await s3.call({ path: '/', region })).status, 200, region)
  })

  t.test('that are wrong show what was signed, and never the right signature', async (t) => {
    const { accessKeyId } = s3.secret
    const wrong = await s3.call({ path: '/photos', secret: { accessKeyId, secretKey: 'x'.repeat(40) } })
    t.match(wrong, { status: 403, s3Code: 'SignatureDoesNotMatch' })
    t.match(wrong.xml?.textOf('CanonicalRequest'), /^GET\n\/photos\n/)
    t.match(
      wrong.xml?.textOf('StringToSign'),
      /^AWS4-HMAC-SHA256\n\d{8}T\d{6}Z\n\d{8}\/us-east-1\/s3\/aws4_request\n[0-9a-f]{64}$/,
    )
    const unknown = await s3.call({
      path: '/photos',
      secret: { accessKeyId: 'AK0000000000', secretKey: 'x' },
    })
    t.match(unknown, { status: 403, s3Code: 'InvalidAccessKeyId' })
    const changed = s3.signed({ path: '/photos/a' })
    t.match(await s3.sent({ ...changed, path: '/photos/b' }), { s3Code: 'SignatureDoesNotMatch' })
    t.match(await s3.sent({ ...changed, method: 'DELETE' }), { s3Code: 'SignatureDoesNotMatch' })
  })

  t.test('are good for 15 minutes in both directions', async (t) => {
    for (const minutes of [-14, 14])
      t.equal((await s3.call({ path: '/', at: new Date(memory.now + minutes * MINUTE_MS) })).status, 200)
    for (const minutes of [-16, 16]) {
      const answer = await s3.call({ path: '/', at: new Date(memory.now + minutes * MINUTE_MS) })
      t.match(answer, { status: 403, s3Code: 'RequestTimeTooSkewed' })
    }
  })

  t.test('of version 2 are refused with the name of version 4', async (t) => {
    const old = { authorization: `AWS ${s3.secret.accessKeyId}:c2lnbmF0dXJl` }
    const answer = await s3.sent({ path: '/photos', headers: old })
    t.match(answer, { status: 400, s3Code: 'InvalidRequest' })
    t.match(answer.xml?.textOf('Message'), /s3v4/)
    const inQuery = `/photos?AWSAccessKeyId=${s3.secret.accessKeyId}&Signature=x&Expires=1`
    t.match((await s3.sent({ path: inQuery })).xml?.textOf('Message'), /s3v4/)
  })

  t.test('end with the key: revoked, rotated, or its tenant disabled', async (t) => {
    const revoked = await memory.accessKey('acme', 'read')
    t.equal((await s3.call({ path: '/', secret: revoked })).status, 200)
    await memory.change({
      type: 'revokeAccessKey',
      tenantId: 'acme',
      accessKeyId: revoked.accessKeyId,
      reason: 'test',
    })
    t.match(await s3.call({ path: '/', secret: revoked }), { status: 403, s3Code: 'AccessDenied' })
  })

  t.test('are asked for scopes as tokens are', async (t) => {
    const reader = await memory.accessKey('acme', 'op=read:bucket=photos:prefix=in/')
    const put = await s3.call({ method: 'PUT', path: '/photos/in/a', secret: reader, body: 'x' })
    t.match(put, { status: 403, s3Code: 'AccessDenied' })
    t.match(await s3.call({ path: '/photos/out/a', secret: reader }), { status: 403, s3Code: 'AccessDenied' })
    t.match(await s3.call({ path: '/photos/in/a', secret: reader }), { status: 404, s3Code: 'NoSuchKey' })
  })
})

t.test('presigned URLs', async (t) => {
  const s3 = await S3World.start(t, { security: { maxPresignTtlMs: 60 * MINUTE_MS } })
  const { memory } = s3.world
  await s3.call({ method: 'PUT', path: '/photos/a.txt', body: 'hello' })

  t.test('open one object for one method until they end', async (t) => {
    const path = s3.presigned({ path: '/photos/a.txt' })
    const got = await s3.sent({ path })
    t.match(got, {
      status: 200,
      headers: {
        'content-security-policy': /sandbox/,
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-cache',
      },
    })
    t.equal(got.bytes.toString(), 'hello')
    t.match(await s3.sent({ path, method: 'PUT', body: 'x' }), { s3Code: 'SignatureDoesNotMatch' })
    t.match(await s3.sent({ path: path.replace('a.txt', 'b.txt') }), { s3Code: 'SignatureDoesNotMatch' })
    memory.now += 16 * MINUTE_MS
    t.match(await s3.sent({ path }), { status: 403, s3Code: 'AccessDenied' })
  })

  t.test('live at most security.max_presign_ttl', async (t) => {
    t.equal((await s3.sent({ path: s3.presigned({ path: '/photos/a.txt' }, 3600) })).status, 200)
    const long = await s3.sent({ path: s3.presigned({ path: '/photos/a.txt' }, 3601) })
    t.match(long, { status: 400, s3Code: 'AuthorizationQueryParametersError' })
  })

  t.test('take uploads without a hash of the body, and with parameters of the answer', async (t) => {
    const put = await s3.sent({
      method: 'PUT',
      path: s3.presigned({ method: 'PUT', path: '/photos/up' }),
      body: 'sent',
    })
    t.equal(put.status, 200)
    const query = '?response-content-type=text%2Fx-test&response-content-disposition=attachment'
    const got = await s3.sent({ path: s3.presigned({ path: `/photos/up${query}` }) })
    t.match(got, { headers: { 'content-type': 'text/x-test', 'content-disposition': 'attachment' } })
    const injected = await s3.sent({
      path: s3.presigned({ path: '/photos/up?response-content-type=a%0D%0Ab%3Ac' }),
    })
    t.match(injected, { status: 400, s3Code: 'InvalidArgument' })
  })
})

t.test('bodies are those that were signed, or nothing is stored', async (t) => {
  const s3 = await S3World.start(t)
  const bytes = Buffer.alloc(200_000, 'abc')
  const chunks = [bytes.subarray(0, 70_000), bytes.subarray(70_000)]
  const streamed = (kind: string, more: Record<string, string> = {}) => ({
    method: 'PUT',
    path: '/photos/streamed',
    payload: kind,
    headers: {
      'content-encoding': 'aws-chunked',
      'x-amz-decoded-content-length': `${bytes.length}`,
      ...more,
    },
  })
  const isStored = async (): Promise<boolean> => {
    const { status } = await s3.call({ path: '/photos/streamed' })
    await s3.call({ method: 'DELETE', path: '/photos/streamed' })
    return status === 200
  }
  const send = async (ask: ReturnType<typeof streamed>, bodyOf: (first: string, at: Date) => Buffer) => {
    const at = s3.now
    const signed = s3.signed({ ...ask, at })
    const first = /Signature=([0-9a-f]+)/.exec(`${signed.headers?.['authorization']}`)?.[1] ?? ''
    return s3.sent({ ...signed, body: bodyOf(first, at) })
  }

  t.test('a hash of the whole', async (t) => {
    const ask = { method: 'PUT', path: '/photos/streamed', body: bytes }
    t.match(await s3.call({ ...ask, payload: createHash('sha256').update('other').digest('hex') }), {
      status: 400,
      s3Code: 'XAmzContentSHA256Mismatch',
    })
    t.equal(await isStored(), false)
    t.equal((await s3.call({ ...ask, payload: 'UNSIGNED-PAYLOAD' })).status, 200)
    t.equal(await isStored(), true)
    t.match(await s3.call({ ...ask, payload: 'nonsense' }), { status: 400, s3Code: 'InvalidArgument' })
  })

  t.test('signed chunks', async (t) => {
    const kind = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
    const good = await send(streamed(kind), (first, at) => signedChunks(s3.secret, chunks, { at, first }))
    t.equal(good.status, 200)
    const got = await s3.call({ path: '/photos/streamed' })
    t.ok(got.bytes.equals(bytes))
    t.notMatch(got.headers['content-encoding'], /aws-chunked/)
    t.equal(await isStored(), true)
    const swapped = await send(streamed(kind), (first, at) => {
      const body = signedChunks(s3.secret, chunks, { at, first })
      body[body.length - 100_000] = 0x21
      return body
    })
    t.match(swapped, { status: 403, s3Code: 'SignatureDoesNotMatch' })
    t.equal(await isStored(), false)
    const replayed = await send(streamed(kind), (_, at) =>
      signedChunks(s3.secret, chunks, { at, first: 'a'.repeat(64) }),
    )
    t.match(replayed, { status: 403, s3Code: 'SignatureDoesNotMatch' })
    const cut = await send(streamed(kind), (first, at) =>
      signedChunks(s3.secret, chunks, { at, first }).subarray(0, 150_000),
    )
    t.match(cut, { status: 400, s3Code: 'IncompleteBody' })
    t.equal(await isStored(), false)
  })

  t.test('signed chunks with a trailer', async (t) => {
    const kind = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'
    const announced = { 'x-amz-trailer': 'x-amz-checksum-crc32' }
    const withTrailer = (value: string) => (first: string, at: Date) =>
      signedChunks(s3.secret, chunks, { at, first, trailers: { 'x-amz-checksum-crc32': value } })
    const good = await send(streamed(kind, announced), withTrailer(crcOf(bytes)))
    t.match(good, { status: 200, headers: { 'x-amz-checksum-crc32': crcOf(bytes) } })
    t.equal(await isStored(), true)
    const wrong = await send(streamed(kind, announced), withTrailer(crcOf(Buffer.from('other'))))
    t.match(wrong, { status: 400, s3Code: 'BadDigest' })
    t.equal(await isStored(), false)
    const missing = await send(streamed(kind, announced), (first, at) =>
      signedChunks(s3.secret, chunks, { at, first, trailers: {} }),
    )
    t.match(missing, { status: 400, s3Code: 'MalformedTrailerError' })
    t.equal(await isStored(), false)
  })

  t.test('unsigned chunks with a trailer', async (t) => {
    const kind = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
    const body = (value: string): Buffer =>
      Buffer.concat([
        Buffer.from(`${bytes.length.toString(16)}\r\n`),
        bytes,
        Buffer.from(`\r\n0\r\nx-amz-checksum-crc32:${value}\r\n\r\n`),
      ])
    const announced = { 'x-amz-trailer': 'x-amz-checksum-crc32' }
    t.equal((await send(streamed(kind, announced), () => body(crcOf(bytes)))).status, 200)
    t.equal(await isStored(), true)
    const wrong = await send(streamed(kind, announced), () => body(crcOf(Buffer.from('x'))))
    t.match(wrong, { status: 400, s3Code: 'BadDigest' })
    t.equal(await isStored(), false)
  })

  t.test('Content-MD5 and checksums in headers', async (t) => {
    const put = (headers: Record<string, string>) =>
      s3.call({ method: 'PUT', path: '/photos/streamed', body: bytes, headers })
    const md5 = createHash('md5').update(bytes).digest('base64')
    t.equal((await put({ 'content-md5': md5, 'x-amz-checksum-crc32': crcOf(bytes) })).status, 200)
    t.match(await put({ 'content-md5': createHash('md5').digest('base64') }), {
      status: 400,
      s3Code: 'BadDigest',
    })
    t.match(await put({ 'content-md5': 'short' }), { status: 400, s3Code: 'InvalidDigest' })
    t.match(await put({ 'x-amz-checksum-sha1': crcOf(bytes) }), { status: 400 })
  })
})

t.test('the signers of the tests agree with what is published', async (t) => {
  const at = new Date('2013-05-24T00:00:00Z')
  t.equal(amzDate(at), '20130524T000000Z')
  const secret = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const request = {
    method: 'GET',
    path: '/test.txt',
    host: 'examplebucket.s3.amazonaws.com',
    headers: {},
    payload: 'UNSIGNED-PAYLOAD',
    at,
  }
  t.match(
    presignedPath(secret, request, 86_400),
    /aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/,
  )
})
