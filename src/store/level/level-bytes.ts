/**
 * The encodings in LevelDB's files: variable-length numbers, strings, masked checksums, compressed blocks.
 *
 * Owns: reading them. Knows nothing of: which file they are in.
 * Rule: nothing is read beyond the given bytes; bytes that cannot be read throw UnreadableError.
 */
import { crc32c } from '@node-rs/crc32'

const MASK_DELTA = 0xa282ead8

export class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 49; scale *= 128) {
      const byte = this.take(1).readUInt8(0)
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    throw new UnreadableError('a number has no end')
  }

  take(count: number): Buffer {
    if (count > this.left) throw new UnreadableError('it ends too soon')
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }

  string(): Buffer {
    return this.take(this.varint())
  }
}

/** LevelDB masks stored checksums, because a checksum over checksums is weak. */
export function agreesWith(masked: number, bytes: Uint8Array): boolean {
  const rotated = (masked - MASK_DELTA) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0 === crc32c(bytes)
}

/** The block format of Snappy: copies of earlier output, and literals. */
export function uncompressed(bytes: Buffer, bytesMax: number): Buffer {
  const reader = new ByteReader(bytes)
  const length = reader.varint()
  if (length > bytesMax) throw new UnreadableError('a block claims to be too large')
  const output = Buffer.alloc(length)
  let at = 0
  while (reader.left > 0) {
    const { literal, back, count } = snappyElement(reader)
    if (count > length - at || back > at) throw new UnreadableError('a compressed block is malformed')
    if (literal === null) for (let i = 0; i < count; i++) output[at + i] = output[at + i - back] ?? 0
    else literal.copy(output, at)
    at += count
  }
  if (at !== length) throw new UnreadableError('a compressed block is cut short')
  return output
}

interface SnappyElement {
  readonly literal: Buffer | null
  /** How far back a copy begins. */
  readonly back: number
  readonly count: number
}

function snappyElement(reader: ByteReader): SnappyElement {
  const tag = reader.take(1).readUInt8(0)
  const size = tag >> 2
  const kind = tag & 3
  if (kind === 0) {
    const count = 1 + (size < 60 ? size : reader.take(size - 59).readUIntLE(0, size - 59))
    return { literal: reader.take(count), back: 0, count }
  }
  if (kind === 1) {
    const back = ((tag >> 5) << 8) | reader.take(1).readUInt8(0)
    return copyOf(back, 4 + (size & 7))
  }
  return copyOf(kind === 2 ? reader.take(2).readUInt16LE(0) : reader.take(4).readUInt32LE(0), 1 + size)
}

function copyOf(back: number, count: number): SnappyElement {
  if (back === 0) throw new UnreadableError('a compressed block is malformed')
  return { literal: null, back, count }
}
