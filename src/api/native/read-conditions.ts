/**
 * Conditions and range of a GET or HEAD, as headers, against the record. [RFC 9110 13.1, 14.2]
 *
 * Rules: a date that cannot be read is as if it were not sent; a range whose If-Range does not hold is ignored, or a
 * client would join two objects into one.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { requestedRange } from '../../content/parse-range.ts'
import type { ByteRange } from '../../content/range.ts'
import { failedCondition, modifiedAt, type ReadConditions } from '../../operations/objects/conditions.ts'
import { strongTags, weakTags } from '../../operations/objects/entity-tags.ts'
import { Refusal } from '../../base/refusal.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { headerText } from '../header-text.ts'

/** False: answer 304. Throws Refusal precondition_failed. */
export function isWanted(headers: IncomingHttpHeaders, object: ObjectRecord): boolean {
  const failed = failedCondition(conditionsOf(headers), object)
  if (failed !== 'isMeant') return failed === null
  throw new Refusal(
    'precondition_failed',
    `The object has the etag "${object.etag}", which the condition excludes`,
  )
}

function conditionsOf(headers: IncomingHttpHeaders): ReadConditions {
  const ifMatch = headerText(headers, 'if-match')
  const ifNoneMatch = headerText(headers, 'if-none-match')
  return {
    ifMatch: ifMatch === undefined ? null : strongTags(ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? null : weakTags(ifNoneMatch),
    ifModifiedSince: dateOf(headers['if-modified-since']),
    ifUnmodifiedSince: dateOf(headers['if-unmodified-since']),
  }
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
  return date === null ? text.replace(/^"(.*)"$/, '$1') === object.etag : modifiedAt(object, date) === date
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

function dateOf(text: string | undefined): number | null {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}
