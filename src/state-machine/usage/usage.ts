/**
 * What each tenant takes up.
 *
 * Owns: the usage row. Rule: it changes in the entry that changes what it counts, so it equals its recount at any moment.
 */
import { usageKeys } from './keys.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { UsageRecord } from './records.ts'

export const NO_USAGE: UsageRecord = {
  objects: 0,
  versions: 0,
  deleteMarkers: 0,
  logicalBytes: 0,
  uploads: 0,
  uploadBytes: 0,
  chunkCount: 0,
  chunkBytes: 0,
  storedBytes: 0,
  copyBytes: 0,
  inlineBytes: 0,
  dedupSavedBytes: 0,
  compressionSavedBytes: 0,
}

export function countTenant(draft: Draft, tenantId: TenantId, change: Partial<UsageRecord>): void {
  const row: Record<keyof UsageRecord, number> = { ...NO_USAGE, ...draft.get(usageKeys.usage(tenantId)) }
  for (const figure of Object.keys(NO_USAGE) as (keyof UsageRecord)[]) {
    row[figure] += change[figure] ?? 0
    assert(row[figure] >= 0, 'a tenant never takes up less than nothing')
  }
  draft.put(usageKeys.usage(tenantId), row)
}
