/**
 * `holdfast audit query`: rows of the audit log, over the admin API.
 *
 * Owns: how rows are printed. Knows nothing of: HTTP.
 */
import type { AdminClient } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine } from '../base/printing.ts'

type Requested = NonNullable<AdminOperations['queryAuditLog']['call']['query']>
type Page = AdminOperations['queryAuditLog']['answer']
type Row = Page['records'][number]

const PAGE_ROWS_MAX = 1000

export interface QueryAuditOptions
  extends Omit<Requested, 'limit' | 'continuationToken'>,
    AdminAccessOptions {
  /** Of all pages together. */
  readonly limit: number
  readonly json?: boolean
}

export function queryAudit(options: QueryAuditOptions): Promise<number> {
  const {
    adminEndpoint: _,
    caFile: __,
    tokenFile: ___,
    clusterFile: ____,
    profile: _____,
    json = false,
    ...requested
  } = options
  return askAdmin(options, async (client) => {
    let left = requested.limit
    for await (const { records, gaps = [], isTruncated } of rowsOf(client, requested)) {
      for (const { from, to, rows } of gaps)
        note(`${rows} rows recorded between ${from} and ${to} are missing: no copy of them can be read.`)
      for (const row of records.slice(0, left)) {
        if (json) printJson(row)
        else printLine(lineOf(row))
      }
      const isMore = isTruncated || records.length > left
      left -= Math.min(left, records.length)
      if (left > 0) continue
      if (isMore)
        note(
          'There are more rows: raise --limit, or narrow the query with --since, --until and the other filters.',
        )
      break
    }
    return EXIT.done
  })
}

/** A page may contain fewer rows than requested without being the last. */
function rowsOf(client: AdminClient, requested: Requested): AsyncGenerator<Page> {
  return pagesOf((from) =>
    client.call('queryAuditLog', {
      query: { ...requested, limit: Math.min(PAGE_ROWS_MAX, requested.limit ?? PAGE_ROWS_MAX), ...from },
    }),
  )
}

/** Time, outcome, actor, operation, object, source address, reason, and how many requests, if it stands for more than one. */
function lineOf(row: Row): string {
  const { time, outcome, status, code, actor, operation, bucket, key, sourceIp, reason, repeated } = row
  const result = outcome === 'success' ? `${status ?? '-'}` : `${status ?? '-'} ${code ?? outcome}`
  const by = actor.accessKeyId === undefined ? '' : ` of ${actor.accessKeyId}`
  const session = actor.session === undefined ? '' : ` in ${actor.session}`
  const who = `${actor.type} ${actor.id ?? '-'}${by}${session}`
  const target = bucket === null ? '' : `${bucket}${key === null ? '' : `/${printable(key)}`}`
  const why = reason === null ? '' : JSON.stringify(reason)
  const times = repeated === undefined ? '' : countOf(repeated)
  return [time, result, who, operation, target, sourceIp ?? '-', why, times]
    .filter((part) => part !== '')
    .join('  ')
}

/** Such as `4,812 of these by 192.0.2.7 since 2026-11-26T10:00:00.000Z`. */
function countOf({ count, from, firstTime }: NonNullable<Row['repeated']>): string {
  return `${count.toLocaleString('en-US')} of these by ${from ?? 'many callers'} since ${firstTime}`
}
