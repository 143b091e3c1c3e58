/**
 * The headers that say what is copied: source, conditions on it, range of it. [AWS S3 API reference: CopyObject, UploadPartCopy]
 *
 * Rules: the source is decoded once and split then, because clients encode the slash behind the bucket too; a plus sign stands for itself.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../../base/refusal.ts'
import type { ByteRange } from '../../../content/range.ts'
import type { ReadConditions } from '../../../operations/objects/conditions.ts'
import { strongTags, weakTags } from '../../../operations/objects/entity-tags.ts'
import type { ObjectName } from '../../../operations/objects/object-checks.ts'
import { headerText } from '../../header-text.ts'
import { decodeObjectKey } from '../../request-target.ts'
import { SOURCE_CUSTOMER_KEY } from '../base/s3-encryption.ts'
import { S3Fault } from '../base/s3-errors.ts'

export const COPY_SOURCE = 'x-amz-copy-source'
const CONDITIONS = ['match', 'none-match', 'modified-since', 'unmodified-since']
/** For the table of routes. */
export const SOURCE_HEADERS: readonly string[] = [
  COPY_SOURCE,
  ...CONDITIONS.map((condition) => `${COPY_SOURCE}-if-${condition}`),
  'x-amz-source-expected-bucket-owner',
  ...SOURCE_CUSTOMER_KEY,
]
export const SOURCE_RANGE = `${COPY_SOURCE}-range`
const VERSION = '?versionId='
const ECHO_MAX = 200

/** Throws S3Fault InvalidArgument, NotImplemented. */
export function readCopySource(headers: IncomingHttpHeaders): ObjectName {
  const given = headerText(headers, COPY_SOURCE) ?? ''
  const at = given.lastIndexOf(VERSION)
  const path = decoded(at === -1 ? given : given.slice(0, at)).replace(/^\//, '')
  if (path.startsWith('arn:'))
    throw new S3Fault('NotImplemented', 'Access points are not supported: name the source as bucket/key')
  const slash = path.indexOf('/')
  if (slash <= 0 || slash === path.length - 1)
    throw wrong(COPY_SOURCE, given, 'names no object: write bucket/key, percent-encoded')
  const versionId = at === -1 ? undefined : decoded(given.slice(at + VERSION.length))
  if (versionId === '')
    throw wrong(COPY_SOURCE, given, 'has an empty versionId: leave it out, or name a version')
  return { bucket: path.slice(0, slash), key: path.slice(slash + 1), versionId }
}

function decoded(text: string): string {
  try {
    return decodeObjectKey(text.replaceAll('#', '%23'))
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause
    throw wrong(COPY_SOURCE, text, 'is not percent-encoded UTF-8', cause)
  }
}

/** A date that cannot be read is as if it were not sent. [RFC 9110 13.1.3] Throws Refusal invalid_argument. */
export function readSourceConditions(headers: IncomingHttpHeaders): ReadConditions {
  const ifMatch = headerText(headers, `${COPY_SOURCE}-if-match`)
  const ifNoneMatch = headerText(headers, `${COPY_SOURCE}-if-none-match`)
  return {
    ifMatch: ifMatch === undefined ? null : strongTags(ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? null : weakTags(ifNoneMatch),
    ifModifiedSince: dateOf(headerText(headers, `${COPY_SOURCE}-if-modified-since`)),
    ifUnmodifiedSince: dateOf(headerText(headers, `${COPY_SOURCE}-if-unmodified-since`)),
  }
}

function dateOf(text: string | undefined): number | null {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** Null: the whole source. Whether it lies inside is known to the operation. Throws S3Fault InvalidArgument. */
export function readSourceRange(headers: IncomingHttpHeaders): ByteRange | null {
  const given = headerText(headers, SOURCE_RANGE)
  if (given === undefined) return null
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(given.trim()) ?? []
  if (first === undefined || last === undefined || Number(last) < Number(first))
    throw wrong(
      SOURCE_RANGE,
      given,
      'is no range: write bytes=<first>-<last>, of the first and the last byte',
    )
  return { start: Number(first), end: Number(last) + 1 }
}

function wrong(name: string, value: string, what: string, cause?: Error): S3Fault {
  const shown = value.slice(0, ECHO_MAX)
  const elements = { ArgumentName: name, ArgumentValue: shown }
  return new S3Fault('InvalidArgument', `${name} "${shown}" ${what}`, { elements, cause })
}
