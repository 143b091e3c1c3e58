/**
 * A backup target as a request names it, read and checked; nothing is asked of the place.
 *
 * Owns: which values are taken. Rule: a message says what was expected, and never quotes a secret.
 */
import { X509Certificate } from 'node:crypto'
import type { OpenPlace } from '../../backup/targets/target-book.ts'
import { isName } from '../../backup/targets/target.ts'
import { Refusal } from '../../base/refusal.ts'

export interface S3Request {
  readonly endpoint: string
  readonly bucket: string
  readonly prefix?: string
  readonly region?: string
  readonly accessKeyId: string
  /** Absent: the one that is kept. */
  readonly secretKey?: string
  readonly ca?: string | null
}

export interface TargetRequest {
  readonly directory?: { readonly folder?: string }
  readonly s3?: S3Request
}

const DEFAULT_REGION = 'us-east-1'
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/
const REGION = /^[a-z0-9-]{1,64}$/
const ACCESS_KEY = /^[\x21-\x7e]{1,128}$/

/** `keptSecret`: of the target that has the name, if it has the same endpoint and access key. Throws Refusal invalid_request, invalid_argument. */
export function readPlace(
  { directory, s3 }: TargetRequest,
  keptSecret: (s3: S3Request) => string | null,
): OpenPlace {
  if ((directory === undefined) === (s3 === undefined))
    throw new Refusal(
      'invalid_request',
      'Cannot set a backup target: name exactly one of "directory" and "s3"',
    )
  return s3 === undefined ? directoryPlace(directory?.folder ?? '') : s3Place(s3, keptSecret)
}

function directoryPlace(folder: string): OpenPlace {
  if (folder === '' || isName(folder)) return { kind: 'directory', folder }
  throw wrong('folder', folder, 'segments of a-z, 0-9, ".", "_" and "-", joined by "/", or nothing')
}

function s3Place(s3: S3Request, keptSecret: (s3: S3Request) => string | null): OpenPlace {
  const { bucket, prefix = '', region = DEFAULT_REGION, accessKeyId, ca = null } = s3
  if (!BUCKET.test(bucket)) throw wrong('bucket', bucket, '3 to 63 of a-z, 0-9, ".", "_" and "-"')
  if (prefix !== '' && !isName(prefix))
    throw wrong('prefix', prefix, 'segments of a-z, 0-9, ".", "_" and "-", joined by "/", or nothing')
  if (!REGION.test(region))
    throw wrong('region', region, 'lower-case letters, digits and "-", such as us-east-1')
  if (!ACCESS_KEY.test(accessKeyId))
    throw new Refusal(
      'invalid_argument',
      'Cannot set a backup target: "accessKeyId" is not 1 to 128 printable characters',
    )
  const secretKey = s3.secretKey ?? keptSecret(s3)
  if (secretKey === null)
    throw new Refusal(
      'invalid_request',
      'Cannot set a backup target: "secretKey" is missing, and none is kept for this endpoint and access key',
    )
  return {
    kind: 's3',
    endpoint: endpointOf(s3.endpoint),
    bucket,
    prefix,
    region,
    accessKeyId,
    secretKey,
    ca: authorityOf(ca),
  }
}

/** In one spelling. */
function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, '')
  throw wrong(
    'endpoint',
    text.replace(/\/\/[^/@]*@/, '//…@'),
    'an address such as https://s3.example.net, without a bucket, credentials or a query',
  )
}

function authorityOf(ca: string | null): string | null {
  if (ca === null) return null
  try {
    return new X509Certificate(ca).toString()
  } catch (cause) {
    throw new Refusal('invalid_argument', 'Cannot set a backup target: "ca" is no certificate in PEM', {
      cause,
    })
  }
}

function wrong(field: string, value: string, expected: string): Refusal {
  return new Refusal(
    'invalid_argument',
    `Cannot set a backup target: "${field}" is "${value.slice(0, 100)}"; expected: ${expected}`,
  )
}
