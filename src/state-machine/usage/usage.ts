/**
 * The usage of each tenant.
 *
 * Owns: the usage row. Rule: it changes in the entry that changes the rows that it counts, so it always equals its recount.
 */
import { usageKeys } from './keys.ts'
import { assert } from '../base/assert.ts'
import type { View } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import type { UsageRecord } from './records.ts'

/** Figures that are absent until something is counted, so that rows of older levels stay as they are. */
export const NO_LATER_USAGE = { metadataBytes: 0, customerChunks: 0, customerBytes: 0 }

type LaterFigure = keyof typeof NO_LATER_USAGE

export const NO_USAGE: Required<Omit<UsageRecord, LaterFigure>> = {
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

const FIGURES = Object.keys(NO_USAGE) as (keyof typeof NO_USAGE)[]
const LATER_FIGURES = Object.keys(NO_LATER_USAGE) as LaterFigure[]

export function usageOf(view: View, tenantId: TenantId): UsageRecord {
  return view.get(usageKeys.usage(tenantId)) ?? NO_USAGE
}

export function countTenant(draft: Draft, tenantId: TenantId, change: Partial<UsageRecord>): void {
  const present = draft.get(usageKeys.usage(tenantId))
  const row: Record<keyof typeof NO_USAGE, number> & Partial<Record<LaterFigure, number>> = {
    ...NO_USAGE,
    ...present,
  }
  for (const figure of FIGURES) {
    const more = change[figure]
    if (more === undefined || more === 0) continue
    row[figure] += more
    assert(row[figure] >= 0, 'a usage figure is never negative')
  }
  for (const figure of LATER_FIGURES) {
    const sum = (present?.[figure] ?? 0) + (change[figure] ?? 0)
    assert(sum >= 0, 'no more goes than was counted')
    if (present?.[figure] !== undefined || sum > 0) row[figure] = sum
  }
  draft.put(usageKeys.usage(tenantId), row)
}
