/**
 * Which data key of a tenant seals what, and how much is left under the former one.
 *
 * Owns: the count of what is sealed with the present key. Knows nothing of: keys as bytes, how anything is sealed.
 * Rules: it is counted in the entry that changes the row that is counted, and only while the tenant has a former key; a tenant that has none has
 * everything sealed with its present key.
 */
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { View } from '../base/view.ts'
import { tenantKeys } from './keys.ts'
import type { SealedRecord, TenantRecord } from './records.ts'

/** The version of every key and row that says none. */
export const FIRST_KEY_VERSION = 1

export const NOTHING_SEALED: SealedRecord = { chunks: 0, storedBytes: 0, inlineBytes: 0 }

/** Of a chunk that is sealed with a key that only its client has: no version of the tenant's key, and none that an exchange concerns. */
export const CUSTOMER_KEY_VERSION = 0

/** Anything that may say which version of the data key seals it. */
interface Sealed {
  readonly keyVersion?: number
}

/** The member of a row or command; absent for the first version, so that rows of tenants that never exchanged stay as they are. */
export function keyVersionMember(version: number): Sealed {
  return version === FIRST_KEY_VERSION ? {} : { keyVersion: version }
}

export function keyVersionOf({ keyVersion = FIRST_KEY_VERSION }: Sealed): number {
  return keyVersion
}

export function dataKeyVersionOf({
  dataKeyVersion = FIRST_KEY_VERSION,
}: Pick<TenantRecord, 'dataKeyVersion'>): number {
  return dataKeyVersion
}

/** False: the tenant does not have the key any more, so what is sealed with it could never be opened. */
export function hasKeyOf(view: View, tenantId: TenantId, sealed: Sealed): boolean {
  const tenant = view.get(tenantKeys.tenant(tenantId))
  // The cluster itself, which stores under keys of its own.
  if (tenant === undefined) return true
  const version = keyVersionOf(sealed)
  if (version === CUSTOMER_KEY_VERSION) return true
  return version === dataKeyVersionOf(tenant) || version === tenant.formerKey?.version
}

/** `change`: of rows that are sealed with this version. Counts nothing while no exchange is under way, and nothing under the former key. */
export function countSealed(
  draft: Draft,
  tenantId: TenantId,
  { keyVersion, ...change }: Partial<SealedRecord> & Sealed,
): void {
  const tenant = draft.get(tenantKeys.tenant(tenantId))
  if (tenant?.formerKey === undefined || (keyVersion ?? FIRST_KEY_VERSION) !== dataKeyVersionOf(tenant))
    return
  const sum: Record<keyof SealedRecord, number> = { ...sealedOf(draft, tenantId) }
  for (const figure of Object.keys(NOTHING_SEALED) as (keyof SealedRecord)[]) {
    sum[figure] += change[figure] ?? 0
    assert(sum[figure] >= 0, 'no more goes than was sealed with the present key')
  }
  draft.put(tenantKeys.sealed(tenantId), sum)
}

export function sealedOf(view: View, tenantId: TenantId): SealedRecord {
  return view.get(tenantKeys.sealed(tenantId)) ?? NOTHING_SEALED
}

/** Ends the exchange: without the former key, and without the count. */
export function withoutFormerKey(tenant: TenantRecord): TenantRecord {
  const { formerKey: _, ...without } = tenant
  return without
}

export function forgetSealed(draft: Draft, tenantId: TenantId): void {
  if (draft.get(tenantKeys.sealed(tenantId)) !== undefined) draft.remove(tenantKeys.sealed(tenantId))
}
