/**
 * Signature version 4 against the examples that AWS publishes for S3: headers, query, signed chunks.
 * [AWS S3 API reference, sigv4-header-based-auth, sigv4-query-string-auth and sigv4-streaming]
 */
import t from 'tap'
import { type RawRequest, readSignedRequest } from '../../../src/access/signature-v4/signed-request.ts'
import { SignedChunks } from '../../../src/access/signature-v4/signed-chunks.ts'
import { signingKey } from '../../../src/access/signature-v4/signing-key.ts'
import { checkSignature, payloadProof, signingOf } from '../../../src/access/signature-v4/verify-signature.ts'

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const HOST = 'examplebucket.s3.amazonaws.com'
const CREDENTIAL = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'

interface Example {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  readonly headers: Readonly<Record<string, string>>
  readonly signature: string
}

function requestOf({ method = 'GET', path = '/', query = '', headers, signature }: Example): RawRequest {
  const names = Object.keys(headers).toSorted().join(';')
  const authorization = `AWS4-HMAC-SHA256 Credential=${CREDENTIAL},SignedHeaders=${names},Signature=${signature}`
  return { method, path, query, headers: [...Object.entries(headers), ['authorization', authorization]] }
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'GET Object': {
    path: '/test.txt',
    headers: {
      host: HOST,
      range: 'bytes=0-9',
      'x-amz-content-sha256': EMPTY,
      'x-amz-date': '20130524T000000Z',
    },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  'PUT Object': {
    method: 'PUT',
    path: '/test$file.text',
    headers: {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      host: HOST,
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      'x-amz-date': '20130524T000000Z',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    },
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  'GET Bucket Lifecycle': {
    query: 'lifecycle',
    headers: { host: HOST, 'x-amz-content-sha256': EMPTY, 'x-amz-date': '20130524T000000Z' },
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  'GET Bucket (List Objects)': {
    query: 'max-keys=2&prefix=J',
    headers: { host: HOST, 'x-amz-content-sha256': EMPTY, 'x-amz-date': '20130524T000000Z' },
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
}

const keyOf = (request: RawRequest): [NonNullable<ReturnType<typeof readSignedRequest>>, Buffer] => {
  const signed = readSignedRequest(request)
  if (signed === null) throw new Error('The request is not signed')
  return [signed, signingKey(SECRET, signed.credential)]
}

for (const [name, example] of Object.entries(EXAMPLES))
  t.test(name, async (t) => {
    t.doesNotThrow(() => checkSignature(...keyOf(requestOf(example))))
    const changes: readonly Partial<Example>[] = [
      { method: 'POST' },
      { path: '/other' },
      { query: 'acl' },
      { headers: { ...example.headers, host: 'other.example' } },
      { headers: { ...example.headers, 'x-amz-date': '20130524T000001Z' } },
      { signature: example.signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    ]
    for (const change of changes) {
      const changed = keyOf(requestOf({ ...example, ...change }))
      t.throws(
        () => checkSignature(...changed),
        { code: 'SignatureDoesNotMatch' },
        Object.keys(change).join(),
      )
    }
    const [signed] = keyOf(requestOf(example))
    const otherKey = signingKey(`${SECRET}x`, signed.credential)
    t.throws(() => checkSignature(signed, otherKey), { code: 'SignatureDoesNotMatch' }, 'another secret')
  })

t.test('a presigned URL', async (t) => {
  const query = (signature: string): string =>
    [
      'X-Amz-Algorithm=AWS4-HMAC-SHA256',
      `X-Amz-Credential=${encodeURIComponent(CREDENTIAL)}`,
      'X-Amz-Date=20130524T000000Z',
      'X-Amz-Expires=86400',
      'X-Amz-SignedHeaders=host',
      `X-Amz-Signature=${signature}`,
    ].join('&')
  const presigned = (signature: string): RawRequest => ({
    method: 'GET',
    path: '/test.txt',
    query: query(signature),
    headers: [['host', HOST]],
  })
  const right = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
  const [signed, key] = keyOf(presigned(right))
  t.doesNotThrow(() => checkSignature(signed, key))
  t.match(signed, { expiresSeconds: 86_400, payload: 'UNSIGNED-PAYLOAD' })
  t.throws(() => checkSignature(...keyOf(presigned(right.replace('a', 'b')))), {
    code: 'SignatureDoesNotMatch',
  })
})

t.test('a body in signed chunks', async (t) => {
  const request = requestOf({
    method: 'PUT',
    path: '/examplebucket/chunkObject.txt',
    headers: {
      'content-encoding': 'aws-chunked',
      'content-length': '66824',
      host: 's3.amazonaws.com',
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'x-amz-date': '20130524T000000Z',
      'x-amz-decoded-content-length': '66560',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    },
    signature: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  })
  const [signed, key] = keyOf(request)
  t.doesNotThrow(() => checkSignature(signed, key))
  t.strictSame(payloadProof(signed), { kind: 'chunks', areSigned: true, hasTrailers: false })
  const body = Buffer.from(
    `10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n${'a'.repeat(65_536)}\r\n` +
      `400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n${'a'.repeat(1024)}\r\n` +
      '0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n',
  )
  const signing = { ...signingOf(signed, key), first: signed.signature }
  const decoder = (): SignedChunks => new SignedChunks({ signing, hasTrailers: false, length: 66_560 })
  const decode = (bytes: Buffer, pieceBytes: number): number => {
    const chunks = decoder()
    let plain = 0
    for (let at = 0; at < bytes.length; at += pieceBytes)
      for (const part of chunks.feed(bytes.subarray(at, at + pieceBytes))) plain += part.length
    chunks.end()
    return plain
  }
  for (const pieceBytes of [body.length, 7, 1000, 65_537])
    t.equal(decode(body, pieceBytes), 66_560, `in pieces of ${pieceBytes} bytes`)

  const changed = (at: number): Buffer => {
    const other = Buffer.from(body)
    other[at] = 0x62
    return other
  }
  const firstChunk = body.indexOf('\r\n') + 2
  t.throws(() => decode(changed(firstChunk + 9), 4096), { code: 'SignatureDoesNotMatch' }, 'another byte')
  t.throws(() => decode(changed(body.lastIndexOf('b6c6') + 2), 4096), { code: 'SignatureDoesNotMatch' })
  t.throws(() => decode(body.subarray(0, -2), 4096), { code: 'IncompleteBody' }, 'without its end')
  t.throws(
    () => decode(body.subarray(0, 7_000), 4096),
    { code: 'IncompleteBody' },
    'in the middle of a chunk',
  )
  t.throws(
    () => decode(Buffer.concat([body, Buffer.from('0')]), 4096),
    { code: 'IncompleteBody' },
    'and more',
  )
})
