/**
 * Searches of the audit log that a person has named: kept in the browser, beside the theme. They hold names and ids, no secrets and no rows.
 */
import { effect, signal } from '@preact/signals'
import { type SavedSearch, savedOf } from '../forms/saved-searches.ts'

const KEPT_AS = 'holdfast-audit-searches'

export const savedSearches = signal<readonly SavedSearch[]>(savedOf(localStorage.getItem(KEPT_AS)))

effect(() => {
  if (savedSearches.value.length === 0) localStorage.removeItem(KEPT_AS)
  else localStorage.setItem(KEPT_AS, JSON.stringify(savedSearches.value))
})
