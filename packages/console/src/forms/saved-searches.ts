/**
 * Searches of the audit log that a person has named, as the text that a browser keeps. Pure.
 *
 * Rule: the text may be of an older console or of another page, so everything in it is looked at, and what does not fit is left out.
 */
import { FILTERS, EMPTY_SEARCH, OUTCOMES, type AuditSearch } from './audit-search.ts'

export const SAVED_MAX = 20
export const NAME_CHARACTERS_MAX = 60
const VALUE_CHARACTERS_MAX = 1024

export interface SavedSearch {
  readonly name: string
  readonly search: AuditSearch
}

export function savedOf(text: string | null): readonly SavedSearch[] {
  const found = parsed(text ?? '[]')
  return Array.isArray(found) ? found.flatMap(one).slice(0, SAVED_MAX) : []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

function one(value: unknown): readonly SavedSearch[] {
  const { name, search } = membersOf(value)
  if (typeof name !== 'string' || name === '') return []
  const { since, outcome, filters } = membersOf(search)
  const given = membersOf(filters)
  const asked = FILTERS.map((filter) => {
    const text = given[filter]
    return [filter, typeof text === 'string' ? text.slice(0, VALUE_CHARACTERS_MAX) : ''] as const
  })
  return [
    {
      name: name.slice(0, NAME_CHARACTERS_MAX),
      search: {
        since: typeof since === 'string' && /^\d{1,4}[smhd]$/.test(since) ? since : EMPTY_SEARCH.since,
        outcome: OUTCOMES.find((known) => known === outcome) ?? '',
        filters: { ...EMPTY_SEARCH.filters, ...Object.fromEntries(asked) },
      },
    },
  ]
}

/** The newest first; one of the same name is replaced. */
export function savedWith(all: readonly SavedSearch[], saved: SavedSearch): readonly SavedSearch[] {
  const name = saved.name.trim().slice(0, NAME_CHARACTERS_MAX)
  if (name === '') return all
  return [{ ...saved, name }, ...all.filter((other) => other.name !== name)].slice(0, SAVED_MAX)
}
