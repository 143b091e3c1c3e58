/**
 * What the documents say that the server refuses, it refuses: the violation of each kind of fact is sent. The document itself is asked whether
 * it forbids the request, by a validator of JSON Schema that is not the one of the server.
 */
import t from 'tap'
import { documentOf } from './example-story.ts'
import { BucketClient } from './bucket-client.ts'

type Case = readonly [operation: string, method: string, path: string, body: object, code: string]

const BUCKET = '/api/v1/buckets/films'
const RULE = { allowedOrigins: ['*'], allowedMethods: ['GET'] }
const EXPIRES = { status: 'Enabled', expiration: { days: 1 } }
const LIFECYCLE_RULES = [
  { ...EXPIRES, status: 'On' },
  { ...EXPIRES, id: '' },
  { ...EXPIRES, expiration: { days: 0 } },
  { ...EXPIRES, expiration: { days: 36_501 } },
  { ...EXPIRES, expiration: { date: 'tomorrow' } },
  { ...EXPIRES, filter: { prefix: 'a'.repeat(1025) } },
  { ...EXPIRES, filter: { prefix: '\u0000' } },
  { ...EXPIRES, filter: { sizeGreaterThan: -1 } },
  { ...EXPIRES, noncurrentVersionExpiration: { noncurrentDays: 0 } },
  { ...EXPIRES, noncurrentVersionExpiration: { noncurrentDays: 1, newerNoncurrentVersions: 0 } },
  { ...EXPIRES, noncurrentVersionExpiration: { noncurrentDays: 1, newerNoncurrentVersions: 101 } },
  { ...EXPIRES, abortIncompleteMultipartUpload: { daysAfterInitiation: 0 } },
]
const HOOK = { url: 'https://hooks.example/x', events: ['object-created'] }
const LINK = { method: 'GET', bucket: 'films' }
const COPY = { sourceBucket: 'films', sourceKey: 'k' }

const FORBIDDEN: readonly Case[] = [
  ['batchDeleteObjects', 'POST', `${BUCKET}/objects:batchDelete`, { objects: [] }, 'too_many_keys'],
  [
    'batchDeleteObjects',
    'POST',
    `${BUCKET}/objects:batchDelete`,
    { objects: Array(1001).fill({ key: 'k' }) },
    'too_many_keys',
  ],
  ['createBucket', 'POST', '/api/v1/buckets', { name: 'A' }, 'invalid_bucket_name'],
  ['createBucket', 'POST', '/api/v1/buckets', { name: 'good', versioning: 'On' }, 'invalid_request'],
  ['setBucketVersioning', 'PUT', `${BUCKET}/versioning`, { status: 'On' }, 'invalid_request'],
  [
    'setBucketObjectLock',
    'PUT',
    `${BUCKET}/object-lock`,
    { defaultRetention: { mode: 'GOVERNANCE', days: 0 } },
    'invalid_request',
  ],
  [
    'setBucketObjectLock',
    'PUT',
    `${BUCKET}/object-lock`,
    { defaultRetention: { mode: 'GOVERNANCE' } },
    'invalid_request',
  ],
  [
    'setBucketObjectLock',
    'PUT',
    `${BUCKET}/object-lock`,
    { defaultRetention: { mode: 'GOVERNANCE', days: 1, years: 1 } },
    'invalid_request',
  ],
  ['setBucketCORS', 'PUT', `${BUCKET}/cors`, { rules: [] }, 'invalid_request'],
  ['setBucketCORS', 'PUT', `${BUCKET}/cors`, { rules: [{ ...RULE, allowedOrigins: [] }] }, 'invalid_request'],
  [
    'setBucketCORS',
    'PUT',
    `${BUCKET}/cors`,
    { rules: [{ ...RULE, allowedMethods: ['PATCH'] }] },
    'invalid_request',
  ],
  ['setBucketCORS', 'PUT', `${BUCKET}/cors`, { rules: [{ ...RULE, maxAgeSeconds: -1 }] }, 'invalid_request'],
  ['setBucketCORS', 'PUT', `${BUCKET}/cors`, { rules: [{ ...RULE, id: '' }] }, 'invalid_request'],
  [
    'setBucketCORS',
    'PUT',
    `${BUCKET}/cors`,
    { rules: [{ ...RULE, exposeHeaders: ['a b'] }] },
    'invalid_request',
  ],
  ...LIFECYCLE_RULES.map(
    (rule) =>
      ['setBucketLifecycle', 'PUT', `${BUCKET}/lifecycle`, { rules: [rule] }, 'invalid_argument'] as const,
  ),
  ['setBucketLifecycle', 'PUT', `${BUCKET}/lifecycle`, { rules: [] }, 'invalid_request'],
  [
    'previewBucketLifecycle',
    'POST',
    `${BUCKET}/lifecycle/preview`,
    { rules: [{ status: 'On', expiration: { days: 1 } }] },
    'invalid_argument',
  ],
  [
    'setBucketNotifications',
    'PUT',
    `${BUCKET}/notifications`,
    { configs: [{ ...HOOK, events: [] }] },
    'invalid_event_type',
  ],
  [
    'setBucketNotifications',
    'PUT',
    `${BUCKET}/notifications`,
    { configs: [{ ...HOOK, events: ['x'] }] },
    'invalid_event_type',
  ],
  [
    'setBucketNotifications',
    'PUT',
    `${BUCKET}/notifications`,
    { configs: [{ ...HOOK, payloadFormat: 'x' }] },
    'invalid_request',
  ],
  ['setObjectTags', 'PUT', `${BUCKET}/object-tags/k`, { tags: { '': 'x' } }, 'invalid_tag'],
  [
    'setObjectRetention',
    'PUT',
    `${BUCKET}/object-retention/k`,
    { mode: 'GOVERNANCE', retainUntil: 'soon' },
    'invalid_request',
  ],
  ['signURL', 'POST', '/api/v1/sign-url', LINK, 'invalid_request'],
  ['signURL', 'POST', '/api/v1/sign-url', { ...LINK, keyPrefix: 'a' }, 'invalid_request'],
  [
    'signURL',
    'POST',
    '/api/v1/sign-url',
    { ...LINK, method: 'PUT', key: 'a', keyPrefix: 'a' },
    'invalid_request',
  ],
  ['signURL', 'POST', '/api/v1/sign-url', { ...LINK, key: 'a', contentType: 'a/b' }, 'invalid_request'],
  [
    'signURL',
    'POST',
    '/api/v1/sign-url',
    { ...LINK, method: 'PUT', key: 'a', checksumAlg: 'SHA256' },
    'invalid_request',
  ],
  [
    'signURL',
    'POST',
    '/api/v1/sign-url',
    { ...LINK, method: 'PUT', key: 'a', checksumAlg: 'SHA1', checksumVal: 'AAAA' },
    'checksum_malformed',
  ],
  ['signURL', 'POST', '/api/v1/sign-url', { ...LINK, key: 'a', reason: '' }, 'invalid_request'],
  [
    'copyObject',
    'POST',
    `${BUCKET}/object-copy/b`,
    { ...COPY, metadataDirective: 'MOVE' },
    'invalid_request',
  ],
  ['copyObject', 'POST', `${BUCKET}/object-copy/b`, { ...COPY, ifMatch: '' }, 'invalid_argument'],
  ['copyObject', 'POST', `${BUCKET}/object-copy/b`, { ...COPY, ifModifiedSince: 'x' }, 'invalid_request'],
  ['createMultipartUpload', 'POST', `${BUCKET}/multipart/k`, { checksumAlg: 'MD5' }, 'checksum_unsupported'],
  ['createMultipartUpload', 'POST', `${BUCKET}/multipart/k`, { contentType: 'ä' }, 'invalid_request'],
]

t.test('what a document forbids is refused', async (t) => {
  const plain = await BucketClient.start(t, { objectLockEnabled: true })
  const films = await plain.asAdmin()
  await films.put('k')
  for (const [operation, method, path, body, code] of FORBIDDEN) {
    const named = `${operation} ${JSON.stringify(body).slice(0, 80)}`
    const document = documentOf(operation)
    const template = document.operation(operation).path
    const place = [
      'paths',
      template,
      method.toLowerCase(),
      'requestBody',
      'content',
      'application/json',
      'schema',
    ]
    t.not(document.check(place, body), null, `${named} is forbidden`)
    t.match(await films.ask({ method, path, body }), { status: 400, code }, named)
  }
})

t.test('what a document forbids in a header of an upload is refused', async (t) => {
  const films = await BucketClient.start(t)
  const { path, parameters = [] } = documentOf('putObject').operation('putObject')
  for (const [header, value, code] of [
    ['X-Service-Tagging', 't%', 'invalid_tag'],
    ['Content-Digest', `sha-256=:${'A'.repeat(43)}=:[`, 'checksum_malformed'],
    ['X-Service-Checksum-CRC32', 'AAAAAB==', 'checksum_malformed'],
  ] as const) {
    const at = parameters.findIndex(({ name }) => name === header)
    const place = ['paths', path, 'put', 'parameters', `${at}`, 'schema']
    t.not(documentOf('putObject').check(place, value), null, `${header}: ${value} is forbidden`)
    t.match(await films.put('k', 'hello', { [header]: value }), { status: 400, code }, `${header}: ${value}`)
  }
})
