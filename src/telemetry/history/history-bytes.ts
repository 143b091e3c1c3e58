/**
 * The last hour of a node as bytes for another node, which may be of another version.
 *
 * Layout: `HHR1`, the number of series (u32), the newest interval (f64), then for each series the length of its name (u8), the name in ASCII, and
 * HISTORY_POINTS values (f32), the oldest first. All numbers are little-endian. Rule: a series that the reader does not know is passed over, one that is not
 * there is NaN; anything else that does not fit is refused.
 */
import type { HistoryRing } from './history-ring.ts'
import { bySeries, HISTORY_POINTS, SERIES, type Values } from './series.ts'

const MAGIC = 'HHR1'
const HEAD_BYTES = 16
const VALUE_BYTES = 4
const SERIES_MAX = 64
const LITTLE = true

export interface ReadHistory {
  /** The number of the newest interval; -1: there is none. */
  readonly last: number
  readonly values: Values
}

export function writeHistory(ring: HistoryRing): Uint8Array {
  const values = ring.read(ring.last)
  const size = SERIES.reduce((sum, name) => sum + 1 + name.length + HISTORY_POINTS * VALUE_BYTES, HEAD_BYTES)
  const bytes = Buffer.alloc(size)
  bytes.write(MAGIC, 'latin1')
  bytes.writeUInt32LE(SERIES.length, 4)
  bytes.writeDoubleLE(ring.last, 8)
  let at = HEAD_BYTES
  for (const name of SERIES) {
    at = bytes.writeUInt8(name.length, at)
    at += bytes.write(name, at, 'latin1')
    for (const value of values[name]) at = bytes.writeFloatLE(value, at)
  }
  return bytes
}

/** Throws TypeError when these bytes are no history. */
export function readHistory(bytes: Uint8Array): ReadHistory {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HEAD_BYTES || textAt(bytes, 0, MAGIC.length) !== MAGIC)
    throw new TypeError('Cannot read the history: it does not begin with its magic bytes')
  const [count, last] = [view.getUint32(4, LITTLE), view.getFloat64(8, LITTLE)]
  if (count > SERIES_MAX || !Number.isSafeInteger(last) || last < -1)
    throw new TypeError('Cannot read the history: its header is malformed')
  const found = new Map<string, Float64Array>()
  let at = HEAD_BYTES
  for (let n = 0; n < count; n++) {
    const length = bytes[at] ?? 0
    const from = at + 1 + length
    const to = from + HISTORY_POINTS * VALUE_BYTES
    if (to > bytes.length) throw new TypeError('Cannot read the history: it ends too early')
    const values = Float64Array.from({ length: HISTORY_POINTS }, (_, point) =>
      view.getFloat32(from + point * VALUE_BYTES, LITTLE),
    )
    found.set(textAt(bytes, at + 1, length), values)
    at = to
  }
  if (at !== bytes.length) throw new TypeError('Cannot read the history: bytes follow its end')
  const unknown = new Float64Array(HISTORY_POINTS).fill(NaN)
  return { last, values: bySeries((name) => found.get(name) ?? unknown) }
}

const textAt = (bytes: Uint8Array, from: number, length: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, length).toString('latin1')
