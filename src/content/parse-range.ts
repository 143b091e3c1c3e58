/**
 * The Range header of a GET. [RFC 9110 14.1, 14.2]
 *
 * Owns: one byte range against a known size. Rules: a header that is not one well-formed byte range is ignored and the
 * whole object is sent, as the RFC allows; only a well-formed range that selects nothing is refused. Several ranges are
 * ignored too: a multipart response would have no advantage over two requests.
 */
import { Refusal } from '../base/refusal.ts'
import type { ByteRange } from './range.ts'

const BYTES_UNIT = /^bytes=(.*)$/i
const INT_RANGE = /^(\d+)-(\d*)$/
const SUFFIX_RANGE = /^-(\d+)$/

/** Null: send everything. Throws Refusal range_not_satisfiable with the Content-Range header of a 416. */
export function requestedRange(header: string | undefined, size: number): ByteRange | null {
  const range = parseRange(header, size)
  if (range !== 'unsatisfiable') return range
  throw new Refusal(
    'range_not_satisfiable',
    `Range '${header}' lies outside of the ${size} bytes of the object`,
    {
      headers: { 'content-range': `bytes */${size}` },
      details: { size },
    },
  )
}

/** Null: ignore the header. */
export function parseRange(header: string | undefined, size: number): ByteRange | null | 'unsatisfiable' {
  const set = BYTES_UNIT.exec(header?.trim() ?? '')?.[1]
  if (set === undefined) return null
  // RFC 9110 5.6.1 requires recipients to accept empty list elements.
  const specs = set
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '')
  const spec = specs[0]
  if (spec === undefined || specs.length > 1) return null
  return intRange(spec, size) ?? suffixRange(spec, size)
}

function intRange(spec: string, size: number): ByteRange | null | 'unsatisfiable' {
  const match = INT_RANGE.exec(spec)
  if (match === null) return null
  const first = Number(match[1])
  const last = match[2] === '' ? Infinity : Number(match[2])
  if (last < first) return null
  if (first >= size) return 'unsatisfiable'
  return { start: first, end: Math.min(last + 1, size) }
}

function suffixRange(spec: string, size: number): ByteRange | null | 'unsatisfiable' {
  const match = SUFFIX_RANGE.exec(spec)
  if (match === null) return null
  const length = Number(match[1])
  if (length === 0) return 'unsatisfiable'
  // A suffix of an empty object is satisfiable but has no Content-Range: send the whole, empty object.
  if (size === 0) return null
  return { start: Math.max(0, size - length), end: size }
}
