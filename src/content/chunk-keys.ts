/**
 * The keys of one tenant's chunks, opened with the master key and kept for a while.
 *
 * Owns: chunk ids and per-chunk keys. Knows nothing of: the sealed format, other uses of the master key.
 * Rule: a chunk id is an HMAC of the plain bytes under the tenant's own key, so equal chunks of a tenant are found
 * again and nobody can learn whether another tenant has them.
 */
import assert from 'node:assert/strict'
import { createHmac, createSecretKey, hkdfSync, type Hmac, type KeyObject } from 'node:crypto'
import type { MasterKey } from '../access/master-key.ts'
import { tenantDataKey, tenantDedupKey } from '../access/sealing-contexts.ts'
import type { ChunkId, TenantId, TenantRecord } from '../state-machine/records.ts'

const KEY_BYTES = 32
const TENANTS_KEPT_MAX = 256

export class TenantKeys {
  readonly #dataKey: KeyObject
  readonly #dedupKey: KeyObject

  constructor(dataKey: Uint8Array, dedupKey: Uint8Array) {
    assert(dataKey.length === KEY_BYTES && dedupKey.length === KEY_BYTES, 'a tenant key has 32 bytes')
    this.#dataKey = createSecretKey(dataKey)
    this.#dedupKey = createSecretKey(dedupKey)
  }

  /** Feed it the plain bytes; its hex digest is the chunk id. */
  startChunkId(): Hmac {
    return createHmac('sha256', this.#dedupKey)
  }

  chunkIdOf(plain: Uint8Array): ChunkId {
    return this.startChunkId().update(plain).digest('hex')
  }

  /** The key that seals this chunk and no other. */
  chunkKey(id: ChunkId): KeyObject {
    const key = hkdfSync('sha256', this.#dataKey, '', `holdfast/1/chunk/${id}`, KEY_BYTES)
    return createSecretKey(new Uint8Array(key))
  }
}

interface Opened {
  readonly sealedDataKey: Uint8Array
  readonly keys: TenantKeys
}

export class ChunkKeys {
  readonly #masterKey: MasterKey
  /** In the order of last use, longest ago first. */
  readonly #opened = new Map<TenantId, Opened>()

  constructor(masterKey: MasterKey) {
    this.#masterKey = masterKey
  }

  of(tenant: TenantRecord): TenantKeys {
    const kept = this.#opened.get(tenant.id)
    this.#opened.delete(tenant.id)
    // A tenant deleted and made again under the same id has other keys.
    const isCurrent = kept !== undefined && Buffer.compare(kept.sealedDataKey, tenant.dataKey) === 0
    const opened = isCurrent ? kept : { sealedDataKey: tenant.dataKey, keys: this.#open(tenant) }
    this.#opened.set(tenant.id, opened)
    this.#forgetOldest()
    return opened.keys
  }

  #open(tenant: TenantRecord): TenantKeys {
    return new TenantKeys(
      this.#masterKey.open(tenant.dataKey, tenantDataKey(tenant.id)),
      this.#masterKey.open(tenant.dedupKey, tenantDedupKey(tenant.id)),
    )
  }

  #forgetOldest(): void {
    if (this.#opened.size <= TENANTS_KEPT_MAX) return
    for (const oldest of this.#opened.keys()) {
      this.#opened.delete(oldest)
      return
    }
  }
}
