/**
 * The parts in which a body is uploaded. [native: Limits]
 *
 * Rule: the same body is always cut at the same places, so that an upload can be resumed.
 */
import { ArgumentError } from '../call/errors.ts'
import { type Body, piecesOf } from '../call/operation.ts'
import { joined } from '../call/transport.ts'

const MIB = 1024 * 1024
export const PART_BYTES_MIN = 5 * MIB
export const PART_BYTES_MAX = 5 * 1024 * MIB
export const PART_COUNT_MAX = 10_000
/** A body that is not larger is sent in one request. */
export const PART_BYTES_DEFAULT: number = 16 * MIB

export interface Cut {
  /** Bytes of the body; null: not known before its end. */
  readonly size: number | null
  readonly partBytes: number
  /** At least one, which may be empty. All but the last have `partBytes`. */
  readonly parts: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>
}

/** Throws ArgumentError when no part of that size can be uploaded, or the body is none. */
export function cutInParts(body: Body, partSize: number | undefined): Cut {
  const whole = wholeOf(body)
  const size = whole === null ? lengthOf(body) : whole.size
  const partBytes = partSize ?? Math.max(PART_BYTES_DEFAULT, leastPartBytes(size ?? 0))
  if (!Number.isInteger(partBytes) || partBytes < PART_BYTES_MIN || partBytes > PART_BYTES_MAX)
    throw new ArgumentError(`'partSize' is from 5 MiB to 5 GiB in bytes, not ${partBytes}`)
  if (size !== null && size > partBytes * PART_COUNT_MAX)
    throw new ArgumentError(
      `A body has at most ${PART_COUNT_MAX} parts: 'partSize' is at least ${leastPartBytes(size)} for ${size} bytes`,
    )
  const parts = whole === null ? joinedParts(streamOf(body), partBytes) : slices(whole, partBytes)
  return { size, partBytes, parts }
}

/** So that the parts are not too many; whole MiB. */
export function leastPartBytes(size: number): number {
  return Math.ceil(size / PART_COUNT_MAX / MIB) * MIB
}

/** Bytes that can be read in any order. */
interface Whole {
  readonly size: number
  readonly read: (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>
}

function wholeOf(body: Body): Whole | null {
  if (body instanceof Blob)
    return {
      size: body.size,
      read: async (from, to) => new Uint8Array(await body.slice(from, to).arrayBuffer()),
    }
  const bytes =
    typeof body === 'string'
      ? new TextEncoder().encode(body)
      : body instanceof ArrayBuffer
        ? new Uint8Array(body)
        : body
  if (!(bytes instanceof Uint8Array)) return null
  return { size: bytes.length, read: async (from, to) => new Uint8Array(bytes.subarray(from, to)) }
}

function lengthOf(body: Body): number | null {
  return typeof body === 'object' && 'open' in body ? (body.length ?? null) : null
}

function streamOf(body: Body): AsyncIterable<Uint8Array> {
  if (typeof body === 'object' && body !== null) {
    if ('open' in body) return body.open()
    if ('getReader' in body) return piecesOf(body)
    if (Symbol.asyncIterator in body) return body
  }
  throw new ArgumentError(
    "'body' is a string, a Uint8Array, an ArrayBuffer, a Blob, a ReadableStream, or an object with open()",
  )
}

async function* slices({ size, read }: Whole, partBytes: number): Cut['parts'] {
  for (let from = 0; from === 0 || from < size; from += partBytes)
    yield await read(from, Math.min(from + partBytes, size))
}

/** Parts of exactly this size; the last part has the rest. At least one part, which may be empty. */
export async function* joinedParts(pieces: AsyncIterable<Uint8Array>, partBytes: number): Cut['parts'] {
  let held: Uint8Array[] = []
  let bytes = 0
  let isFirst = true
  for await (const piece of pieces) {
    let rest = piece
    while (bytes + rest.length >= partBytes) {
      const taken = rest.subarray(0, partBytes - bytes)
      yield joined([...held, taken], partBytes)
      isFirst = false
      rest = rest.subarray(taken.length)
      held = []
      bytes = 0
    }
    if (rest.length > 0) held.push(rest)
    bytes += rest.length
  }
  if (bytes > 0 || isFirst) yield joined(held, bytes)
}
