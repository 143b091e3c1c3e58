/**
 * The keys of one tenant, and the keys and ids that are derived from them for its chunks. docs/formats/sealed-chunk.md
 *
 * Owns: chunk ids, chunk keys, salts. Knows nothing of: the master key, the sealed format. Sealing threads load it too.
 * Rules: a chunk id is an HMAC of the plain bytes under the tenant's own key, so equal chunks of a tenant are found again, and
 * no tenant can learn whether another one has them. No derived key seals two different texts.
 */
import assert from 'node:assert/strict'
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { ChunkId } from '../state-machine/base/record-ids.ts'

const KEY_BYTES = 32
/** As many zeros as the hash has bytes. [RFC 5869 2.2] */
const NO_SALT = Buffer.alloc(32)
const FIRST_BLOCK = Buffer.of(1)

/** What another thread needs to make the same TenantKeys; passing key objects does not copy their bytes. */
export interface TenantSecrets {
  readonly dataKey: KeyObject
  readonly dedupKey: KeyObject
}

export class TenantKeys {
  readonly secrets: TenantSecrets
  /** The first half of HKDF without a salt, which is the same for all keys of the tenant. [RFC 5869 2.2] */
  #unsalted: KeyObject | null = null

  constructor(secrets: TenantSecrets) {
    const sizes = [secrets.dataKey.symmetricKeySize, secrets.dedupKey.symmetricKeySize]
    assert.deepEqual(sizes, [KEY_BYTES, KEY_BYTES], 'a tenant key has 32 bytes')
    this.secrets = secrets
  }

  static fromBytes(dataKey: Uint8Array, dedupKey: Uint8Array): TenantKeys {
    return new TenantKeys({ dataKey: createSecretKey(dataKey), dedupKey: createSecretKey(dedupKey) })
  }

  /** Of the plain bytes, in any number of pieces. */
  chunkIdOf(...plain: readonly Uint8Array[]): ChunkId {
    const hmac = createHmac('sha256', this.secrets.dedupKey)
    for (const piece of plain) hmac.update(piece)
    return hmac.digest('hex')
  }

  /** The key that seals only the plain bytes of this chunk. */
  chunkKey(id: ChunkId): KeyObject {
    return this.#expand(`holdfast/1/chunk/${id}`)
  }

  /** The key that seals only the texts from which `salt` was made. */
  compressedChunkKey(id: ChunkId, salt: Uint8Array): KeyObject {
    return this.#derive(salt, `holdfast/2/chunk/${id}`)
  }

  /**
   * An HMAC of a text under a key of the tenant. With a plain digest a reader of the disk could test a guess of the content by
   * compressing the guess.
   */
  saltOf(parts: readonly Uint8Array[]): Buffer {
    const hmac = createHmac('sha256', this.#expand('holdfast/2/chunk-salt'))
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  }

  /** HKDF-SHA256 without a salt, in one HMAC: the key is as long as the hash, so the second half has one block. [RFC 5869 2.3] */
  #expand(info: string): KeyObject {
    this.#unsalted ??= this.#extract()
    return createSecretKey(createHmac('sha256', this.#unsalted).update(info).update(FIRST_BLOCK).digest())
  }

  #extract(): KeyObject {
    const dataKey = this.secrets.dataKey.export()
    const unsalted = createSecretKey(createHmac('sha256', NO_SALT).update(dataKey).digest())
    dataKey.fill(0)
    return unsalted
  }

  #derive(salt: Uint8Array, info: string): KeyObject {
    const key = hkdfSync('sha256', this.secrets.dataKey, salt, info, KEY_BYTES)
    return createSecretKey(new Uint8Array(key))
  }
}
