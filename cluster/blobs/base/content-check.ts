/**
 * Checks the bytes of a stream against a stated length and checksum, piece by piece.
 *
 * Owns: length and digest of one blob in transit. Knows nothing of: where the bytes go.
 * Rules: `finish` is called before a name refers to the bytes. Where the sender gave a CRC-32C, the bytes are compared with that: it finds
 * what a wire or a memory spoils, and the checksum, which scrubs and repairs compare, is only stored.
 */
import { createHash, type Hash } from 'node:crypto'
import { crc32c } from '@node-rs/crc32'
import type { BlobName } from '../../base/types.ts'
import { fileNameOf, isChecksum } from './blob-name.ts'
import { type BlobContent, BlobWriteError, type ExpectedContent } from './blob-store.ts'

export class ContentCheck {
  readonly #name: BlobName
  readonly #expected: ExpectedContent
  /** Null: the CRC is compared instead. */
  readonly #hash: Hash | null
  #crc = 0
  #size = 0

  /** Throws TypeError when `expected` is not a valid size and checksum. */
  constructor(name: BlobName, expected: ExpectedContent) {
    assertContent(expected)
    this.#name = name
    this.#expected = expected
    this.#hash = expected.crc32c === undefined ? createHash('sha256') : null
  }

  /** Throws BlobWriteError `size_mismatch` as soon as there are too many bytes. */
  add(piece: Uint8Array): void {
    this.#size += piece.length
    if (this.#size > this.#expected.size) throw this.#sizeMismatch('more')
    if (this.#hash === null) this.#crc = crc32c(piece, this.#crc)
    else this.#hash.update(piece)
  }

  /** Throws BlobWriteError `size_mismatch` or `checksum_mismatch`. */
  finish(): void {
    if (this.#size !== this.#expected.size) throw this.#sizeMismatch(String(this.#size))
    const { checksum, crc32c: crc } = this.#expected
    if (this.#hash === null ? this.#crc === crc : this.#hash.digest('hex') === checksum) return
    const blob = `blob "${fileNameOf(this.#name)}"`
    throw new BlobWriteError(
      'checksum_mismatch',
      `Cannot write ${blob}: its bytes do not match their checksum`,
    )
  }

  #sizeMismatch(found: string): BlobWriteError {
    const blob = `blob "${fileNameOf(this.#name)}"`
    return new BlobWriteError(
      'size_mismatch',
      `Cannot write ${blob}: ${found} bytes instead of ${this.#expected.size}`,
    )
  }
}

export function assertContent(expected: BlobContent): void {
  if (!Number.isSafeInteger(expected.size) || expected.size < 0) {
    throw new TypeError(`Invalid blob size ${String(expected.size)}`)
  }
  if (!isChecksum(expected.checksum))
    throw new TypeError('Invalid blob checksum: not 64 lower-case hex digits')
}
