/**
 * The keys of one tenant, and what is derived from them for its chunks. docs/formats/sealed-chunk.md
 *
 * Owns: chunk ids, chunk keys, salts. Knows nothing of: the master key, the sealed format. Loaded by sealing threads too.
 * Rules: a chunk id is an HMAC of the plain bytes under the tenant's own key, so equal chunks of a tenant are found
 * again and nobody can learn whether another tenant has them. No derived key seals two different texts.
 */
import assert from 'node:assert/strict'
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { ChunkId } from '../state-machine/base/record-ids.ts'

const KEY_BYTES = 32

/** What another thread needs to make the same TenantKeys; key objects travel without their bytes being copied. */
export interface TenantSecrets {
  readonly dataKey: KeyObject
  readonly dedupKey: KeyObject
}

export class TenantKeys {
  readonly secrets: TenantSecrets

  constructor(secrets: TenantSecrets) {
    const sizes = [secrets.dataKey.symmetricKeySize, secrets.dedupKey.symmetricKeySize]
    assert.deepEqual(sizes, [KEY_BYTES, KEY_BYTES], 'a tenant key has 32 bytes')
    this.secrets = secrets
  }

  static fromBytes(dataKey: Uint8Array, dedupKey: Uint8Array): TenantKeys {
    return new TenantKeys({ dataKey: createSecretKey(dataKey), dedupKey: createSecretKey(dedupKey) })
  }

  chunkIdOf(plain: Uint8Array): ChunkId {
    return createHmac('sha256', this.secrets.dedupKey).update(plain).digest('hex')
  }

  /** The key that seals the plain bytes of this chunk and nothing else. */
  chunkKey(id: ChunkId): KeyObject {
    return this.#derive('', `holdfast/1/chunk/${id}`)
  }

  /** The key for what `salt` was made from, and for nothing else. */
  compressedChunkKey(id: ChunkId, salt: Uint8Array): KeyObject {
    return this.#derive(salt, `holdfast/2/chunk/${id}`)
  }

  /**
   * Names a text under a key of the tenant. A plain digest would let whoever sees the disk test a guess of the content
   * by compressing the guess.
   */
  saltOf(parts: readonly Uint8Array[]): Buffer {
    const hmac = createHmac('sha256', this.#derive('', 'holdfast/2/chunk-salt'))
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  }

  #derive(salt: Uint8Array | string, info: string): KeyObject {
    const key = hkdfSync('sha256', this.secrets.dataKey, salt, info, KEY_BYTES)
    return createSecretKey(new Uint8Array(key))
  }
}
