/**
 * Everything that is kept sealed under a master key: the keys of tenants and of the audit log, the secrets of access keys, of hooks, of the targets of replication and of backups.
 *
 * Owns: the walk over it, and sealing it again. Knows nothing of: who asks for that, and when.
 * Rules: everything that is sealed under a master key and kept in a row belongs here, or a key could be thrown away too early.
 * What is opened here is sealed again at once and never handed out.
 */
import type { AuditKeysRecord } from '../state-machine/audit/records.ts'
import { AUDIT_OWNER } from '../state-machine/base/record-ids.ts'
import { targetsOf } from '../state-machine/backup-plans/plans.ts'
import type { HookRecord } from '../state-machine/events/records.ts'
import { REWRAP_ITEMS_MAX } from '../state-machine/master-keys/limits.ts'
import { dataKeyVersionOf } from '../state-machine/tenants/data-keys.ts'
import type { AccessKeyRecord, SealedTenantKeys, TenantRecord } from '../state-machine/tenants/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { MasterKey } from './master-key.ts'
import { auditRowKeys } from '../state-machine/audit/keys.ts'
import { namedKeyOf } from './master-key-version.ts'
import {
  accessKeySecret,
  auditDataKey,
  auditDedupKey,
  backupTargetSecret,
  hookSecret,
  siteSecret,
  tenantDataKey,
  tenantDedupKey,
  tenantSiteSecret,
} from './sealing-contexts.ts'
import { pageOfAccessKeys } from '../store/reads/access-key-listing.ts'
import { eventRanges } from '../state-machine/events/keys.ts'
import { siteRanges } from '../state-machine/sites/keys.ts'
import type { SiteRecord, TenantSiteRecord } from '../state-machine/sites/records.ts'
import { tenantRanges } from '../state-machine/tenants/keys.ts'

/** What no key of this node opens. */
export interface MissingKey {
  /** Such as `tenant 'acme'`. */
  readonly owner: string
  /** The id of the master key it needs; null when the secret does not say. */
  readonly masterKeyId: string | null
}

interface TargetSecret {
  readonly name: string
  readonly secret: Uint8Array
}

export class SealedSecrets {
  readonly #masterKey: MasterKey
  readonly #state: StateReader

  constructor(masterKey: MasterKey, state: StateReader) {
    this.#masterKey = masterKey
    this.#state = state
  }

  /** The first secret found whose key is not here, or null. */
  async missing(): Promise<MissingKey | null> {
    for await (const tenants of this.#tenants()) {
      for (const tenant of tenants) {
        const { id, masterKeyId, dataKey } = tenant
        const isMissing = sealedKeysOf(tenant).some(({ sealed, context }) =>
          this.#isKeyMissing(sealed, context),
        )
        if (isMissing) return { owner: `tenant '${id}'`, masterKeyId: namedKeyOf(dataKey) ?? masterKeyId }
      }
    }
    const audit = this.#state.get(auditRowKeys.auditKeys())
    if (audit !== undefined && this.#areAuditKeysMissing(audit))
      return { owner: 'the audit log', masterKeyId: namedKeyOf(audit.dataKey) }
    for await (const accessKeys of this.#accessKeys()) {
      for (const { accessKeyId, secret } of accessKeys) {
        if (!this.#isKeyMissing(secret, accessKeySecret(accessKeyId))) continue
        return { owner: `access key '${accessKeyId}'`, masterKeyId: namedKeyOf(secret) }
      }
    }
    for await (const hooks of this.#hooks()) {
      for (const { hookId, secret } of hooks) {
        if (!this.#isKeyMissing(secret, hookSecret(hookId))) continue
        return { owner: `notification hook '${hookId}'`, masterKeyId: namedKeyOf(secret) }
      }
    }
    for await (const sites of this.#sites()) {
      for (const { bucketId, secret, bucket } of sites) {
        if (!this.#isKeyMissing(secret, siteSecret(bucketId))) continue
        return { owner: `replication of bucket '${bucket}'`, masterKeyId: namedKeyOf(secret) }
      }
    }
    for await (const sites of this.#tenantSites()) {
      for (const { tenantId, secret } of sites) {
        if (!this.#isKeyMissing(secret, tenantSiteSecret(tenantId))) continue
        return { owner: `replication of tenant '${tenantId}'`, masterKeyId: namedKeyOf(secret) }
      }
    }
    for (const { name, secret } of this.#targetSecrets()) {
      if (!this.#isKeyMissing(secret, backupTargetSecret(name))) continue
      return { owner: `backup target '${name}'`, masterKeyId: namedKeyOf(secret) }
    }
    return null
  }

  /** Page by page, what is to be proposed so that everything is sealed under the current key. */
  async *rewraps() {
    for await (const tenants of this.#tenants()) {
      const [items, lost] = split(
        tenants.filter((tenant) => this.#isOldTenant(tenant)),
        (tenant) => this.#newTenant(tenant),
      )
      const command = { type: 'rewrapTenantKeys', masterKeyId: this.#masterKey.id, items } as const
      yield { command, lost: lost.map(({ id }) => `tenant '${id}'`) }
    }
    const audit = this.#state.get(auditRowKeys.auditKeys())
    if (audit !== undefined && this.#areAuditKeysOld(audit)) {
      const [items, lost] = split([audit], (keys) => this.#newAuditKeys(keys))
      const command = { type: 'rewrapTenantKeys', masterKeyId: this.#masterKey.id, items } as const
      yield { command, lost: lost.map(() => 'the audit log') }
    }
    for await (const accessKeys of this.#accessKeys()) {
      const [items, lost] = split(
        accessKeys.filter((one) => this.#isOldSecret(one)),
        (one) => this.#newSecret(one),
      )
      const command = { type: 'rewrapAccessKeys', items } as const
      yield { command, lost: lost.map(({ accessKeyId }) => `access key '${accessKeyId}'`) }
    }
    for await (const hooks of this.#hooks()) {
      const [items, lost] = split(
        hooks.filter((one) => this.#isOldHook(one)),
        (one) => this.#newHookSecret(one),
      )
      const command = { type: 'rewrapHookSecrets', items } as const
      yield { command, lost: lost.map(({ hookId }) => `notification hook '${hookId}'`) }
    }
    yield* this.#siteRewraps()
    const [items, lost] = split(
      this.#targetSecrets().filter((one) => this.#isOldTarget(one)),
      (one) => this.#newTargetSecret(one),
    )
    if (items.length + lost.length > 0)
      yield {
        command: { type: 'rewrapBackupSecrets', items } as const,
        lost: lost.map(({ name }) => `backup target '${name}'`),
      }
  }

  /** Of the replications of buckets and of tenants. */
  async *#siteRewraps() {
    for await (const sites of this.#sites()) {
      const [items, lost] = split(
        sites.filter(
          ({ bucketId, secret }) => this.#sealer(secret, siteSecret(bucketId)) !== this.#masterKey.id,
        ),
        (one) => this.#newSiteSecret(one),
      )
      const command = { type: 'rewrapSiteSecrets', items } as const
      yield { command, lost: lost.map(({ bucket }) => `replication of bucket '${bucket}'`) }
    }
    for await (const sites of this.#tenantSites()) {
      const [items, lost] = split(
        sites.filter(
          ({ tenantId, secret }) => this.#sealer(secret, tenantSiteSecret(tenantId)) !== this.#masterKey.id,
        ),
        (one) => this.#newTenantSiteSecret(one),
      )
      const command = { type: 'rewrapTenantSiteSecrets', items } as const
      yield { command, lost: lost.map(({ tenantId }) => `replication of tenant '${tenantId}'`) }
    }
  }

  /** Pages of the replications of buckets. */
  #sites(): AsyncGenerator<readonly SiteRecord[]> {
    return pages((after) => this.#state.page(siteRanges.sites(), { after, limit: REWRAP_ITEMS_MAX }))
  }

  /** Pages of the replications of tenants. */
  #tenantSites(): AsyncGenerator<readonly TenantSiteRecord[]> {
    return pages((after) => this.#state.page(siteRanges.tenantSites(), { after, limit: REWRAP_ITEMS_MAX }))
  }

  /** Pages of tenants; those whose keys were destroyed have nothing sealed. */
  async *#tenants(): AsyncGenerator<readonly TenantRecord[]> {
    for await (const tenants of this.#allTenants()) yield tenants.filter(({ dataKey }) => dataKey.length > 0)
  }

  async *#accessKeys(): AsyncGenerator<readonly AccessKeyRecord[]> {
    for await (const tenants of this.#allTenants()) {
      for (const { id } of tenants)
        yield* pages((after) => pageOfAccessKeys(this.#state, id, { after, limit: REWRAP_ITEMS_MAX }))
    }
  }

  /** Pages of hooks; those that were removed have nothing sealed. */
  async *#hooks(): AsyncGenerator<readonly HookRecord[]> {
    for await (const hooks of pages((after) =>
      this.#state.page(eventRanges.hooks(), { after, limit: REWRAP_ITEMS_MAX }),
    ))
      yield hooks.filter(({ secret }) => secret.length > 0)
  }

  /** A bounded number; directories have none. */
  #targetSecrets(): readonly TargetSecret[] {
    return targetsOf(this.#state).flatMap(({ name, place }) =>
      place.kind === 's3' ? [{ name, secret: place.secret }] : [],
    )
  }

  #isOldTarget({ name, secret }: TargetSecret): boolean {
    return this.#sealer(secret, backupTargetSecret(name)) !== this.#masterKey.id
  }

  #newTargetSecret({ name, secret }: TargetSecret) {
    const after = this.#again(secret, backupTargetSecret(name))
    return after === null ? null : { name, before: secret, after }
  }

  #allTenants(): AsyncGenerator<readonly TenantRecord[]> {
    return pages((after) => this.#state.page(tenantRanges.tenants(), { after, limit: REWRAP_ITEMS_MAX }))
  }

  #isOldTenant(tenant: TenantRecord): boolean {
    const { id: current } = this.#masterKey
    return sealedKeysOf(tenant).some(({ sealed, context }) => this.#sealer(sealed, context) !== current)
  }

  #newTenant(tenant: TenantRecord) {
    const [dataKey, dedupKey, formerDataKey] = sealedKeysOf(tenant).map(({ sealed, context }) =>
      this.#again(sealed, context),
    )
    if (!dataKey || !dedupKey || formerDataKey === null) return null
    const before = keysOf(tenant.dataKey, tenant.dedupKey, tenant.formerKey?.dataKey)
    return { tenantId: tenant.id, before, after: keysOf(dataKey, dedupKey, formerDataKey) }
  }

  #areAuditKeysMissing({ dataKey, dedupKey }: AuditKeysRecord): boolean {
    return this.#isKeyMissing(dataKey, auditDataKey()) || this.#isKeyMissing(dedupKey, auditDedupKey())
  }

  #areAuditKeysOld({ dataKey, dedupKey }: AuditKeysRecord): boolean {
    const sealers = [this.#sealer(dataKey, auditDataKey()), this.#sealer(dedupKey, auditDedupKey())]
    return sealers.some((sealer) => sealer !== this.#masterKey.id)
  }

  #newAuditKeys({ dataKey, dedupKey }: AuditKeysRecord) {
    const newDataKey = this.#again(dataKey, auditDataKey())
    const newDedupKey = this.#again(dedupKey, auditDedupKey())
    if (newDataKey === null || newDedupKey === null) return null
    const after = { dataKey: newDataKey, dedupKey: newDedupKey }
    return { tenantId: AUDIT_OWNER, before: { dataKey, dedupKey }, after }
  }

  #isOldSecret({ accessKeyId, secret }: AccessKeyRecord): boolean {
    return this.#sealer(secret, accessKeySecret(accessKeyId)) !== this.#masterKey.id
  }

  #newSecret({ accessKeyId, secret }: AccessKeyRecord) {
    const after = this.#again(secret, accessKeySecret(accessKeyId))
    return after === null ? null : { accessKeyId, before: secret, after }
  }

  #isOldHook({ hookId, secret }: HookRecord): boolean {
    return this.#sealer(secret, hookSecret(hookId)) !== this.#masterKey.id
  }

  #newHookSecret({ bucketId, hookId, secret }: HookRecord) {
    const after = this.#again(secret, hookSecret(hookId))
    return after === null ? null : { bucketId, hookId, before: secret, after }
  }

  #newSiteSecret({ bucketId, secret }: SiteRecord) {
    const after = this.#again(secret, siteSecret(bucketId))
    return after === null ? null : { bucketId, before: secret, after }
  }

  #newTenantSiteSecret({ tenantId, secret }: TenantSiteRecord) {
    const after = this.#again(secret, tenantSiteSecret(tenantId))
    return after === null ? null : { tenantId, before: secret, after }
  }

  /** What names a key that is here and does not open is damaged, which no key file repairs. */
  #isKeyMissing(sealed: Uint8Array, context: string): boolean {
    const named = namedKeyOf(sealed)
    return named === null ? this.#sealer(sealed, context) === null : !this.#masterKey.ids.includes(named)
  }

  #sealer(sealed: Uint8Array, context: string): string | null {
    return this.#masterKey.sealerOf(sealed, context)
  }

  #again(sealed: Uint8Array, context: string): Uint8Array | null {
    if (this.#sealer(sealed, context) === null) return null
    return this.#masterKey.seal(this.#masterKey.open(sealed, context), context)
  }
}

interface SealedKey {
  readonly sealed: Uint8Array
  readonly context: string
}

/** The data key, the key of chunk ids, and during an exchange the former data key. */
function sealedKeysOf(tenant: TenantRecord): readonly SealedKey[] {
  const { id, dataKey, dedupKey, formerKey } = tenant
  const keys = [
    { sealed: dataKey, context: tenantDataKey(id, dataKeyVersionOf(tenant)) },
    { sealed: dedupKey, context: tenantDedupKey(id) },
  ]
  if (formerKey === undefined) return keys
  return [...keys, { sealed: formerKey.dataKey, context: tenantDataKey(id, formerKey.version) }]
}

function keysOf(
  dataKey: Uint8Array,
  dedupKey: Uint8Array,
  formerDataKey: Uint8Array | undefined,
): SealedTenantKeys {
  return { dataKey, dedupKey, ...(formerDataKey === undefined ? {} : { formerDataKey }) }
}

/** What `make` made, and what it could not. */
function split<T, M>(records: readonly T[], make: (record: T) => M | null): [made: M[], lost: T[]] {
  const made: M[] = []
  const lost: T[] = []
  for (const record of records) {
    const one = make(record)
    if (one === null) lost.push(record)
    else made.push(one)
  }
  return [made, lost]
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
