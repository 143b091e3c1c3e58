/**
 * What a signature version 4 must not look like, when it counts, and bodies whose chunks or trailers are not what was signed.
 */
import t from 'tap'
import { SignedChunks } from '../../../src/access/signature-v4/signed-chunks.ts'
import { type RawRequest, readSignedRequest } from '../../../src/access/signature-v4/signed-request.ts'
import { chunkSignature, sha256Hex, signingKey } from '../../../src/access/signature-v4/signing-key.ts'
import { checkTime, payloadProof } from '../../../src/access/signature-v4/verify-signature.ts'

const SIGNATURE = 'a'.repeat(64)
const CREDENTIAL = 'AKID/20261126/eu-west-1/s3/aws4_request'
const DATE = '20261126T120000Z'
const NOW = Date.parse('2026-11-26T12:00:00Z')

interface Parts {
  readonly credential?: string
  readonly signedHeaders?: string
  readonly signature?: string
  readonly headers?: readonly (readonly [string, string])[]
}

function withHeader({
  credential = CREDENTIAL,
  signedHeaders,
  signature = SIGNATURE,
  headers,
}: Parts): RawRequest {
  const sent = headers ?? [
    ['host', 'store.example'],
    ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
    ['x-amz-date', DATE],
  ]
  const names = signedHeaders ?? [...new Set(sent.map(([name]) => name))].toSorted().join(';')
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`
  return { method: 'GET', path: '/b/k', query: '', headers: [...sent, ['authorization', authorization]] }
}

const QUERY = {
  'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
  'X-Amz-Credential': CREDENTIAL,
  'X-Amz-Date': DATE,
  'X-Amz-Expires': '900',
  'X-Amz-SignedHeaders': 'host',
  'X-Amz-Signature': SIGNATURE,
}

function withQuery(change: Readonly<Record<string, string | null>>, more = ''): RawRequest {
  const pairs = Object.entries<string | null>({ ...QUERY, ...change }).filter(([, value]) => value !== null)
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&') + more
  return { method: 'GET', path: '/b/k', query, headers: [['host', 'store.example']] }
}

t.test('a request without an AWS signature is none', async (t) => {
  const plain = { method: 'GET', path: '/', query: 'list-type=2', headers: [['host', 'a']] as const }
  t.equal(readSignedRequest(plain), null)
  t.equal(readSignedRequest({ ...plain, headers: [['authorization', 'Bearer abc']] }), null)
})

t.test('a header that is not as it must be', async (t) => {
  const sent = [
    ['host', 'a'],
    ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
  ] as const
  const refused: readonly (readonly [parts: Parts, code: string, message: RegExp])[] = [
    [{ credential: 'AKID/20261126/eu-west-1/s3' }, 'AuthorizationHeaderMalformed', /Credential is not/],
    [{ credential: 'AKID/20261126/eu-west-1/iam/aws4_request' }, 'AuthorizationHeaderMalformed', /'iam'/],
    [{ credential: 'AKID/20261125/eu-west-1/s3/aws4_request' }, 'AuthorizationHeaderMalformed', /the day of/],
    [{ signature: 'A'.repeat(64) }, 'AuthorizationHeaderMalformed', /64 lower-case/],
    [{ signedHeaders: 'x-amz-date;host' }, 'AuthorizationHeaderMalformed', /ascending/],
    [{ signedHeaders: 'x-amz-date' }, 'AuthorizationHeaderMalformed', /does not name host/],
    [{ signedHeaders: 'host;x-amz-date' }, 'AccessDenied', /x-amz-content-sha256 was not signed/],
    [{ headers: sent }, 'AccessDenied', /neither x-amz-date nor/],
    [{ headers: sent.slice(0, 1) }, 'InvalidRequest', /x-amz-content-sha256/],
    [{ headers: [...sent, ['x-amz-date', '2026-11-26']] }, 'AccessDenied', /no time such as/],
  ]
  for (const [parts, code, message] of refused)
    t.throws(() => readSignedRequest(withHeader(parts)), { code, message }, message.source)
  const twice = withHeader({})
  t.throws(
    () =>
      readSignedRequest({ ...twice, headers: [...twice.headers, ['authorization', 'AWS4-HMAC-SHA256 x']] }),
    { code: 'InvalidArgument', message: /two Authorization/ },
  )
  const version2 = { ...twice, headers: [['authorization', 'AWS AKID:c2lnbmF0dXJl']] as const }
  t.throws(() => readSignedRequest(version2), { code: 'InvalidRequest', message: /s3v4/ })
  t.equal(readSignedRequest(withHeader({}))?.credential.accessKeyId, 'AKID')
})

t.test('a query that is not as it must be', async (t) => {
  const refused: readonly (readonly [request: RawRequest, code: string, message: RegExp])[] = [
    [withQuery({ 'X-Amz-Algorithm': 'none' }), 'AuthorizationQueryParametersError', /X-Amz-Algorithm/],
    [withQuery({ 'X-Amz-Expires': '0' }), 'AuthorizationQueryParametersError', /from 1 on/],
    [withQuery({ 'X-Amz-Expires': null }), 'AuthorizationQueryParametersError', /no X-Amz-Expires/],
    [withQuery({}, '&X-Amz-Date=20261126T120001Z'), 'AuthorizationQueryParametersError', /twice/],
    [withQuery({ 'X-Amz-Date': '20261131T250000Z' }), 'AuthorizationQueryParametersError', /no time/],
  ]
  for (const [request, code, message] of refused)
    t.throws(() => readSignedRequest(request), { code, message }, message.source)
  const both = { ...withQuery({}), headers: withHeader({}).headers }
  t.throws(() => readSignedRequest(both), { code: 'InvalidArgument', message: /in one way/ })
  const old = { ...withQuery({}), query: 'AWSAccessKeyId=a&Expires=1&Signature=b' }
  t.throws(() => readSignedRequest(old), { code: 'InvalidRequest', message: /s3v4/ })
})

t.test('time', async (t) => {
  const timeOf = (request: RawRequest, nowMs: number) => () => {
    const signed = readSignedRequest(request)
    if (signed !== null) checkTime(signed, { nowMs, expiresSecondsMax: 3600 })
  }
  const quarter = 15 * 60_000
  for (const sign of [-1, 1]) {
    t.doesNotThrow(timeOf(withHeader({}), NOW + sign * quarter))
    t.throws(timeOf(withHeader({}), NOW + sign * (quarter + 1)), { code: 'RequestTimeTooSkewed' })
  }
  t.doesNotThrow(timeOf(withQuery({}), NOW + 900_000))
  t.throws(timeOf(withQuery({}), NOW + 900_001), { code: 'AccessDenied', message: /expired 900 s after/ })
  t.doesNotThrow(timeOf(withQuery({}), NOW - quarter))
  t.throws(timeOf(withQuery({}), NOW - quarter - 1), { code: 'AccessDenied', message: /not valid yet/ })
  t.throws(timeOf(withQuery({ 'X-Amz-Expires': '3601' }), NOW), {
    code: 'AuthorizationQueryParametersError',
    message: /at most 3600/,
  })
})

t.test('an unknown kind of payload', async (t) => {
  const payloadOf = (payload: string) => () =>
    payloadProof({ ...readSignedRequest(withHeader({})), payload } as NonNullable<
      ReturnType<typeof readSignedRequest>
    >)
  for (const payload of ['', 'constructor', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'F'.repeat(64)])
    t.throws(payloadOf(payload), { code: 'InvalidArgument' }, payload)
  t.strictSame(payloadOf('STREAMING-UNSIGNED-PAYLOAD-TRAILER')(), {
    kind: 'chunks',
    areSigned: false,
    hasTrailers: true,
  })
})

t.test('trailers', async (t) => {
  const credential = { accessKeyId: 'AKID', date: '20261126', region: 'eu-west-1' }
  const signing = { key: signingKey('secret', credential), credential, timestamp: DATE, first: SIGNATURE }
  const chunk = (previous: string, bytes: string): string =>
    chunkSignature(signing, { kind: 'PAYLOAD', previous, hashes: [sha256Hex(''), sha256Hex(bytes)] })
  const [first, last] = [chunk(SIGNATURE, 'abc'), chunk(chunk(SIGNATURE, 'abc'), '')]
  const trailer = 'x-amz-checksum-crc32c:NLPUkg=='
  const ofTrailers = chunkSignature(signing, {
    kind: 'TRAILER',
    previous: last,
    hashes: [sha256Hex(`${trailer}\n`)],
  })
  const signedBody = (line: string, signature: string): string =>
    `3;chunk-signature=${first}\r\nabc\r\n0;chunk-signature=${last}\r\n${line}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`
  const decode = (text: string, isSigned: boolean, length = 3): ReadonlyMap<string, string> => {
    const chunks = new SignedChunks({ signing: isSigned ? signing : null, hasTrailers: true, length })
    chunks.feed(Buffer.from(text))
    return chunks.end()
  }
  t.strictSame([...decode(signedBody(trailer, ofTrailers), true)], [['x-amz-checksum-crc32c', 'NLPUkg==']])
  t.throws(() => decode(signedBody(trailer.replace('N', 'M'), ofTrailers), true), {
    code: 'SignatureDoesNotMatch',
  })
  t.throws(() => decode(signedBody(trailer, SIGNATURE), true), { code: 'SignatureDoesNotMatch' })

  const unsigned = (lines: string): string => `3\r\nabc\r\n0\r\n${lines}\r\n`
  t.strictSame([...decode(unsigned(`${trailer}\r\n`), false)], [['x-amz-checksum-crc32c', 'NLPUkg==']])
  const refused: readonly (readonly [body: string, message: RegExp])[] = [
    [unsigned(`${trailer}\r\n${trailer}\r\n`), /twice/],
    [unsigned('no trailer\r\n'), /other than a trailer/],
    [unsigned(Array.from({ length: 17 }, (_, n) => `x-${n}:1\r\n`).join('')), /more than 16/],
    [`3;chunk-signature=${first}\r\nabc\r\n0\r\n\r\n`, /has a signature/],
    ['4\r\nabcd\r\n0\r\n\r\n', /longer than x-amz-decoded-content-length/],
    ['2\r\nab\r\n0\r\n\r\n', /has 2 bytes/],
    ['3\r\nabcd\r\n0\r\n\r\n', /longer than its size/],
    ['-3\r\nabc\r\n', /begin with its size/],
    ['fffffffffffffffff\r\n', /begin with its size/],
    ['3'.repeat(600), /more than 512/],
  ]
  for (const [body, message] of refused)
    t.throws(() => decode(body, false), { code: 'IncompleteBody', message }, message.source)
})
