/**
 * Counts again what is sealed with which data key of its tenant. [docs/adr/0088-exchange-of-tenant-keys.md]
 *
 * Owns: the comparison with the count that decides when a former key is destroyed. Knows nothing of: how rows are read.
 * Rule: a row that names a key that its tenant does not have is a difference, because nothing opens it.
 */
import type { InlineBodyRecord } from '../bodies/records.ts'
import type { ChunkRecord } from '../chunks/records.ts'
import {
  CUSTOMER_KEY_VERSION,
  dataKeyVersionOf,
  keyVersionOf,
  NOTHING_SEALED,
  sealedOf,
} from '../tenants/data-keys.ts'
import { tenantKeys } from '../tenants/keys.ts'
import type { SealedRecord, TenantRecord } from '../tenants/records.ts'
import type { View } from '../base/view.ts'

interface Count {
  readonly tenant: TenantRecord
  readonly sealed: Record<keyof SealedRecord, number>
  /** Rows under a key that the tenant does not have. */
  lost: number
}

export class KeyRecount {
  readonly #view: View
  /** Null: no tenant; the cluster stores under keys of its own. */
  readonly #counts = new Map<string, Count | null>()

  constructor(view: View) {
    this.#view = view
  }

  takeChunk(chunk: ChunkRecord): void {
    this.#add(chunk.tenantId, chunk, { chunks: 1, storedBytes: chunk.sealedSize })
  }

  takeInline(tenantId: string, row: InlineBodyRecord): void {
    this.#add(tenantId, row, { inlineBytes: row.sealed.length })
  }

  /** A tenant that stores nothing has a count as well. */
  takeTenant(id: string): void {
    this.#of(id)
  }

  finish(): readonly string[] {
    return [...this.#counts.values()].flatMap((count) =>
      count === null ? [] : differencesOf(this.#view, count),
    )
  }

  #add(tenantId: string, row: { readonly keyVersion?: number }, figures: Partial<SealedRecord>): void {
    const count = this.#of(tenantId)
    if (count === null) return
    const { tenant, sealed } = count
    const version = keyVersionOf(row)
    if (version === CUSTOMER_KEY_VERSION) return
    if (version !== dataKeyVersionOf(tenant)) {
      if (version !== tenant.formerKey?.version) count.lost += 1
      return
    }
    for (const figure of Object.keys(figures) as (keyof SealedRecord)[])
      sealed[figure] += figures[figure] ?? 0
  }

  #of(tenantId: string): Count | null {
    const known = this.#counts.get(tenantId)
    if (known !== undefined) return known
    const tenant = this.#view.get(tenantKeys.tenant(tenantId))
    const count = tenant === undefined ? null : { tenant, sealed: { ...NOTHING_SEALED }, lost: 0 }
    this.#counts.set(tenantId, count)
    return count
  }
}

function differencesOf(view: View, { tenant, sealed, lost }: Count): readonly string[] {
  const found: string[] = []
  // The end of a tenant destroys all keys while its chunks still wait for their collection.
  const isShredded = tenant.dataKey.length === 0
  if (lost > 0 && !isShredded)
    found.push(`${lost} chunks and bodies of tenant "${tenant.id}" name a key that it does not have`)
  const stored = sealedOf(view, tenant.id)
  const counted = tenant.formerKey === undefined ? NOTHING_SEALED : sealed
  for (const figure of Object.keys(NOTHING_SEALED) as (keyof SealedRecord)[])
    if (counted[figure] !== stored[figure])
      found.push(
        `sealed with the present key of tenant "${tenant.id}": ${figure} is ${counted[figure]} and counted as ${stored[figure]}`,
      )
  return found
}
