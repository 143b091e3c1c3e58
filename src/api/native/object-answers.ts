/**
 * What is answered with an object, for any caller: its bytes, one range of them, its headers, or that it was stored.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ReadableObject } from '../../operations/objects/get-object.ts'
import type { FoundObject } from '../../operations/objects/object-checks.ts'
import type { StoredObject } from '../../operations/objects/put-object.ts'
import type { Answer } from '../route.ts'
import { storedBytes } from '../stored-bytes.ts'
import { objectHeaders, objectView } from './object-view.ts'
import { isWanted, wantedRange } from './read-conditions.ts'
import { cachingHeaders, representationHeaders } from './representation-headers.ts'

type Headers = Readonly<Record<string, string>>

/** `own`: headers that stand above those of the object. */
export function bytesAnswer(found: ReadableObject, asked: IncomingHttpHeaders, own: Headers = {}): Answer {
  const { bucket, object } = found
  if (!isWanted(asked, object)) return notModified(found, own)
  const range = wantedRange(asked, object)
  const { start, end } = range ?? { start: 0, end: object.size }
  const contentRange = { 'content-range': `bytes ${start}-${end - 1}/${object.size}` }
  return {
    kind: 'bytes',
    status: range === null ? 200 : 206,
    headers: {
      ...objectHeaders(bucket, object),
      'content-type': object.contentType,
      ...representationHeaders(object),
      ...(range === null ? {} : contentRange),
      ...own,
    },
    ...storedBytes(found, { start, end }),
  }
}

/** The headers that GET would give. A range is only of GET. [RFC 9110 14.2] */
export function headAnswer(found: FoundObject, asked: IncomingHttpHeaders, own: Headers = {}): Answer {
  const { bucket, object } = found
  if (!isWanted(asked, object)) return notModified(found, own)
  const about = {
    'content-type': object.contentType,
    ...representationHeaders(object),
    'content-length': `${object.size}`,
  }
  return { kind: 'empty', headers: { ...objectHeaders(bucket, object), ...about, ...own } }
}

export function storedAnswer({ bucket, object, replayed }: StoredObject, own: Headers = {}): Answer {
  const replay: Record<string, string> = replayed ? { 'idempotent-replayed': 'true' } : {}
  const headers = { ...objectHeaders(bucket, object), ...replay, ...own }
  return { kind: 'json', headers, body: objectView(bucket.name, object) }
}

function notModified({ bucket, object }: FoundObject, own: Headers): Answer {
  return {
    kind: 'empty',
    status: 304,
    headers: { ...objectHeaders(bucket, object), ...cachingHeaders(object), ...own },
  }
}
