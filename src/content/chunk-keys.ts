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
import { dataKeyVersionOf } from '../state-machine/tenants/data-keys.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import { KeyRing } from './key-ring.ts'
import { TenantKeys } from './tenant-keys.ts'

const TENANTS_KEPT_MAX = 256
const NO_KEY = new Uint8Array(0)

type SealedKeys = Pick<TenantRecord, 'dataKey' | 'formerKey'>

interface Opened extends SealedKeys {
  readonly ring: KeyRing
}

export class ChunkKeys {
  readonly #masterKey: Pick<MasterKey, 'open'>
  /** Least recently used first. */
  readonly #opened = new Map<TenantId, Opened>()

  constructor(masterKey: Pick<MasterKey, 'open'>) {
    this.#masterKey = masterKey
  }

  of(tenant: TenantRecord): KeyRing {
    const kept = this.#opened.get(tenant.id)
    this.#opened.delete(tenant.id)
    // The row may have other keys now: they were sealed again, exchanged, or destroyed.
    const opened = kept !== undefined && areSame(kept, tenant) ? kept : this.#open(tenant)
    this.#opened.set(tenant.id, opened)
    this.#forgetOldest()
    return opened.ring
  }

  /** Removes keys whose row has changed or is gone from memory, even if the tenant is not used again. */
  forgetChanged(rowOf: (id: TenantId) => TenantRecord | undefined): void {
    for (const [id, opened] of this.#opened) {
      const row = rowOf(id)
      if (row === undefined || !areSame(opened, row)) this.#opened.delete(id)
    }
  }

  #open(tenant: TenantRecord): Opened {
    const { id, dataKey, formerKey } = tenant
    // shredTenant has destroyed them.
    if (dataKey.length === 0) {
      throw new Refusal(
        'tenant_disabled',
        `The keys of tenant '${id}' were destroyed; its objects cannot be opened again`,
      )
    }
    const version = dataKeyVersionOf(tenant)
    const former =
      formerKey === undefined
        ? null
        : { version: formerKey.version, keys: this.#keys(tenant, formerKey.dataKey, formerKey.version) }
    const ring = new KeyRing({ version, keys: this.#keys(tenant, dataKey, version) }, former)
    return { dataKey, ...(formerKey === undefined ? {} : { formerKey }), ring }
  }

  #keys({ id, dedupKey }: TenantRecord, dataKey: Uint8Array, version: number): TenantKeys {
    return TenantKeys.fromBytes(
      this.#masterKey.open(dataKey, tenantDataKey(id, version)),
      this.#masterKey.open(dedupKey, tenantDedupKey(id)),
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

function areSame(a: SealedKeys, b: SealedKeys): boolean {
  const isSame = Buffer.compare(a.dataKey, b.dataKey) === 0
  return isSame && Buffer.compare(a.formerKey?.dataKey ?? NO_KEY, b.formerKey?.dataKey ?? NO_KEY) === 0
}
