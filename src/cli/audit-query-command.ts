/**
 * `holdfast audit query`: rows of the audit log, asked over the admin API.
 *
 * Owns: how rows are told on a terminal. Knows nothing of: HTTP; the typed client does.
 */
import type { AdminOperations } from '../client/generated/admin-operations.ts'
import { asAdmin } from './admin-session.ts'
import { EXIT } from './exit.ts'

type Wish = NonNullable<AdminOperations['queryAuditLog']['call']['query']>
type Row = AdminOperations['queryAuditLog']['answer']['records'][number]

export interface QueryAuditOptions extends Omit<Wish, 'limit' | 'continuationToken'> {
  readonly adminEndpoint: string
  readonly tokenFile?: string
  readonly limit: number
  readonly json?: boolean
}

export async function queryAudit({
  adminEndpoint,
  tokenFile,
  json = false,
  ...wish
}: QueryAuditOptions): Promise<number> {
  const session = { adminEndpoint, ...(tokenFile === undefined ? {} : { tokenFile }) }
  const page = await asAdmin(session, async (client) => {
    return (await client.call('queryAuditLog', { query: wish })).answer
  })
  for (const row of page.records) process.stdout.write(`${json ? JSON.stringify(row) : lineOf(row)}\n`)
  if (page.isTruncated)
    process.stderr.write('There is more: ask for less with --since, --until and the other filters.\n')
  return EXIT.done
}

/** Time, outcome, who, what, on what, from where, why. */
function lineOf(row: Row): string {
  const { time, outcome, status, code, actor, operation, bucket, key, sourceIp, reason } = row
  const result = outcome === 'success' ? `${status ?? '-'}` : `${status ?? '-'} ${code ?? outcome}`
  const by = actor.accessKeyId === undefined ? '' : ` of ${actor.accessKeyId}`
  const who = `${actor.type} ${actor.id ?? '-'}${by}`
  const aim = bucket === null ? '' : `${bucket}${key === null ? '' : `/${printable(key)}`}`
  const why = reason === null ? '' : JSON.stringify(reason)
  return [time, result, who, operation, aim, sourceIp ?? '-', why].filter((part) => part !== '').join('  ')
}

/** A key may hold what moves a cursor. */
function printable(key: string): string {
  return /^[\x21-\x7e]+$/.test(key) ? key : JSON.stringify(key)
}
