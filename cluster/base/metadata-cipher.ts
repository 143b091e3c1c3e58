/**
 * Seals metadata on the disk of a node: entries of the log, rows, lines of the audit spool. docs/formats/sealed-metadata.md
 *
 *   sealed = 16 bytes: HMAC-SHA256(context, plain), cut; then plain under AES-256-CTR with these 16 bytes as the first counter block
 *
 * This is a synthetic IV (as RFC 5297, with HMAC in the place of CMAC): the 16 bytes are nonce and authenticator in one, so no counter has to survive a
 * restart, a torn end that is written again or a disk that goes back. Equal bytes at an equal place are sealed to equal bytes, and that is all that can be seen.
 *
 * Owns: this form, both ways. Knows nothing of: keys in files, what the bytes mean.
 * Rule: nothing is returned of bytes that were not sealed with this key for this context.
 */
import { type Cipheriv, createCipheriv, createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto'

/** One key each: what is sealed for one opens in no other. */
export type MetadataUse = 'log' | 'rows' | 'audit'

export const METADATA_KEY_BYTES = 32
/** How much longer sealed bytes are. */
export const SEALED_OVERHEAD = 16
const BLOCK = 16
const HMAC_BLOCK = 64
const LENGTH_BYTES = 4
/** A counter in the last four bytes that begins below this never carries into the others. */
const COUNTER_MASK = 0x7fffffff
/** From here on calls for each text cost less than a loop over its bytes. */
const LARGE_BYTES = 6_144
const SEALS = 1
const NAMES = 2

export class MetadataCipher {
  /** Distinguishes keys without revealing anything about them. */
  readonly id: string
  readonly #macKey: Buffer
  readonly #encryptionKey: Buffer
  readonly #inner: Buffer
  readonly #outer: Buffer
  /** Encrypts single blocks, without a state between calls: a cipher object for each row costs ten times the encryption. */
  readonly #blocks: Cipheriv

  /** `key`: METADATA_KEY_BYTES, random. */
  constructor(key: Uint8Array, use: MetadataUse) {
    const derive = (part: string): Buffer =>
      Buffer.from(hkdfSync('sha256', key, '', `holdfast/1/metadata/${use}/${part}`, METADATA_KEY_BYTES))
    this.id = derive('id').toString('hex', 0, 8)
    this.#macKey = derive('authenticate')
    this.#encryptionKey = derive('encrypt')
    this.#inner = padded(this.#macKey, 0x36)
    this.#outer = padded(this.#macKey, 0x5c)
    this.#blocks = createCipheriv('aes-256-ecb', this.#encryptionKey, null).setAutoPadding(false)
  }

  /** `context`: the place of the bytes; they open nowhere else. */
  seal(context: Uint8Array, plain: Uint8Array): Buffer {
    const sealed = Buffer.allocUnsafeSlow(SEALED_OVERHEAD + plain.length)
    this.#authenticator(SEALS, context, plain).copy(sealed, 0, 0, SEALED_OVERHEAD)
    this.#crypt(sealed, plain, sealed, SEALED_OVERHEAD)
    return sealed
  }

  /** Null: they were not sealed here, or have changed since. The bytes are in a buffer of their own. */
  open(context: Uint8Array, sealed: Uint8Array): Buffer | null {
    if (sealed.length < SEALED_OVERHEAD) return null
    const plain = Buffer.allocUnsafeSlow(sealed.length - SEALED_OVERHEAD)
    this.#crypt(sealed, sealed.subarray(SEALED_OVERHEAD), plain, 0)
    const authenticator = this.#authenticator(SEALS, context, plain).subarray(0, SEALED_OVERHEAD)
    return timingSafeEqual(authenticator, sealed.subarray(0, SEALED_OVERHEAD)) ? plain : null
  }

  /** 16 bytes that stand for a text: always the same, and nothing can be known of the text. */
  nameOf(text: Uint8Array): Buffer {
    return this.#authenticator(NAMES, text, NOTHING).subarray(0, BLOCK)
  }

  /** HMAC-SHA256. In two calls where the bytes are few: an object for each costs five times as much. */
  #authenticator(kind: number, context: Uint8Array, plain: Uint8Array): Buffer {
    const begin = HMAC_BLOCK + 1 + LENGTH_BYTES
    const length = begin + context.length + (plain.length < LARGE_BYTES ? plain.length : 0)
    const input = Buffer.allocUnsafe(length)
    input.set(this.#inner)
    input[HMAC_BLOCK] = kind
    input.writeUInt32LE(context.length, HMAC_BLOCK + 1)
    input.set(context, begin)
    if (plain.length >= LARGE_BYTES)
      return createHmac('sha256', this.#macKey).update(input.subarray(HMAC_BLOCK)).update(plain).digest()
    input.set(plain, begin + context.length)
    return hash('sha256', Buffer.concat([this.#outer, hash('sha256', input, 'buffer')]), 'buffer')
  }

  /** AES-256-CTR from `from` to `into`, at `at`. */
  #crypt(iv: Uint8Array, from: Uint8Array, into: Buffer, at: number): void {
    const counter = Buffer.from(iv.subarray(0, BLOCK))
    const first = counter.readUInt32BE(BLOCK - LENGTH_BYTES) & COUNTER_MASK
    counter.writeUInt32BE(first, BLOCK - LENGTH_BYTES)
    if (from.length >= LARGE_BYTES) {
      into.set(createCipheriv('aes-256-ctr', this.#encryptionKey, counter).update(from), at)
      return
    }
    const counters = Buffer.allocUnsafe(BLOCK * Math.ceil(from.length / BLOCK))
    for (let block = 0; block < counters.length; block += BLOCK) {
      counters.set(counter, block)
      counters.writeUInt32BE(first + block / BLOCK, block + BLOCK - LENGTH_BYTES)
    }
    const stream = this.#blocks.update(counters)
    for (let i = 0; i < from.length; i++) into[at + i] = (from[i] ?? 0) ^ (stream[i] ?? 0)
  }
}

const NOTHING = Buffer.alloc(0)

/** Null: nothing is sealed. */
export function cipherOf(key: Uint8Array | null | undefined, use: MetadataUse): MetadataCipher | null {
  return key === null || key === undefined ? null : new MetadataCipher(key, use)
}

function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(HMAC_BLOCK, pad)
  for (const [i, byte] of key.entries()) block[i] = byte ^ pad
  return block
}
