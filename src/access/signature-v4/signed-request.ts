/**
 * What a request with an AWS signature, version 4, says of its signature: in the `Authorization` header or in the query. [AWS S3 API
 * reference: Authenticating Requests (AWS Signature Version 4)]
 *
 * Owns: reading and the form of each part. Knows nothing of: secrets, keys, the present time. Rule: nothing here is proved yet.
 */
import { SignatureFault } from './signature-fault.ts'

/** `headers`: lower-case names, in the order of arrival, one entry for each line. */
export interface RawRequest {
  readonly method: string
  /** As it was sent: percent-encoded, without the query. */
  readonly path: string
  /** As it was sent, without `?`. */
  readonly query: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export interface CredentialScope {
  readonly accessKeyId: string
  /** `YYYYMMDD`. */
  readonly date: string
  readonly region: string
}

export interface SignedRequest {
  readonly request: RawRequest
  readonly credential: CredentialScope
  /** `YYYYMMDDTHHMMSSZ`, part of what is signed. */
  readonly timestamp: string
  /** The same as milliseconds since 1970. */
  readonly signedAtMs: number
  /** Lower case, in ascending order. */
  readonly signedHeaders: readonly string[]
  /** 64 hexadecimal digits. */
  readonly signature: string
  /** The value of `x-amz-content-sha256`, or what stands for it in a presigned URL. */
  readonly payload: string
  /** How long a presigned URL is good, in seconds; null: the signature is in the header. */
  readonly expiresSeconds: number | null
}

export const ALGORITHM = 'AWS4-HMAC-SHA256'
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'
const SCOPE_END = 'aws4_request'
const SERVICE = 's3'
const DATE = /^\d{8}$/
const SIGNATURE = /^[0-9a-f]{64}$/
const TIMESTAMP = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,256}$/
const SIGNED_HEADERS_MAX = 100
const WHOLE_NUMBER = /^\d{1,9}$/
const VERSION_2 = /^AWS [^ ]+:/

/** However its names are spelled: `X-Amz%2DSignature` is the same parameter to a signer. `query`: without `?`. */
export function isSignedInQuery(query: string): boolean {
  const parameters = new URLSearchParams(query)
  return parameters.has('X-Amz-Algorithm') || parameters.has('X-Amz-Signature')
}

/** Null: the request shows no AWS signature. Throws SignatureFault. */
export function readSignedRequest(request: RawRequest): SignedRequest | null {
  const authorization = valuesOf(request, 'authorization')
  const parameters = new URLSearchParams(request.query)
  const isInQuery = isSignedInQuery(request.query)
  if (authorization.length > 1)
    throw new SignatureFault('InvalidArgument', 'The request has two Authorization headers; send one')
  const [header] = authorization
  if (isInQuery && header !== undefined)
    throw new SignatureFault(
      'InvalidArgument',
      'The request is signed in the query and has an Authorization header; sign it in one way',
    )
  refuseVersion2(header, parameters)
  if (isInQuery) return fromQuery(request, parameters)
  return header?.startsWith(ALGORITHM) === true ? fromHeader(request, header) : null
}

export function valuesOf({ headers }: RawRequest, name: string): readonly string[] {
  return headers.filter(([candidate]) => candidate === name).map(([, value]) => value)
}

function refuseVersion2(header: string | undefined, parameters: URLSearchParams): void {
  const isOld =
    VERSION_2.test(header ?? '') || (parameters.has('AWSAccessKeyId') && parameters.has('Signature'))
  if (isOld)
    throw new SignatureFault(
      'InvalidRequest',
      'The request is signed with version 2; sign it with AWS4-HMAC-SHA256 (in many clients: s3v4)',
    )
}

function fromHeader(request: RawRequest, header: string): SignedRequest {
  const parts = new Map(
    header
      .slice(ALGORITHM.length)
      .split(',')
      .map((part) => {
        const at = part.indexOf('=')
        return [part.slice(0, at).trim(), part.slice(at + 1).trim()] as const
      }),
  )
  const part = (name: string): string => {
    const value = parts.get(name)
    if (value !== undefined) return value
    throw malformedHeader(`it has no ${name}`)
  }
  const payload = valuesOf(request, 'x-amz-content-sha256')
  if (payload.length !== 1)
    throw new SignatureFault('InvalidRequest', 'A signed request needs one header x-amz-content-sha256')
  const { timestamp, signedAtMs } = timeOf(request)
  const signed = {
    request,
    credential: credentialOf(part('Credential'), malformedHeader),
    timestamp,
    signedAtMs,
    signedHeaders: signedHeadersOf(part('SignedHeaders'), malformedHeader),
    signature: signatureOf(part('Signature'), malformedHeader),
    payload: payload[0] ?? '',
    expiresSeconds: null,
  }
  return checked(signed, malformedHeader)
}

function fromQuery(request: RawRequest, parameters: URLSearchParams): SignedRequest {
  const part = (name: string): string => {
    const [value, ...others] = parameters.getAll(name)
    if (value !== undefined && others.length === 0) return value
    throw malformedQuery(value === undefined ? `it has no ${name}` : `it has ${name} twice`)
  }
  if (part('X-Amz-Algorithm') !== ALGORITHM) throw malformedQuery(`X-Amz-Algorithm is not ${ALGORITHM}`)
  const timestamp = part('X-Amz-Date')
  const expires = part('X-Amz-Expires')
  if (!WHOLE_NUMBER.test(expires) || Number(expires) === 0)
    throw malformedQuery(`X-Amz-Expires is '${expires}', expected a whole number of seconds from 1 on`)
  const [hashed] = valuesOf(request, 'x-amz-content-sha256')
  const signed = {
    request,
    credential: credentialOf(part('X-Amz-Credential'), malformedQuery),
    timestamp,
    signedAtMs: instantOf(timestamp, malformedQuery),
    signedHeaders: signedHeadersOf(part('X-Amz-SignedHeaders'), malformedQuery),
    signature: signatureOf(part('X-Amz-Signature'), malformedQuery),
    payload: parameters.get('X-Amz-Content-Sha256') ?? hashed ?? UNSIGNED_PAYLOAD,
    expiresSeconds: Number(expires),
  }
  return checked(signed, malformedQuery)
}

type Malformed = (why: string) => SignatureFault

const malformedHeader: Malformed = (why) =>
  new SignatureFault('AuthorizationHeaderMalformed', `The Authorization header is malformed: ${why}`)
const malformedQuery: Malformed = (why) =>
  new SignatureFault('AuthorizationQueryParametersError', `The signature in the query is malformed: ${why}`)

export function credentialOf(text: string, malformed: Malformed): CredentialScope {
  // An access key id has no slash; the four others end the text.
  const [accessKeyId = '', date = '', region = '', service = '', end = '', ...others] = text.split('/')
  if (others.length > 0 || accessKeyId === '' || region === '' || !DATE.test(date) || end !== SCOPE_END)
    throw malformed('Credential is not <access key id>/<YYYYMMDD>/<region>/s3/aws4_request')
  if (service !== SERVICE) throw malformed(`the service of Credential is '${service}', expected 's3'`)
  return { accessKeyId, date, region }
}

function signedHeadersOf(text: string, malformed: Malformed): readonly string[] {
  const names = text.split(';')
  if (names.length > SIGNED_HEADERS_MAX || !names.every((name) => HEADER_NAME.test(name)))
    throw malformed(`SignedHeaders is not a list of at most ${SIGNED_HEADERS_MAX} lower-case names`)
  if (names.some((name, at) => at > 0 && name <= (names[at - 1] ?? '')))
    throw malformed('SignedHeaders is not in ascending order')
  if (!names.includes('host')) throw malformed('SignedHeaders does not name host')
  return names
}

export function signatureOf(text: string, malformed: Malformed): string {
  if (!SIGNATURE.test(text)) throw malformed('Signature is not 64 lower-case hexadecimal digits')
  return text
}

/** From `x-amz-date`, or else from `date` as a date of HTTP. [RFC 9110 5.6.7] */
function timeOf(request: RawRequest): { readonly timestamp: string; readonly signedAtMs: number } {
  const [timestamp] = valuesOf(request, 'x-amz-date')
  if (timestamp !== undefined) return { timestamp, signedAtMs: instantOf(timestamp, accessDenied) }
  const signedAtMs = Date.parse(valuesOf(request, 'date')[0] ?? '')
  if (Number.isNaN(signedAtMs)) throw accessDenied('the request has neither x-amz-date nor a valid Date')
  return { timestamp: new Date(signedAtMs).toISOString().replace(/[-:]|\.\d+/g, ''), signedAtMs }
}

const accessDenied: Malformed = (why) =>
  new SignatureFault('AccessDenied', `The time of the signature is missing: ${why}`)

export function instantOf(timestamp: string, malformed: Malformed): number {
  const [, year, month, day, hour, minute, second] = TIMESTAMP.exec(timestamp) ?? []
  const instant = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(instant)) throw malformed(`'${timestamp}' is no time such as 20261126T120000Z`)
  return instant
}

/** What is signed has to cover: the day of the scope is that of the signature, and no x-amz- header is left out. */
function checked(signed: SignedRequest, malformed: Malformed): SignedRequest {
  const { credential, request, signedHeaders, timestamp } = signed
  if (!timestamp.startsWith(credential.date))
    throw malformed(`the day of Credential, ${credential.date}, is not that of ${timestamp}`)
  const unsigned = request.headers.find(
    ([name]) => name.startsWith('x-amz-') && !signedHeaders.includes(name),
  )
  if (unsigned === undefined) return signed
  throw new SignatureFault(
    'AccessDenied',
    `The header ${unsigned[0]} was not signed; sign every x-amz- header`,
  )
}
