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
import { type Cipheriv, createCipheriv, createHmac, hash, hkdfSync } from 'node:crypto'

/** One key each: what is sealed for one opens in no other. */
export type MetadataUse = 'log' | 'rows' | 'audit'

export const METADATA_KEY_BYTES = 32
/** In a data directory, made before anything else in it. */
export const METADATA_KEY_FILE = 'metadata-key.json'
/** How much longer sealed bytes are. */
export const SEALED_OVERHEAD = 16
const BLOCK = 16
const HMAC_BLOCK = 64
const HASH_BYTES = 32
const LENGTH_BYTES = 4
/** A counter in the last four bytes that begins below this never carries into the others. */
const COUNTER_MASK = 0x7fffffff
/** From here on calls for each text cost less than a loop over its bytes. */
const LARGE_BYTES = 3_072
const HEAD_BYTES = HMAC_BLOCK + 1 + LENGTH_BYTES
/** What is authenticated, with its context: longer ones take the calls of the platform. */
const SCRATCH_BYTES = 8_192
const SEALS = 1
const NAMES = 2

export class MetadataCipher {
  /** Distinguishes keys without revealing anything about them. */
  readonly id: string
  readonly #macKey: Buffer
  readonly #encryptionKey: Buffer
  /** The inner block of HMAC, and behind it room for what is authenticated. */
  readonly #inner: Buffer = Buffer.alloc(SCRATCH_BYTES)
  /** The outer block of HMAC, and behind it room for the inner hash. */
  readonly #outer: Buffer = Buffer.alloc(HMAC_BLOCK + HASH_BYTES)
  readonly #counters: Buffer = Buffer.alloc(LARGE_BYTES)
  /** Encrypts single blocks, without a state between calls: a cipher object for each row costs ten times the encryption. */
  readonly #blocks: Cipheriv

  /** `key`: METADATA_KEY_BYTES, random. */
  constructor(key: Uint8Array, use: MetadataUse) {
    const derive = (part: string): Buffer =>
      Buffer.from(hkdfSync('sha256', key, '', `holdfast/1/metadata/${use}/${part}`, METADATA_KEY_BYTES))
    this.id = derive('id').toString('hex', 0, 8)
    this.#macKey = derive('authenticate')
    this.#encryptionKey = derive('encrypt')
    pad(this.#inner, this.#macKey, 0x36)
    pad(this.#outer, this.#macKey, 0x5c)
    this.#blocks = createCipheriv('aes-256-ecb', this.#encryptionKey, null).setAutoPadding(false)
  }

  /** `context`: the place of the bytes; they open nowhere else. */
  seal(context: Uint8Array, plain: Uint8Array): Buffer {
    const sealed = Buffer.allocUnsafe(SEALED_OVERHEAD + plain.length)
    sealed.write(this.#authenticator(SEALS, context, plain), 0, SEALED_OVERHEAD, 'latin1')
    this.#crypt(sealed, plain, sealed, SEALED_OVERHEAD)
    return sealed
  }

  /** Null: they were not sealed here, or have changed since. */
  open(context: Uint8Array, sealed: Buffer): Buffer | null {
    if (sealed.length < SEALED_OVERHEAD) return null
    const plain = Buffer.allocUnsafe(sealed.length - SEALED_OVERHEAD)
    this.#crypt(sealed, sealed.subarray(SEALED_OVERHEAD), plain, 0)
    const authenticator = this.#authenticator(SEALS, context, plain)
    return sealed.toString('latin1', 0, SEALED_OVERHEAD) === authenticator ? plain : null
  }

  /** 16 bytes that stand for a text, as latin1: always the same, and nothing can be known of the text. */
  nameOf(text: Uint8Array): string {
    return this.#authenticator(NAMES, text, NOTHING)
  }

  /** HMAC-SHA256, cut, as latin1. In two calls where the bytes are few: an object for each costs ten times as much, and a buffer for each hash twice. */
  #authenticator(kind: number, context: Uint8Array, plain: Uint8Array): string {
    const isLarge = HEAD_BYTES + context.length + plain.length > SCRATCH_BYTES
    const input = isLarge ? Buffer.alloc(HEAD_BYTES + context.length) : this.#inner
    input[HMAC_BLOCK] = kind
    input.writeUInt32LE(context.length, HMAC_BLOCK + 1)
    input.set(context, HEAD_BYTES)
    if (isLarge) {
      const hmac = createHmac('sha256', this.#macKey).update(input.subarray(HMAC_BLOCK)).update(plain)
      return hmac.digest('binary').slice(0, SEALED_OVERHEAD)
    }
    input.set(plain, HEAD_BYTES + context.length)
    const inner = hash('sha256', input.subarray(0, HEAD_BYTES + context.length + plain.length), 'binary')
    this.#outer.write(inner, HMAC_BLOCK, HASH_BYTES, 'latin1')
    return hash('sha256', this.#outer, 'binary').slice(0, SEALED_OVERHEAD)
  }

  /** AES-256-CTR from `from` to `into`, at `at`. */
  #crypt(iv: Buffer, from: Uint8Array, into: Buffer, at: number): void {
    const counters = this.#counters
    counters.set(iv.subarray(0, BLOCK))
    const first = counters.readUInt32BE(BLOCK - LENGTH_BYTES) & COUNTER_MASK
    counters.writeUInt32BE(first, BLOCK - LENGTH_BYTES)
    if (from.length > LARGE_BYTES) {
      into.set(
        createCipheriv('aes-256-ctr', this.#encryptionKey, counters.subarray(0, BLOCK)).update(from),
        at,
      )
      return
    }
    const end = BLOCK * Math.ceil(from.length / BLOCK)
    for (let block = BLOCK; block < end; block += BLOCK) {
      counters.copyWithin(block, 0, BLOCK)
      counters.writeUInt32BE(first + block / BLOCK, block + BLOCK - LENGTH_BYTES)
    }
    const stream = this.#blocks.update(counters.subarray(0, end))
    for (let i = 0; i < from.length; i++) into[at + i] = (from[i] ?? 0) ^ (stream[i] ?? 0)
  }
}

const NOTHING = Buffer.alloc(0)

/** Null: nothing is sealed. */
export function cipherOf(key: Uint8Array | null | undefined, use: MetadataUse): MetadataCipher | null {
  return key === null || key === undefined ? null : new MetadataCipher(key, use)
}

function pad(block: Buffer, key: Buffer, byte: number): void {
  block.fill(byte, 0, HMAC_BLOCK)
  for (const [i, part] of key.entries()) block[i] = part ^ byte
}
