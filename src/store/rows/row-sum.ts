/**
 * The running checksum of the state: the sum of the hashes of all rows. docs/formats/row.md
 *
 * Owns: the sum modulo 2^256 of one SHA-256 for each row. Knows nothing of: which rows there are, where the sum is kept.
 * Rules: it depends only on the set of rows, not on their order or history; a replaced row is subtracted with the value that was
 * read and verified, never with an assumed one.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { framedBytes, frameInto, frameRow } from './row-block.ts'

export const SUM_BYTES = 32
const LIMBS = 8
const LIMB = 2 ** 32

/** 32 bytes as text of one character each: a text of this length lies in the heap, and costs half of what a buffer with memory of its own does. */
export type RowHash = string

/** What most rows with their keys fit into; a larger one is framed in memory of its own. Bytes. */
const FRAME_BYTES = 16 * 1024
const frame = Buffer.allocUnsafeSlow(FRAME_BYTES)

/** Hash of a row in the form of a block: the lengths make a byte that moves from the key to the value change the hash. */
export function rowHash(key: Uint8Array, value: Uint8Array): RowHash {
  const bytes = framedBytes(key, value)
  const framed = bytes <= FRAME_BYTES ? frame.subarray(0, frameInto(frame, key, value)) : frameRow(key, value)
  return hash('sha256', framed, 'binary')
}

export class RowSum {
  /** The lowest limb first. */
  readonly #limbs = new Uint32Array(LIMBS)

  static of(bytes: Uint8Array): RowSum {
    assert(bytes.length === SUM_BYTES, 'a sum has 32 bytes')
    const sum = new RowSum()
    sum.add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
    return sum
  }

  /** `hash`: little-endian like the sum. */
  add(hash: RowHash): void {
    let carry = 0
    for (let limb = 0; limb < LIMBS; limb++) {
      const total = (this.#limbs[limb] ?? 0) + limbOf(hash, limb) + carry
      this.#limbs[limb] = total
      carry = total >= LIMB ? 1 : 0
    }
  }

  subtract(hash: RowHash): void {
    let borrow = 0
    for (let limb = 0; limb < LIMBS; limb++) {
      const rest = (this.#limbs[limb] ?? 0) - limbOf(hash, limb) - borrow
      this.#limbs[limb] = rest
      borrow = rest < 0 ? 1 : 0
    }
  }

  copy(): RowSum {
    return RowSum.of(this.bytes())
  }

  bytes(): Buffer {
    const bytes = Buffer.allocUnsafe(SUM_BYTES)
    this.#limbs.forEach((value, limb) => bytes.writeUInt32LE(value, limb * 4))
    return bytes
  }
}

function limbOf(hash: RowHash, limb: number): number {
  const at = limb * 4
  const low = hash.charCodeAt(at) | (hash.charCodeAt(at + 1) << 8) | (hash.charCodeAt(at + 2) << 16)
  return low + hash.charCodeAt(at + 3) * 2 ** 24
}
