/**
 * Combines the CRCs of parts into the CRC of their concatenation, without reading the bytes.
 *
 * Owns: the arithmetic. Knows nothing of: uploads, headers.
 * How: appending n bytes multiplies the remainder of the bytes before by x^(8n), modulo the polynomial; the remainder of the
 * appended bytes is added. Polynomials over GF(2) are kept reflected, as the CRCs are: the highest bit is x^0.
 * Rule: an algorithm that is missing in a part is left out; so are the hashes, which cannot be combined.
 */
import type { Checksums } from '../state-machine/bodies/records.ts'

/** 64 bits; a 32-bit CRC uses only the lower half. */
interface Word {
  readonly hi: number
  readonly lo: number
}

interface Field {
  readonly bits: 32 | 64
  /** Reflected. */
  readonly polynomial: Word
  /** x^(2^i), computed as far as needed. */
  readonly powers: Word[]
}

const FIELDS = {
  CRC32: field(32, { hi: 0, lo: 0xedb88320 }),
  CRC32C: field(32, { hi: 0, lo: 0x82f63b78 }),
  CRC64NVME: field(64, { hi: 0x9a6c9329, lo: 0xac4bc9b5 }),
} as const

type CombinedAlgorithm = keyof typeof FIELDS
const COMBINED = Object.keys(FIELDS) as readonly CombinedAlgorithm[]
/** One byte multiplies by x^8, which is x^(2^3). */
const POWER_OF_A_BYTE = 3

export interface DigestedPart {
  readonly size: number
  readonly checksums: Checksums
}

/** Checksums of the concatenated parts, base64 as in the parts. */
export function combinedChecksums(parts: readonly DigestedPart[]): Checksums {
  const combined: Partial<Record<CombinedAlgorithm, string>> = {}
  for (const algorithm of COMBINED) {
    const digest = combinedDigest(FIELDS[algorithm], algorithm, parts)
    if (digest !== null) combined[algorithm] = digest
  }
  return combined
}

/** Null if the algorithm is missing in a part, or there is no part. */
function combinedDigest(
  over: Field,
  algorithm: CombinedAlgorithm,
  parts: readonly DigestedPart[],
): string | null {
  let whole: Word | null = null
  // Most parts have the same size, so the last factor is kept.
  let length = { size: 0, factor: oneOf(over) }
  for (const { size, checksums } of parts) {
    const digest = checksums[algorithm]
    if (digest === undefined) return null
    const crc = readWord(digest, over)
    if (size !== length.size) length = { size, factor: byteShift(over, size) }
    whole = whole === null ? crc : sum(product(over, length.factor, whole), crc)
  }
  return whole === null ? null : writeWord(whole, over)
}

function field(bits: Field['bits'], polynomial: Word): Field {
  const x = bits === 64 ? { hi: 0x40000000, lo: 0 } : { hi: 0, lo: 0x40000000 }
  return { bits, polynomial, powers: [x] }
}

function oneOf({ bits }: Field): Word {
  return bits === 64 ? { hi: 0x80000000, lo: 0 } : { hi: 0, lo: 0x80000000 }
}

/** x^(8 * bytes). A size may have more than 32 bits, so it is halved by division, not by a shift. */
function byteShift(over: Field, bytes: number): Word {
  let shift = oneOf(over)
  let rest = bytes
  for (let power = POWER_OF_A_BYTE; rest > 0; power++) {
    if (rest % 2 === 1) shift = product(over, shift, squared(over, power))
    rest = Math.floor(rest / 2)
  }
  return shift
}

/** x^(2^power). */
function squared(over: Field, power: number): Word {
  const known = over.powers[power]
  if (known !== undefined) return known
  const root = squared(over, power - 1)
  const square = product(over, root, root)
  over.powers.push(square)
  return square
}

/** Bit by bit: where `a` has x^i, `b` times x^i is added. */
function product({ bits, polynomial }: Field, a: Word, b: Word): Word {
  let [hi, lo] = [0, 0]
  let { hi: high, lo: low } = b
  for (let bit = bits - 1; bit >= 0; bit--) {
    const isSet = bit >= 32 ? (a.hi >>> (bit - 32)) & 1 : (a.lo >>> bit) & 1
    if (isSet === 1) {
      hi ^= high
      lo ^= low
    }
    const carry = low & 1
    low = (low >>> 1) | (high << 31)
    high >>>= 1
    if (carry === 1) {
      high ^= polynomial.hi
      low ^= polynomial.lo
    }
  }
  return { hi: hi >>> 0, lo: lo >>> 0 }
}

function sum(a: Word, b: Word): Word {
  return { hi: (a.hi ^ b.hi) >>> 0, lo: (a.lo ^ b.lo) >>> 0 }
}

/** CRCs are big-endian in base64. */
function readWord(digest: string, { bits }: Field): Word {
  const bytes = Buffer.from(digest, 'base64')
  return bits === 64
    ? { hi: bytes.readUInt32BE(0), lo: bytes.readUInt32BE(4) }
    : { hi: 0, lo: bytes.readUInt32BE(0) }
}

function writeWord({ hi, lo }: Word, { bits }: Field): string {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt32BE(hi, 0)
  bytes.writeUInt32BE(lo, 4)
  return bytes.subarray(8 - bits / 8).toString('base64')
}
