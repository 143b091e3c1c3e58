/**
 * Conditions and range of a GET or HEAD against the record. [RFC 9110 13.2.2, 14.2]
 *
 * Rules: the tags are strong; If-Match beats If-Unmodified-Since, If-None-Match beats
 * If-Modified-Since; a date that cannot be read is as if it were not sent; a range whose If-Range does not hold is
 * ignored, or a client would join two objects into one.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { requestedRange } from '../../content/parse-range.ts'
import type { ByteRange } from '../../content/range.ts'
import { Refusal } from '../../refusal.ts'
import type { ObjectRecord } from '../../state-machine/records.ts'
import { headerText } from '../header-text.ts'

/** False: answer 304. Throws Refusal precondition_failed. */
export function isWanted(headers: IncomingHttpHeaders, object: ObjectRecord): boolean {
  const { etag } = object
  const modified = wholeSeconds(object.lastModified)
  const ifMatch = headers['if-match']
  const unmodifiedSince = dateOf(headers['if-unmodified-since'])
  if (
    ifMatch !== undefined ? !listsTag(ifMatch, etag) : unmodifiedSince !== null && modified > unmodifiedSince
  ) {
    throw new Refusal(
      'precondition_failed',
      `The object has the etag "${etag}", which the condition excludes`,
    )
  }
  const ifNoneMatch = headers['if-none-match']
  // The one place of weak comparison: an intermediary may have weakened the tag that it hands back. [RFC 9110 13.1.2]
  if (ifNoneMatch !== undefined) return !listsTag(ifNoneMatch.replaceAll('W/"', '"'), etag)
  const modifiedSince = dateOf(headers['if-modified-since'])
  return modifiedSince === null || modified > modifiedSince
}

/** null: the whole object. Throws Refusal range_not_satisfiable. */
export function wantedRange(headers: IncomingHttpHeaders, object: ObjectRecord): ByteRange | null {
  const { range } = headers
  if (range === undefined || !isUnchanged(headerText(headers, 'if-range'), object)) return null
  refuseMalformed(range, object.size)
  return requestedRange(range, object.size)
}

function isUnchanged(ifRange: string | undefined, object: ObjectRecord): boolean {
  if (ifRange === undefined) return true
  const text = ifRange.trim()
  const date = text.startsWith('"') || text.startsWith('W/') ? null : dateOf(text)
  return date === null
    ? text.replace(/^"(.*)"$/, '$1') === object.etag
    : wholeSeconds(object.lastModified) === date
}

/** A slip such as "bytes=9-2" would otherwise fetch the whole object. [RFC 9110 15.5.17 allows the refusal] */
function refuseMalformed(range: string, size: number): void {
  const spec = /^bytes=([^,]*)$/i.exec(range.trim())?.[1]?.trim()
  if (spec === undefined) return
  const [, first, last] = /^(\d*)-(\d*)$/.exec(spec) ?? []
  const isRange = first !== undefined && last !== undefined && `${first}${last}` !== ''
  if (isRange && (first === '' || last === '' || Number(first) <= Number(last))) return
  throw new Refusal(
    'range_not_satisfiable',
    `Range "${range.slice(0, 80)}" is malformed: write bytes=<first>-<last>, bytes=<first>- or bytes=-<length>`,
    { headers: { 'content-range': `bytes */${size}` } },
  )
}

function listsTag(header: string, etag: string): boolean {
  return header
    .split(',')
    .map((tag) => tag.trim())
    .some((tag) => tag === '*' || tag === etag || tag === `"${etag}"`)
}

/** HTTP dates have no fraction. */
const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000

function dateOf(text: string | undefined): number | null {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}
