/**
 * What a search of the audit log asks for. Pure.
 */
export const FILTERS = ['tenant', 'operation', 'actor', 'bucket', 'keyPrefix', 'requestId'] as const
export type Filter = (typeof FILTERS)[number]
export const OUTCOMES = ['success', 'denied', 'error'] as const

export interface AuditSearch {
  /** Such as 24h. */
  readonly since: string
  readonly outcome: '' | (typeof OUTCOMES)[number]
  readonly filters: Readonly<Record<Filter, string>>
}

export const EMPTY_SEARCH: AuditSearch = {
  since: '24h',
  outcome: '',
  filters: { tenant: '', operation: '', actor: '', bucket: '', keyPrefix: '', requestId: '' },
}

/** As far back as the screen can ask. */
const ALL_TIMES = '365d'

/** Everything with these values, whatever was asked before. */
export const aboutOnly = (filters: Partial<AuditSearch['filters']>): AuditSearch => ({
  ...EMPTY_SEARCH,
  since: ALL_TIMES,
  filters: { ...EMPTY_SEARCH.filters, ...filters },
})
