/**
 * Keys of tenants, opened with the master key and cached.
 *
 * Owns: which tenants' keys are in memory. Knows nothing of: keys derived from them (tenant-keys.ts).
 * Rule: the row decides. Keys that differ from the row are not used again and not kept.
 */
import type { MasterKey } from '../access/master-key.ts'
import { tenantDataKey, tenantDedupKey } from '../access/sealing-contexts.ts'
import { Refusal } from '../base/refusal.ts'
import type { TenantId } from '../state-machine/base/record-ids.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import { TenantKeys } from './tenant-keys.ts'

const TENANTS_KEPT_MAX = 256

interface Opened {
  readonly sealedDataKey: Uint8Array
  readonly keys: TenantKeys
}

export class ChunkKeys {
  readonly #masterKey: MasterKey
  /** Least recently used first. */
  readonly #opened = new Map<TenantId, Opened>()

  constructor(masterKey: MasterKey) {
    this.#masterKey = masterKey
  }

  of(tenant: TenantRecord): TenantKeys {
    const kept = this.#opened.get(tenant.id)
    this.#opened.delete(tenant.id)
    // The row may have other keys now: they were sealed again, or destroyed.
    const isCurrent = kept !== undefined && Buffer.compare(kept.sealedDataKey, tenant.dataKey) === 0
    const opened = isCurrent ? kept : { sealedDataKey: tenant.dataKey, keys: this.#open(tenant) }
    this.#opened.set(tenant.id, opened)
    this.#forgetOldest()
    return opened.keys
  }

  /** Removes keys whose row has changed or is gone from memory, even if the tenant is not used again. */
  forgetChanged(rowOf: (id: TenantId) => TenantRecord | undefined): void {
    for (const [id, { sealedDataKey }] of this.#opened) {
      const row = rowOf(id)
      if (row === undefined || Buffer.compare(row.dataKey, sealedDataKey) !== 0) this.#opened.delete(id)
    }
  }

  #open(tenant: TenantRecord): TenantKeys {
    // shredTenant has destroyed them.
    if (tenant.dataKey.length === 0) {
      throw new Refusal(
        'tenant_disabled',
        `The keys of tenant '${tenant.id}' were destroyed; its objects cannot be opened again`,
      )
    }
    return TenantKeys.fromBytes(
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
