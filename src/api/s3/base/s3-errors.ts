/**
 * Every error of the S3 API: the only table of S3's codes, and which of them a refusal of the operations is. [AWS S3 API reference: Error responses]
 *
 * Owns: codes, statuses, the document. Knows nothing of: routes. Rules: a problem code without an S3 code does not compile; what is no expected error is
 * reported to the log with the request id, and to the client as `InternalError` without a word about the inside.
 */
import { REPLICA_HEADER } from '../../../state-machine/sites/mark.ts'
import { Condition } from '../../../../cluster/index.ts'
import { SignatureFault } from '../../../access/signature-v4/signature-fault.ts'
import { type Missing, Refusal } from '../../../base/refusal.ts'
import type { ProblemCode } from '../../problem.ts'
import { FormFault } from '../form/form-fault.ts'
import { S3_CODES, type S3Code } from './s3-codes.ts'
import { MalformedXmlError } from '../xml/read-xml.ts'
import { element, xmlDocument, xmlSafe } from '../xml/write-xml.ts'

interface S3FaultExtras {
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further elements of the document, such as `ArgumentName`: name -> text. */
  readonly elements?: Readonly<Record<string, string>>
}

/** What S3 alone refuses: operations throw Refusals. The message is one sentence without full stop; never a secret. */
export class S3Fault extends Error {
  readonly code: S3Code
  readonly extras: S3FaultExtras

  constructor(code: S3Code, message: string, extras: S3FaultExtras & ErrorOptions = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'S3Fault'
    this.code = code
    this.extras = extras
  }
}

export interface S3ErrorContext {
  readonly requestId: string
  /** `x-amz-id-2`. */
  readonly hostId: string
  /** The path of the request as it was sent, without its query, which may hold a signature. */
  readonly resource: string
  /** Absent: the request names none. */
  readonly bucket?: string
  readonly key?: string
  readonly versionId?: string
  readonly uploadId?: string
  /** Where a route says it differently: bodies that are policies are a `MalformedPolicy`. */
  readonly codes?: Partial<Record<ProblemCode, S3Code>>
}

export interface S3Error {
  readonly status: number
  readonly code: S3Code
  /** The same for the audit log and the figures, which know no API. */
  readonly problem: ProblemCode
  readonly message: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Further elements of the document: name -> text. */
  readonly elements: Readonly<Record<string, string>>
}

/** What S3 calls the refusals of the operations. Those of the admin API never come here. */
const CODE_OF = {
  invalid_request: 'InvalidRequest',
  invalid_json: 'InvalidRequest',
  invalid_bucket_name: 'InvalidBucketName',
  invalid_key: 'InvalidURI',
  invalid_argument: 'InvalidArgument',
  invalid_continuation_token: 'InvalidArgument',
  invalid_tag: 'InvalidTag',
  invalid_part: 'InvalidPart',
  invalid_part_order: 'InvalidPartOrder',
  entity_too_small: 'EntityTooSmall',
  too_many_keys: 'MalformedXML',
  checksum_required: 'InvalidRequest',
  checksum_malformed: 'InvalidDigest',
  checksum_unsupported: 'InvalidRequest',
  checksum_mismatch: 'BadDigest',
  invalid_event_type: 'InvalidArgument',
  object_lock_not_enabled: 'InvalidRequest',
  reason_required: 'InvalidRequest',
  confirm_mismatch: 'InvalidRequest',
  unauthorized: 'AccessDenied',
  invalid_credentials: 'InvalidAccessKeyId',
  token_invalid: 'InvalidAccessKeyId',
  token_expired: 'ExpiredToken',
  key_revoked: 'AccessDenied',
  tenant_disabled: 'AccessDenied',
  invalid_signed_url: 'AccessDenied',
  signed_url_expired: 'AccessDenied',
  access_denied: 'AccessDenied',
  object_locked: 'AccessDenied',
  signed_url_mismatch: 'AccessDenied',
  tenant_scope_denied: 'AccessDenied',
  not_found: 'NoSuchKey',
  method_not_allowed: 'MethodNotAllowed',
  request_timeout: 'RequestTimeout',
  bucket_already_exists: 'BucketAlreadyOwnedByYou',
  bucket_not_empty: 'BucketNotEmpty',
  invalid_bucket_state: 'InvalidBucketState',
  idempotency_conflict: 'IdempotencyParameterMismatch',
  idempotency_in_progress: 'OperationAborted',
  already_exists: 'OperationAborted',
  membership_change_in_progress: 'OperationAborted',
  stale_config_index: 'OperationAborted',
  member_exists: 'OperationAborted',
  address_in_use: 'OperationAborted',
  member_tombstoned: 'OperationAborted',
  foreign_cluster: 'OperationAborted',
  data_not_empty: 'OperationAborted',
  length_required: 'MissingContentLength',
  precondition_failed: 'PreconditionFailed',
  entity_too_large: 'EntityTooLarge',
  unsupported_media_type: 'InvalidRequest',
  range_not_satisfiable: 'InvalidRange',
  target_refused: 'InvalidRequest',
  rate_limited: 'SlowDown',
  internal_error: 'InternalError',
  unsupported_target: 'NotImplemented',
  not_implemented: 'NotImplemented',
  no_leader: 'ServiceUnavailable',
  no_quorum: 'ServiceUnavailable',
  leader_not_ready: 'ServiceUnavailable',
  commit_unknown: 'ServiceUnavailable',
  not_enough_replicas: 'ServiceUnavailable',
  slow_down: 'SlowDown',
  disk_full: 'ServiceUnavailable',
  shutting_down: 'ServiceUnavailable',
  quota_exceeded: 'QuotaExceeded',
  insufficient_storage: 'InsufficientStorage',
} as const satisfies Record<ProblemCode, S3Code>

const CODE_OF_MISSING = {
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
} as const satisfies Record<Missing, S3Code>

const KEY_BYTES_MAX = 1024

/** What headers of the native API are here; its others say nothing to clients of S3. */
const HEADERS: Readonly<Record<string, string>> = {
  'x-service-delete-marker': 'x-amz-delete-marker',
  'x-service-version-id': 'x-amz-version-id',
  'x-service-deleted-at': 'last-modified',
  'x-service-replica-of': REPLICA_HEADER,
}
const OF_NATIVE_API = /^x-service-/

/** Of one item among several; a refusal of a whole request says more of what is missing. */
export const s3CodeOf = (code: ProblemCode): S3Code => CODE_OF[code]

export function s3ErrorOf(error: unknown, context: S3ErrorContext): S3Error {
  if (error instanceof S3Fault) return s3Error(error.code, error.message, error.extras)
  if (error instanceof FormFault) return s3Error(error.code, error.message)
  if (error instanceof MalformedXmlError) return s3Error('MalformedXML', error.message)
  if (error instanceof SignatureFault) return s3Error(error.code, error.message, signed(error))
  if (error instanceof Refusal) return refused(error, context)
  if (error instanceof Condition) {
    const retry = { 'retry-after': `${Math.max(1, Math.ceil(error.retryAfterMs / 1000))}` }
    return { ...s3Error(CODE_OF[error.code], error.message, { headers: retry }), problem: error.code }
  }
  const message = `The request could not be served because of an internal error; quote request id ${context.requestId} when you report it`
  return s3Error('InternalError', message)
}

/** UTF-8. Without a namespace, as S3 has it. */
export function errorDocument({ code, message, elements }: S3Error, context: S3ErrorContext): Buffer {
  const { hostId, requestId, resource } = context
  const texts = Object.entries({
    Code: code,
    Message: message,
    ...elements,
    Resource: resource,
    RequestId: requestId,
    HostId: hostId,
  })
  return xmlDocument(element('Error', ...texts.map(([name, text]) => element(name, xmlSafe(text)))), null)
}

function s3Error(
  code: S3Code,
  message: string,
  { headers = {}, elements = {} }: S3FaultExtras = {},
): S3Error {
  return { ...S3_CODES[code], code, message, headers, elements }
}

function refused(refusal: Refusal, context: S3ErrorContext): S3Error {
  const { extras, message } = refusal
  const code = codeOf(refusal, context)
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(extras.headers ?? {})) {
    const own = HEADERS[name] ?? name
    if (!OF_NATIVE_API.test(own)) headers.set(own, value)
  }
  const { retryAfterSeconds } = extras
  if (retryAfterSeconds !== undefined) headers.set('retry-after', `${Math.ceil(retryAfterSeconds)}`)
  const elements = elementsOf(code, extras, context)
  const found = s3Error(code, message, { headers: Object.fromEntries(headers), elements })
  return { ...found, problem: refusal.code }
}

function codeOf({ code, extras }: Refusal, context: S3ErrorContext): S3Code {
  const own = context.codes?.[code]
  if (own !== undefined) return own
  // Of If-Match on a key without an object. [S3 PutObject]
  if (code === 'precondition_failed' && extras.missing === 'key') return 'NoSuchKey'
  if (code === 'not_found') return CODE_OF_MISSING[extras.missing ?? askedFor(context)]
  if (code === 'invalid_key' && Buffer.byteLength(context.key ?? '') > KEY_BYTES_MAX) return 'KeyTooLongError'
  return CODE_OF[code]
}

/** Where a refusal does not say what is missing. */
function askedFor({ key, uploadId, versionId }: S3ErrorContext): Missing {
  if (key === undefined) return 'bucket'
  if (uploadId !== undefined) return 'upload'
  return versionId === undefined ? 'key' : 'version'
}

/** What S3 says beside the message, of that which clients look at. */
function elementsOf(
  code: S3Code,
  { details = {}, headers = {} }: Refusal['extras'],
  { bucket = '', key = '', uploadId = '', versionId = '' }: S3ErrorContext,
): Readonly<Record<string, string>> {
  switch (code) {
    case 'NoSuchBucket':
    case 'BucketAlreadyOwnedByYou':
    case 'BucketNotEmpty':
      return { BucketName: bucket }
    case 'NoSuchKey':
      return { Key: key }
    case 'NoSuchVersion':
      return { Key: key, VersionId: versionId }
    case 'NoSuchUpload':
      return { UploadId: uploadId }
    case 'InvalidRange':
      return { ActualObjectSize: headers['content-range']?.split('/')[1] ?? '' }
    case 'BadDigest': {
      const { claimed, computed } = details
      if (typeof claimed !== 'string' || typeof computed !== 'string') return {}
      return { ExpectedDigest: claimed, CalculatedDigest: computed }
    }
    default:
      return {}
  }
}

/** Never the secret, nor the signature that would have been right. */
function signed({ compared }: SignatureFault): S3FaultExtras {
  if (compared === null) return {}
  const { accessKeyId, canonicalRequest, signature, stringToSign } = compared
  const elements = {
    AWSAccessKeyId: accessKeyId,
    StringToSign: stringToSign,
    SignatureProvided: signature,
    CanonicalRequest: Buffer.from(canonicalRequest, 'latin1').toString(),
  }
  return { elements }
}
