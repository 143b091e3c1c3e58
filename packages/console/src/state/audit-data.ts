/**
 * A query of the audit log: what is asked for, the rows that came so far, where the next page begins.
 *
 * Rule: what is loaded has a bound; that there is more is said.
 */
import { signal } from '@preact/signals'
import type { AdminOperations, HoldfastAdmin } from '../../../client/src/admin.ts'
import { EMPTY_SEARCH, type AuditSearch } from '../forms/audit-search.ts'
import { type Fault, faultOf } from './resource.ts'
import { client, noticeRefusal } from './session.ts'

type Page = AdminOperations['queryAuditLog']['answer']
export type AuditRecord = Page['records'][number]
type Input = NonNullable<Parameters<HoldfastAdmin['queryAuditLog']>[0]>

const PAGE = 100
export const EXPORT_ROWS_MAX = 10_000

export const search = signal<AuditSearch>(EMPTY_SEARCH)
/** The newest first; null: nothing was asked yet. */
export const found = signal<readonly AuditRecord[] | null>(null)
export const next = signal<string | null>(null)
export const gaps = signal<NonNullable<Page['gaps']>>([])
export const fault = signal<Fault | null>(null)
export const isAsking = signal(false)

export function inputOf({ since, outcome, filters }: AuditSearch): Input {
  const given = Object.entries(filters).filter(([, value]) => value.trim() !== '')
  return {
    since,
    ...(outcome === '' ? {} : { outcome }),
    ...Object.fromEntries(given.map(([name, value]) => [name, value.trim()])),
  }
}

/** `token`: where the page begins; null: at the newest row. */
export const pageOf = (api: HoldfastAdmin, asked: AuditSearch, token: string | null): Promise<Page> =>
  api.queryAuditLog({
    ...inputOf(asked),
    limit: PAGE,
    ...(token === null ? {} : { continuationToken: token }),
  })

/** The first page of what is asked for, or the one after those that are there. */
export async function ask(isNext = false): Promise<void> {
  const api = client.peek()
  if (api === null) return
  isAsking.value = true
  fault.value = null
  try {
    const token = isNext ? next.peek() : null
    const page = await pageOf(api, search.peek(), token)
    found.value = token === null ? page.records : [...(found.peek() ?? []), ...page.records]
    next.value = page.nextContinuationToken ?? null
    gaps.value = page.gaps ?? []
  } catch (error) {
    noticeRefusal(error)
    fault.value = faultOf(error)
  }
  isAsking.value = false
}

/** Everything that is asked for, up to a bound. */
export async function all(): Promise<readonly AuditRecord[]> {
  const api = client.peek()
  return api === null ? [] : rowsOf(api)
}

/** The same by this client. */
export async function rowsOf(api: HoldfastAdmin): Promise<readonly AuditRecord[]> {
  const rows: AuditRecord[] = []
  for await (const row of api.records({ ...inputOf(search.peek()), limit: 1000 })) {
    rows.push(row)
    if (rows.length === EXPORT_ROWS_MAX) break
  }
  return rows
}
