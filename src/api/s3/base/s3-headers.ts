/**
 * Which request headers a route of the S3 API takes.
 *
 * Owns: the check. Rule: a header that would change what a request means is carried out or refused by its name; a client that sends one relies on it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { headerText } from '../../header-text.ts'
import { REFUSED_HEADERS } from '../../refused-headers.ts'
import { S3Fault } from './s3-errors.ts'
import type { S3Route } from './s3-route.ts'

/** Of signatures and bodies, read by the pipeline; and those that ask for nothing. */
const ANYWHERE: ReadonlySet<string> = new Set([
  'x-amz-api-version',
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-decoded-content-length',
  'x-amz-expected-bucket-owner',
  'x-amz-optional-object-attributes',
  'x-amz-request-payer',
  'x-amz-sdk-checksum-algorithm',
  'x-amz-te',
  'x-amz-trailer',
  'x-amz-user-agent',
])
const ASKS_FOR_NOTHING = /^x-amz-cf-/
const DIGESTS = /^x-amz-checksum-(crc32|crc32c|crc64nvme|sha1|sha256)$/
const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since']
const OWN = /^x-service-/
const ENCRYPTION = 'x-amz-server-side-encryption'
const IDEMPOTENCY_KEY = 'x-service-idempotency-key'

/** Parameters by which a presigned URL says how it is signed. */
const OF_SIGNATURES: ReadonlySet<string> = new Set(
  [
    'Algorithm',
    'Content-Sha256',
    'Credential',
    'Date',
    'Expires',
    'Security-Token',
    'Signature',
    'SignedHeaders',
  ].map((name) => `X-Amz-${name}`),
)
/**
 * SDKs that presign before there is a body sign the digest of no bytes into the query (the AWS SDK for JavaScript since 3.729), and S3 does not compare it.
 * A digest of anything else was meant.
 */
const DIGESTS_OF_NOTHING: Readonly<Record<string, string>> = {
  'x-amz-checksum-crc32': 'AAAAAA==',
  'x-amz-checksum-crc32c': 'AAAAAA==',
  'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=',
  'x-amz-checksum-sha1': '2jmj7l5rSw0yVb/vlWAYkK/YBwk=',
  'x-amz-checksum-sha256': '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
}
const KEY_OF_CLIENT = /-customer-key$/
const UNSENDABLE = /[^\P{Cc}\t]/u

/**
 * SDKs presign an `x-amz-` header as a parameter of the query, where it means the same: puts those among the headers of a request. Throws S3Fault
 * InvalidArgument where the header is there with another value, or could not have been sent.
 */
export function takeHeadersOfQuery(
  parameters: Readonly<Record<string, string>>,
  headers: IncomingHttpHeaders,
): void {
  for (const [parameter, text] of Object.entries(parameters)) {
    const name = parameter.toLowerCase()
    if (!name.startsWith('x-amz-') || OF_SIGNATURES.has(parameter) || DIGESTS_OF_NOTHING[name] === text)
      continue
    if (KEY_OF_CLIENT.test(name))
      throw new S3Fault(
        'InvalidArgument',
        `${name} is a secret and has to be sent as a header: URLs are kept in logs and histories`,
      )
    const value = Buffer.from(text, 'utf8').toString('latin1')
    if (UNSENDABLE.test(text) || (headers[name] ?? value) !== value)
      throw new S3Fault(
        'InvalidArgument',
        `The parameter ${name.slice(0, 80)} cannot be sent as a header, or is another than the header of that name`,
      )
    headers[name] = value
  }
}

/** Throws S3Fault NotImplemented; InvalidRequest for a header of the native API. */
export function refuseForeignS3Headers(route: S3Route, headers: IncomingHttpHeaders): void {
  const isRead = route.method === 'GET' || route.method === 'HEAD'
  for (const name of Object.keys(headers)) {
    // S3 answers a read that asks for it with 400. [S3 GetObject: Encryption]
    if (isRead && name === ENCRYPTION)
      throw new S3Fault(
        'InvalidArgument',
        `${ENCRYPTION} is a header of uploads, which ${route.action} is not`,
      )
    if (name.startsWith('x-amz-') && !takesAmz(route, name)) throw notTaken(route, name)
    if (OWN.test(name) && name !== IDEMPOTENCY_KEY)
      throw new S3Fault('InvalidRequest', `The header ${name.slice(0, 80)} belongs to the native API`)
    if (!isRead && CONDITIONS.includes(name) && !route.headers.includes(name)) throw notTaken(route, name)
    const refused = REFUSED_HEADERS.find((one) => !name.startsWith('x-amz-') && one.name.test(name))
    if (refused !== undefined) throw notTaken(route, name)
  }
}

function takesAmz(route: S3Route, name: string): boolean {
  if (ANYWHERE.has(name) || ASKS_FOR_NOTHING.test(name)) return true
  if (DIGESTS.test(name) && route.body.kind !== 'none') return true
  return route.headers.some((taken) => (taken.endsWith('-') ? name.startsWith(taken) : name === taken))
}

function notTaken({ action }: S3Route, name: string): S3Fault {
  return new S3Fault(
    'NotImplemented',
    `The header ${name.slice(0, 80)} is not supported by ${action}; it is refused rather than ignored`,
  )
}

/** The owner of every bucket is the tenant of the access key. Throws S3Fault AccessDenied. */
export function checkExpectedOwner(headers: IncomingHttpHeaders, tenantId: string): void {
  for (const name of ['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner']) {
    const owner = headerText(headers, name)
    if (owner !== undefined && owner !== tenantId)
      throw new S3Fault('AccessDenied', `The owner of the bucket is not the one that ${name} names`)
  }
}
