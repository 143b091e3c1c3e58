/**
 * Errors of the S3 API: each problem code has one of S3's, what was not found is named, and the document gives nothing away.
 */
import t from 'tap'
import { Condition } from '../../../cluster/index.ts'
import { SignatureFault } from '../../../src/access/signature-v4/signature-fault.ts'
import { type Missing, Refusal } from '../../../src/base/refusal.ts'
import { STATUS_OF } from '../../../src/api/problem.ts'
import { FormFault } from '../../../src/api/s3/form/form-fault.ts'
import { S3_CODES, type S3Code } from '../../../src/api/s3/base/s3-codes.ts'
import { errorDocument, s3ErrorOf, type S3ErrorContext, S3Fault } from '../../../src/api/s3/base/s3-errors.ts'
import { MalformedXmlError, readXml } from '../../../src/api/s3/xml/read-xml.ts'
import { REFUSAL_CODES } from '../../../src/state-machine/base/codes.ts'
import { inPieces } from './xml/xml-pieces.ts'

const CONTEXT: S3ErrorContext = {
  requestId: '0199',
  hostId: 'n1',
  resource: '/photos/a%20b',
  bucket: 'photos',
  key: 'a b',
}
const BOUNDS = { bytesMax: 64 * 1024, elementsMax: 50, depthMax: 5 }

const documentOf = async (error: unknown, context = CONTEXT) => {
  const root = await readXml(inPieces(errorDocument(s3ErrorOf(error, context), context)), BOUNDS)
  return Object.fromEntries(root.children.map(({ name, text }) => [name, text]))
}

t.test('s3ErrorOf', async (t) => {
  const decided: Readonly<Record<string, readonly [S3Code, number]>> = {
    quota_exceeded: ['QuotaExceeded', 403],
    object_locked: ['AccessDenied', 403],
    access_denied: ['AccessDenied', 403],
    key_revoked: ['AccessDenied', 403],
    tenant_disabled: ['AccessDenied', 403],
    rate_limited: ['SlowDown', 503],
    precondition_failed: ['PreconditionFailed', 412],
    range_not_satisfiable: ['InvalidRange', 416],
    checksum_mismatch: ['BadDigest', 400],
    checksum_malformed: ['InvalidDigest', 400],
    bucket_already_exists: ['BucketAlreadyOwnedByYou', 409],
    bucket_not_empty: ['BucketNotEmpty', 409],
    invalid_bucket_state: ['InvalidBucketState', 409],
    entity_too_large: ['EntityTooLarge', 400],
    entity_too_small: ['EntityTooSmall', 400],
    length_required: ['MissingContentLength', 411],
    request_timeout: ['RequestTimeout', 400],
    method_not_allowed: ['MethodNotAllowed', 405],
    invalid_bucket_name: ['InvalidBucketName', 400],
    invalid_tag: ['InvalidTag', 400],
    invalid_part: ['InvalidPart', 400],
    invalid_part_order: ['InvalidPartOrder', 400],
    too_many_keys: ['MalformedXML', 400],
    not_implemented: ['NotImplemented', 501],
  }
  for (const code of REFUSAL_CODES)
    t.test(`gives ${code} a code of S3 [errors.${code}]`, async (t) => {
      const found = s3ErrorOf(new Refusal(code, 'No'), CONTEXT)
      t.match(found, { message: 'No', problem: code, status: S3_CODES[found.code].status })
      const expected = decided[code]
      if (expected !== undefined) t.same([found.code, found.status], expected)
      const isRetried = found.status >= 500
      t.equal(isRetried, STATUS_OF[code] >= 500 && code !== 'quota_exceeded' ? true : code === 'rate_limited')
    })

  t.test('names what was not found', async (t) => {
    const codes: Readonly<Record<Missing, S3Code>> = {
      bucket: 'NoSuchBucket',
      key: 'NoSuchKey',
      version: 'NoSuchVersion',
      upload: 'NoSuchUpload',
      corsRules: 'NoSuchCORSConfiguration',
      lifecycleRules: 'NoSuchLifecycleConfiguration',
      replication: 'ReplicationConfigurationNotFoundError',
      bucketPolicy: 'NoSuchBucketPolicy',
      bucketTags: 'NoSuchTagSet',
      retention: 'NoSuchObjectLockConfiguration',
      objectLock: 'InvalidRequest',
    }
    for (const [missing, code] of Object.entries(codes) as [Missing, S3Code][]) {
      const found = s3ErrorOf(new Refusal('not_found', 'No', { missing }), CONTEXT)
      t.match(found, { code, status: missing === 'objectLock' ? 400 : 404 })
    }
  })

  t.test('concludes it from the request where a refusal does not say it', async (t) => {
    const refusal = new Refusal('not_found', 'No')
    const { bucket = '', key = '', ...other } = CONTEXT
    t.equal(s3ErrorOf(refusal, { ...other, bucket }).code, 'NoSuchBucket')
    t.equal(s3ErrorOf(refusal, { ...other, bucket, key }).code, 'NoSuchKey')
    t.equal(s3ErrorOf(refusal, { ...other, bucket, key, versionId: 'v' }).code, 'NoSuchVersion')
    t.equal(s3ErrorOf(refusal, { ...other, bucket, key, uploadId: 'u' }).code, 'NoSuchUpload')
  })

  t.test('says what clients look at', async (t) => {
    const missing = (of: Missing) => new Refusal('not_found', 'No', { missing: of })
    t.match(await documentOf(missing('key')), { Key: 'a b' })
    t.match(await documentOf(missing('bucket')), { BucketName: 'photos' })
    t.match(await documentOf(missing('version'), { ...CONTEXT, versionId: 'v1' }), { VersionId: 'v1' })
    t.match(await documentOf(missing('upload'), { ...CONTEXT, uploadId: 'u1' }), { UploadId: 'u1' })
    const range = new Refusal('range_not_satisfiable', 'No', { headers: { 'content-range': 'bytes */7' } })
    t.match(await documentOf(range), { ActualObjectSize: '7' })
    const details = { algorithm: 'MD5', claimed: 'one', computed: 'other' }
    const digest = new Refusal('checksum_mismatch', 'No', { details })
    t.match(await documentOf(digest), { ExpectedDigest: 'one', CalculatedDigest: 'other' })
  })

  t.test('tells a key that is too long from one that is none', async (t) => {
    const refusal = new Refusal('invalid_key', 'No')
    t.equal(s3ErrorOf(refusal, { ...CONTEXT, key: 'é'.repeat(513) }).code, 'KeyTooLongError')
    t.equal(s3ErrorOf(refusal, { ...CONTEXT, key: 'a'.repeat(1024) }).code, 'InvalidURI')
  })

  t.test('lets a route say it differently', async (t) => {
    const codes = { invalid_request: 'MalformedPolicy' } as const
    t.match(s3ErrorOf(new Refusal('invalid_request', 'No'), { ...CONTEXT, codes }), {
      code: 'MalformedPolicy',
      status: 400,
    })
    t.equal(s3ErrorOf(new Refusal('access_denied', 'No'), { ...CONTEXT, codes }).code, 'AccessDenied')
  })

  t.test('translates headers, and gives none of the native API', async (t) => {
    const headers = {
      'x-service-delete-marker': 'true',
      'x-service-version-id': 'v1',
      'x-service-other': '1',
      allow: 'DELETE',
    }
    t.same(s3ErrorOf(new Refusal('method_not_allowed', 'No', { headers }), CONTEXT).headers, {
      'x-amz-delete-marker': 'true',
      'x-amz-version-id': 'v1',
      allow: 'DELETE',
    })
    const limited = s3ErrorOf(new Refusal('rate_limited', 'No', { retryAfterSeconds: 1.2 }), CONTEXT)
    t.same(limited.headers, { 'retry-after': '2' })
  })

  t.test('asks to come again while the cluster cannot serve', async (t) => {
    t.match(s3ErrorOf(new Condition('no_leader', 'No', { retryAfterMs: 1500 }), CONTEXT), {
      code: 'ServiceUnavailable',
      status: 503,
      problem: 'no_leader',
      headers: { 'retry-after': '2' },
    })
    const slow = s3ErrorOf(new Condition('slow_down', 'No', { retryAfterMs: 1 }), CONTEXT)
    t.match(slow, { code: 'SlowDown', headers: { 'retry-after': '1' } })
  })

  t.test('passes on what S3 alone refuses, and XML and forms that are none', async (t) => {
    const fault = new S3Fault('InvalidArgument', 'No', {
      headers: { allow: 'GET' },
      elements: { ArgumentName: 'max-keys' },
      cause: new RangeError('why'),
    })
    t.match(s3ErrorOf(fault, CONTEXT), {
      status: 400,
      problem: 'invalid_argument',
      headers: { allow: 'GET' },
    })
    t.match(fault.cause, { message: 'why' })
    t.match(await documentOf(fault), { Code: 'InvalidArgument', ArgumentName: 'max-keys' })
    t.match(s3ErrorOf(new MalformedXmlError('No'), CONTEXT), { code: 'MalformedXML', status: 400 })
    const form = new FormFault('InvalidPolicyDocument', 'No')
    t.match(s3ErrorOf(form, CONTEXT), { code: 'InvalidPolicyDocument', status: 400 })
  })

  t.test('shows the canonical request of a wrong signature', async (t) => {
    const fault = new SignatureFault('SignatureDoesNotMatch', 'No', {
      accessKeyId: 'AK',
      stringToSign: 'AWS4-HMAC-SHA256\n',
      signature: 'abc',
      canonicalRequest: Buffer.from('GET\n/é\n').toString('latin1'),
    })
    t.match(s3ErrorOf(fault, CONTEXT), { status: 403, code: 'SignatureDoesNotMatch' })
    t.match(await documentOf(fault), {
      AWSAccessKeyId: 'AK',
      StringToSign: 'AWS4-HMAC-SHA256\n',
      SignatureProvided: 'abc',
      CanonicalRequest: 'GET\n/é\n',
    })
    t.notOk('CanonicalRequest' in (await documentOf(new SignatureFault('AccessDenied', 'No'))))
  })

  t.test('says nothing of an error that no code expected', async (t) => {
    const found = s3ErrorOf(new TypeError('secret of the inside'), CONTEXT)
    t.match(found, { code: 'InternalError', status: 500, problem: 'internal_error', message: /0199/ })
    t.notMatch(errorDocument(found, CONTEXT).toString(), 'inside')
  })
})

t.test('errorDocument', async (t) => {
  t.test('has the form of S3', async (t) => {
    const document = errorDocument(s3ErrorOf(new S3Fault('AccessDenied', 'No'), CONTEXT), CONTEXT)
    t.equal(
      document.toString(),
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>No</Message>' +
        '<Resource>/photos/a%20b</Resource><RequestId>0199</RequestId><HostId>n1</HostId></Error>',
    )
  })

  t.test('is XML whatever the key is', async (t) => {
    const context = { ...CONTEXT, key: 'a\u0001<&\ud800' }
    const missing = new Refusal('not_found', `Object "${context.key}" does not exist`, { missing: 'key' })
    t.match(await documentOf(missing, context), { Key: 'a\ufffd<&\ufffd' })
  })
})
