/**
 * How row keys and ranges are spelled; the `keys.ts` of each family has one function for each kind of row.
 *
 * docs/formats/keyspace.md shows all of them as a table.
 * Rules: parts are joined by NUL, which no part contains, so no row of one owner can sort into another's range. Keys
 * are well-formed strings: their order by code point is their order as UTF-8 bytes. Rows of a bucket share a prefix.
 */
import { BASE32 } from './version-id.ts'
import type { VersionId } from './record-ids.ts'

/** A row key that carries the type of its row. Only the `keys.ts` files make one. */
export type RowKey<R extends object = object> = string & { readonly flavour?: R }

export const SEPARATOR = '\u0000'
/** A lone surrogate has no UTF-8 form: two such keys could become the same key on disk. */
const LONE_SURROGATE = /[\ud800-\udfff]/u
const LAST_CODE_POINT = 0x10ffff
export const PAGE_DIGITS = 8
/** Hexadecimal digits of a safe integer. */
export const INDEX_DIGITS = 14

/** Whether a name may be part of a row key. */
export function isKeyPart(part: string): boolean {
  return part !== '' && !part.includes(SEPARATOR) && !LONE_SURROGATE.test(part)
}

export function join<R extends object>(...parts: readonly string[]): RowKey<R> {
  // Each command spells dozens of keys: adding texts takes a fraction of what joining a list does.
  let key = parts[0] ?? ''
  for (let at = 1; at < parts.length; at++) key += SEPARATOR + (parts[at] as string)
  return key
}

/** Fixed width, so that text order is number order. */
export function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

/** Reverses the sort order of ids of equal length that contain only BASE32 characters. */
export function descending(version: VersionId): string {
  return Array.from(version, (character) =>
    BASE32.charAt(BASE32.length - 1 - BASE32.indexOf(character)),
  ).join('')
}

/** Half-open, in the order of UTF-8 bytes. */
export interface KeyRange<R extends object = object> {
  /** Never present at run time: the type of the rows, for the compiler. */
  readonly row?: R
  readonly start: string
  readonly end: string
}

export function rangeOf<R extends object>(...parts: readonly string[]): KeyRange<R> {
  const start = parts.join(SEPARATOR) + SEPARATOR
  return { start, end: successor(start) }
}

/** The part of `range` whose names begin with `prefix`. */
export function narrow<R extends object>(range: KeyRange<R>, prefix: string): KeyRange<R> {
  if (prefix === '') return range
  const start = range.start + prefix
  return { start, end: successor(start) }
}

/**
 * The smallest string above everything that begins with `prefix`: the last code point is raised by one. The surrogate
 * range is skipped, and a code point that cannot be raised is dropped.
 */
export function successor(prefix: string): string {
  const unit = prefix.charCodeAt(prefix.length - 1)
  // The usual case: a code point of one unit, below the surrogates.
  if (unit < 0xd7ff) return prefix.slice(0, -1) + String.fromCharCode(unit + 1)
  const points = Array.from(prefix)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? LAST_CODE_POINT
    if (point < LAST_CODE_POINT) {
      return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1)
    }
  }
  throw new Error('Cannot find a successor: the prefix is empty or contains only the last code point')
}

/** For messages: the kind of row that a key belongs to, without the names in the key. */
export function kindOf(key: string): string {
  const parts = key.split(SEPARATOR, 3)
  return (parts[0] === 'in' ? parts[2] : parts[0]) ?? 'unknown'
}
