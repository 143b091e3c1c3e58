/**
 * What an answer of an S3 store means to a backup. [AWS S3 API reference: Error responses]
 *
 * Owns: which error a code or a status becomes, and what to do about it. Knows nothing of: connections. Rules: codes decide before statuses, because
 * stores differ in their statuses; the text of the store is quoted, bounded and without control characters; no secret is named.
 */
import { type ErrorDocument, s3CodeOf } from '../../s3-client/error-document.ts'
import { TargetCorrupt, type TargetError, TargetMissing, TargetRefused, TargetUnreachable } from './target.ts'

export interface S3Refused {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly document: ErrorDocument
  /** What was asked, such as `PutObject daily/manifest`. */
  readonly action: string
  /** Milliseconds since 1970, by which the request was signed. */
  readonly at: number
  readonly bucket: string
  /** For messages: the target. */
  readonly description: string
}

const TEXT_MAX = 200

/** 507 and 501 are final: a full store does not become empty by asking again. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504]
const PASSING_CODES: readonly string[] = [
  'InternalError',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'Throttling',
  'TooManyRequests',
]
/** The bytes that arrived are not those that were signed. */
const DAMAGED_CODES: readonly string[] = [
  'BadDigest',
  'InvalidDigest',
  'XAmzContentChecksumMismatch',
  'XAmzContentSHA256Mismatch',
]
const FULL_CODES: readonly string[] = [
  'EntityTooLarge',
  'InsufficientStorage',
  'QuotaExceeded',
  'XMinioAdminBucketQuotaExceeded',
  'XMinioStorageFull',
]
const ELSEWHERE_CODES: readonly string[] = ['PermanentRedirect', 'Redirect', 'TemporaryRedirect']

const REFUSED: Readonly<Record<string, string>> = {
  AccessDenied:
    'its key may not do this, or was revoked: it needs s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject',
  AllAccessDisabled: 'its key may not do this',
  AccountProblem: 'its account is not in order',
  AuthorizationHeaderMalformed:
    'it does not accept the region of the signature: set the region of the target',
  ExpiredToken: 'its credentials have expired: set new ones',
  InvalidAccessKeyId: 'it does not know the access key: set the right one',
  InvalidToken: 'it does not accept the session token: set new credentials',
  NoSuchBucket: 'the bucket does not exist: create it at the target, or name another one',
  SignatureDoesNotMatch:
    'it does not accept the signature: the secret is wrong, or a proxy changes the host or the path',
}

/** Whether the same request may succeed a moment later. */
export function isPassing({ status, document }: Pick<S3Refused, 'status' | 'document'>): boolean {
  const code = s3CodeOf(document, status)
  if (PASSING_CODES.includes(code) || DAMAGED_CODES.includes(code)) return true
  return !FULL_CODES.includes(code) && PASSING_STATUSES.includes(status)
}

export function targetErrorOf(refused: S3Refused): TargetError {
  const code = s3CodeOf(refused.document, refused.status)
  const says = (why: string): string =>
    `Cannot ${refused.action} at ${refused.description}: ${why} (${refused.status} ${shown(code)}${textOf(refused)})`
  if (DAMAGED_CODES.includes(code))
    return new TargetCorrupt(says('other bytes arrived than were sent; check what lies between'))
  if (refused.status === 507 || FULL_CODES.includes(code))
    return new TargetRefused(says('it is full, or its quota is used up: free space there'))
  if (code === 'RequestTimeTooSkewed') return new TargetRefused(says(skewed(refused)))
  if (ELSEWHERE_CODES.includes(code) || (refused.status >= 300 && refused.status < 400))
    return new TargetRefused(says(elsewhere(refused)))
  const known = REFUSED[code]
  if (known !== undefined) return new TargetRefused(says(known))
  if (code === 'NoSuchKey') return new TargetMissing(says('there is no such object'))
  if (isPassing(refused)) return new TargetUnreachable(says('it cannot now'))
  return new TargetRefused(says('see its documentation for this code'))
}

function skewed({ headers, at }: S3Refused): string {
  const theirs = Date.parse(headers['date'] ?? '')
  const ours = new Date(at).toISOString()
  const said = Number.isNaN(theirs)
    ? 'it does not say its time'
    : `its clock says ${new Date(theirs).toISOString()}`
  return `the clocks differ by more than signatures allow: this cluster has ${ours}, ${said}; set the wrong one right, with NTP for example`
}

function elsewhere({ headers, document }: S3Refused): string {
  const region = headers['x-amz-bucket-region'] ?? document.region
  const place = document.endpoint === null ? '' : `, at ${shown(document.endpoint)}`
  return region === null
    ? `the bucket is in another place${place}: set the endpoint and the region of the target`
    : `the bucket is in the region ${shown(region)}${place}: set the endpoint and the region of the target`
}

function textOf({ document }: S3Refused): string {
  return document.message === null ? '' : `: ${shown(document.message)}`
}

function shown(text: string): string {
  return text.slice(0, TEXT_MAX).replace(/\p{C}/gu, '?')
}
