/**
 * Signatures that are wrong, garbled, late or in two places: each has the code that S3 gives it, and nothing is stored by it.
 */
import t from 'tap'
import type { Ask } from '../api-world.ts'
import { MANY, PUT, refuses, type Row } from './bad-input.ts'
import { type S3Answer, type S3Ask, S3World } from './s3-world.ts'

const MINUTE_MS = 60_000
const DAY_SECONDS = 86_400

/** A signed upload whose Authorization header is another. */
function authorized(s3: S3World, change: (header: string) => string): Ask {
  const signed = s3.signed(PUT)
  const authorization = change(String(signed.headers?.['authorization']))
  return { ...signed, headers: { ...signed.headers, authorization } }
}

const withHeaders = (ask: Ask, more: Record<string, string | undefined>): Ask => ({
  ...ask,
  headers: { ...ask.headers, ...more },
})

t.test('signatures in the header', async (t) => {
  const s3 = await S3World.start(t, MANY)
  const edited = (name: string, change: (header: string) => string, code: string, status = 400): Row => [
    name,
    () => s3.sent(authorized(s3, change)),
    status,
    code,
  ]
  const malformed = 'AuthorizationHeaderMalformed'
  const wrong = { ...s3.secret, secretKey: 'x'.repeat(40) }
  const signed = () => s3.signed(PUT)
  await refuses(t, s3, [
    ['a wrong secret', () => s3.call({ ...PUT, secret: wrong }), 403, 'SignatureDoesNotMatch'],
    ['another path', () => s3.sent({ ...signed(), path: '/photos/l' }), 403, 'SignatureDoesNotMatch'],
    [
      'another query',
      () => s3.sent({ ...signed(), path: '/photos/k?tagging' }),
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'another host',
      () => s3.sent(withHeaders(signed(), { host: 'evil.example' })),
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'an x-amz- header that is not signed',
      () => s3.sent(withHeaders(signed(), { 'x-amz-meta-a': 'b' })),
      403,
      'AccessDenied',
    ],
    [
      'an ACL that is not signed',
      () => s3.sent(withHeaders(signed(), { 'x-amz-acl': 'private' })),
      403,
      'AccessDenied',
    ],
    [
      '16 minutes late',
      () => s3.call({ ...PUT, at: new Date(s3.world.memory.now - 16 * MINUTE_MS) }),
      403,
      'RequestTimeTooSkewed',
    ],
    [
      '16 minutes early',
      () => s3.call({ ...PUT, at: new Date(s3.world.memory.now + 16 * MINUTE_MS) }),
      403,
      'RequestTimeTooSkewed',
    ],
    ['no time', () => s3.sent(withHeaders(signed(), { 'x-amz-date': undefined })), 403, 'AccessDenied'],
    [
      'a time that is none',
      () => s3.sent(withHeaders(signed(), { 'x-amz-date': 'today' })),
      403,
      'AccessDenied',
    ],
    [
      'no hash of the body',
      () => s3.sent(withHeaders(signed(), { 'x-amz-content-sha256': undefined })),
      400,
      'InvalidRequest',
    ],
    ['a hash that is none', () => s3.call({ ...PUT, payload: 'A'.repeat(64) }), 400, 'InvalidArgument'],
    ['another hash', () => s3.call({ ...PUT, payload: 'a'.repeat(64) }), 400, 'XAmzContentSHA256Mismatch'],
    [
      'a session token',
      () => s3.call({ ...PUT, headers: { 'x-amz-security-token': 'x' } }),
      400,
      'InvalidToken',
    ],
    edited('no credential', (text) => text.replace(/Credential=[^,]+,/, ''), malformed),
    edited('no list of headers', (text) => text.replace(/SignedHeaders=[^,]+,/, ''), malformed),
    edited('no signature', (text) => text.replace(/, Signature=.*/, ''), malformed),
    edited(
      'a signature in capitals',
      (text) => text.replace(/Signature=(.*)/, (all) => all.toUpperCase().replace('SIGNATURE', 'Signature')),
      malformed,
    ),
    edited('a cut signature', (text) => text.slice(0, -1), malformed),
    edited('another service', (text) => text.replace('/s3/', '/ec2/'), malformed),
    edited('another end of the scope', (text) => text.replace('aws4_request', 'aws5_request'), malformed),
    edited('another day', (text) => text.replace(/\/\d{8}\//, '/20200101/'), malformed),
    edited('another region', (text) => text.replace('us-east-1', 'us-east-2'), 'SignatureDoesNotMatch', 403),
    edited('the host not signed', (text) => text.replace('SignedHeaders=host;', 'SignedHeaders='), malformed),
    edited(
      'headers out of order',
      (text) => text.replace('SignedHeaders=host;', 'SignedHeaders=x-a;host;'),
      malformed,
    ),
    edited(
      'a header that is not there',
      (text) => text.replace('SignedHeaders=host;', 'SignedHeaders=host;via;'),
      'SignatureDoesNotMatch',
      403,
    ),
    edited(
      'an access key id that is a path',
      (text) => text.replace(/Credential=[^/]+/, 'Credential=..%2F..'),
      'InvalidAccessKeyId',
      403,
    ),
    edited(
      'an access key id of NULs',
      (text) => text.replace(/Credential=[^/]+/, 'Credential=AK\u00ff'),
      'InvalidAccessKeyId',
      403,
    ),
    edited(
      'an access key id without an end',
      (text) => text.replace(/Credential=[^/]+/, `Credential=${'A'.repeat(5000)}`),
      'InvalidAccessKeyId',
      403,
    ),
    edited('another algorithm', (text) => text.replace('HMAC-SHA256', 'HMAC-SHA1'), 'AccessDenied', 403),
    edited(
      'asymmetric signing',
      (text) => text.replace('AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256'),
      'AccessDenied',
      403,
    ),
  ])
  const shown = await s3.call({ ...PUT, secret: wrong })
  t.match(shown.xml?.textOf('CanonicalRequest'), /^PUT\n\/photos\/k\n\nhost:127\.0\.0\.1:\d+\n/)
  const two = s3.signed(PUT)
  const lines = Object.entries(two.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  const raw = await s3.world.raw(
    `PUT /photos/k HTTP/1.1\r\n${lines.join('')}Authorization: ${String(two.headers?.['authorization'])}\r\nContent-Length: 5\r\n\r\nbytes`,
  )
  t.match(raw, /^HTTP\/1\.1 400 [^]*<Code>InvalidRequest</, 'two Authorization headers')
  t.equal((await s3.call({ path: '/photos/k' })).status, 404)
})

t.test('signatures in the query', async (t) => {
  const s3 = await S3World.start(t, { ...MANY, security: { maxPresignTtlMs: DAY_SECONDS * 1000 } })
  const get = (path: string): Promise<S3Answer> => s3.sent({ path })
  const at = (ms: number): Date => new Date(s3.world.memory.now + ms)
  const link = (more: Partial<S3Ask> = {}, seconds?: number): string =>
    s3.presigned({ path: '/photos/k', ...more }, seconds)
  const malformed = 'AuthorizationQueryParametersError'
  const edited = (name: string, change: (path: string) => string, code = malformed, status = 400): Row => [
    name,
    () => get(change(link())),
    status,
    code,
  ]
  await refuses(t, s3, [
    ['that lasts too long', () => get(link({}, DAY_SECONDS + 1)), 400, malformed],
    ['that ended', () => get(link({ at: at(-16 * MINUTE_MS) }, 900)), 403, 'AccessDenied'],
    ['of the future', () => get(link({ at: at(16 * MINUTE_MS) })), 403, 'AccessDenied'],
    ['that never lasts', () => get(link({}, 0)), 400, malformed],
    ['that lasts less than nothing', () => get(link({}, -1)), 400, malformed],
    ['that lasts for a fraction', () => get(link({}, 1.5)), 400, malformed],
    ['for another method', () => s3.sent({ ...PUT, path: link() }), 403, 'SignatureDoesNotMatch'],
    ['for another key', () => get(link().replace('/k?', '/l?')), 403, 'SignatureDoesNotMatch'],
    [
      'with a header beside it',
      () => s3.sent(withHeaders({ path: link() }, { authorization: 'Bearer x' })),
      400,
      'InvalidArgument',
    ],
    [
      'in the header too',
      () => s3.sent({ ...s3.signed({ path: link() }), path: link() }),
      400,
      'InvalidArgument',
    ],
    [
      'with an x-amz- header that it does not sign',
      () => s3.sent(withHeaders({ path: link() }, { 'x-amz-meta-a': 'b' })),
      403,
      'AccessDenied',
    ],
    [
      'of version 2',
      () => get(`/photos/k?AWSAccessKeyId=${s3.secret.accessKeyId}&Signature=x&Expires=9999999999`),
      400,
      'InvalidRequest',
    ],
    edited('with a parameter more', (path) => `${path}&versionId=null`, 'SignatureDoesNotMatch', 403),
    edited('with its date twice', (path) => `${path}&X-Amz-Date=20200101T000000Z`),
    edited('with its signature twice', (path) => `${path}&X-Amz-Signature=${'0'.repeat(64)}`),
    edited(
      'with its signature twice, spelled otherwise',
      (path) => `${path}&X-Amz%2DSignature=${'0'.repeat(64)}`,
    ),
    edited('with an expiry twice', (path) => `${path}&X-Amz-Expires=1`),
    edited('without an algorithm', (path) => path.replace(/X-Amz-Algorithm=[^&]+&/, '')),
    edited('of another algorithm', (path) => path.replace('HMAC-SHA256', 'HMAC-SHA1')),
    edited('without a signature', (path) => path.replace(/&X-Amz-Signature=.*/, '')),
    edited(
      'of another region',
      (path) => path.replace('us-east-1', 'us-west-1'),
      'SignatureDoesNotMatch',
      403,
    ),
    edited(
      'with a longer life',
      (path) => path.replace('Expires=900', 'Expires=901'),
      'SignatureDoesNotMatch',
      403,
    ),
    edited('of a garbled credential', (path) =>
      path.replace(/X-Amz-Credential=[^&]+/, 'X-Amz-Credential=%00'),
    ),
  ])
})
