/**
 * Everything that is kept sealed under a master key: the keys of tenants and the secrets of access keys.
 *
 * Owns: the walk over it, and sealing it anew. Knows nothing of: who asks for that, and when.
 * Rules: whatever is sealed under a master key and kept in a row belongs here, or a key could be thrown away too early.
 * What is opened here is sealed again at once and handed to nobody.
 */
import type { AccessKeyRecord, TenantRecord } from '../state-machine/records.ts'
import { REWRAP_ITEMS_MAX } from '../state-machine/records.ts'
import type { StateReader } from '../store/state-reader.ts'
import type { MasterKey } from './master-key.ts'
import { namedKeyOf } from './master-key-version.ts'
import { accessKeySecret, tenantDataKey, tenantDedupKey } from './sealing-contexts.ts'

type Readable = Pick<StateReader, 'tenants' | 'accessKeys'>

/** What no key of this node opens. */
export interface MissingKey {
  /** Such as `tenant 'acme'`. */
  readonly owner: string
  /** The id of the master key it needs; null when the secret does not say. */
  readonly masterKeyId: string | null
}

export class SealedSecrets {
  readonly #masterKey: MasterKey
  readonly #state: Readable

  constructor(masterKey: MasterKey, state: Readable) {
    this.#masterKey = masterKey
    this.#state = state
  }

  /** The first one found, or null. */
  async missing(): Promise<MissingKey | null> {
    for await (const tenants of this.#tenants()) {
      for (const { id, masterKeyId, dataKey, dedupKey } of tenants) {
        const opens = this.#sealer(dataKey, tenantDataKey(id)) && this.#sealer(dedupKey, tenantDedupKey(id))
        if (!opens) return { owner: `tenant '${id}'`, masterKeyId: namedKeyOf(dataKey) ?? masterKeyId }
      }
    }
    for await (const accessKeys of this.#accessKeys()) {
      for (const { accessKeyId, secret } of accessKeys) {
        if (this.#sealer(secret, accessKeySecret(accessKeyId)) !== null) continue
        return { owner: `access key '${accessKeyId}'`, masterKeyId: namedKeyOf(secret) }
      }
    }
    return null
  }

  /** Commands that seal under the current key what is sealed under another; none when there is nothing to do. */
  async *rewraps() {
    for await (const tenants of this.#tenants()) {
      const items = tenants
        .filter((tenant) => this.#isOldTenant(tenant))
        .map((tenant) => this.#newTenant(tenant))
      const masterKeyId = this.#masterKey.id
      if (items.length > 0) yield { type: 'rewrapTenantKeys', masterKeyId, items } as const
    }
    for await (const accessKeys of this.#accessKeys()) {
      const items = accessKeys.filter((one) => this.#isOldSecret(one)).map((one) => this.#newSecret(one))
      if (items.length > 0) yield { type: 'rewrapAccessKeys', items } as const
    }
  }

  /** Pages of tenants; those whose keys were destroyed have nothing sealed. */
  async *#tenants(): AsyncGenerator<readonly TenantRecord[]> {
    for await (const tenants of this.#allTenants()) yield tenants.filter(({ dataKey }) => dataKey.length > 0)
  }

  async *#accessKeys(): AsyncGenerator<readonly AccessKeyRecord[]> {
    for await (const tenants of this.#allTenants()) {
      for (const { id } of tenants)
        yield* pages((after) => this.#state.accessKeys(id, after, REWRAP_ITEMS_MAX))
    }
  }

  #allTenants(): AsyncGenerator<readonly TenantRecord[]> {
    return pages((after) => this.#state.tenants(after, REWRAP_ITEMS_MAX))
  }

  #isOldTenant({ id, dataKey, dedupKey }: TenantRecord): boolean {
    const { id: current } = this.#masterKey
    const sealers = [this.#sealer(dataKey, tenantDataKey(id)), this.#sealer(dedupKey, tenantDedupKey(id))]
    return sealers.some((sealer) => sealer !== current)
  }

  #newTenant({ id: tenantId, dataKey, dedupKey }: TenantRecord) {
    const after = {
      dataKey: this.#again(dataKey, tenantDataKey(tenantId)),
      dedupKey: this.#again(dedupKey, tenantDedupKey(tenantId)),
    }
    return { tenantId, before: { dataKey, dedupKey }, after }
  }

  #isOldSecret({ accessKeyId, secret }: AccessKeyRecord): boolean {
    return this.#sealer(secret, accessKeySecret(accessKeyId)) !== this.#masterKey.id
  }

  #newSecret({ accessKeyId, secret }: AccessKeyRecord) {
    return { accessKeyId, before: secret, after: this.#again(secret, accessKeySecret(accessKeyId)) }
  }

  #sealer(sealed: Uint8Array, context: string): string | null {
    return this.#masterKey.sealerOf(sealed, context)
  }

  #again(sealed: Uint8Array, context: string): Uint8Array {
    return this.#masterKey.seal(this.#masterKey.open(sealed, context), context)
  }
}

async function* pages<T>(
  read: (after: string) => Promise<{ readonly items: readonly T[]; readonly next: string | null }>,
): AsyncGenerator<readonly T[]> {
  let after: string | null = ''
  while (after !== null) {
    const page: { readonly items: readonly T[]; readonly next: string | null } = await read(after)
    yield page.items
    after = page.next
  }
}
