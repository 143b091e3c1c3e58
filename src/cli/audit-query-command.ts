/**
 * `holdfast audit query`: rows of the audit log, asked over the admin API.
 *
 * Owns: how rows are told on a terminal. Knows nothing of: HTTP; the typed client does.
 * Rule: a token comes from a file or the environment, never from the command line, which others can read.
 */
import { readFile } from 'node:fs/promises'
import { type AdminClient, adminClient, ApiError, NoAnswerError } from '../client/clients.ts'
import type { AdminOperations } from '../client/generated/admin-operations.ts'
import { readPem } from './certificates/certificate-files.ts'
import { CommandError, EXIT } from './exit.ts'

type Wish = NonNullable<AdminOperations['queryAuditLog']['call']['query']>
type Page = AdminOperations['queryAuditLog']['answer']
type Row = Page['records'][number]

export interface QueryAuditOptions extends Omit<Wish, 'limit' | 'continuationToken'> {
  readonly adminEndpoint: string
  readonly tokenFile?: string
  readonly caFile?: string
  readonly limit: number
  readonly json?: boolean
}

interface Door {
  readonly adminEndpoint: string
  readonly tokenFile: string | undefined
  readonly caFile: string | undefined
}

export async function queryAudit(options: QueryAuditOptions): Promise<number> {
  const { adminEndpoint, tokenFile, caFile, json = false, ...wish } = options
  const page = await ask(await adminAt({ adminEndpoint, tokenFile, caFile }), wish)
  for (const row of page.records) process.stdout.write(`${json ? JSON.stringify(row) : lineOf(row)}\n`)
  if (page.isTruncated)
    process.stderr.write('There is more: ask for less with --since, --until and the other filters.\n')
  return EXIT.done
}

async function adminAt({ adminEndpoint, tokenFile, caFile }: Door): Promise<AdminClient> {
  const token = await adminToken(tokenFile)
  const trust = caFile === undefined ? {} : { ca: await readPem(caFile) }
  return adminClient({ endpoints: adminEndpoint.split(','), token, ...trust })
}

async function ask(client: AdminClient, query: Wish): Promise<Page> {
  try {
    return (await client.call('queryAuditLog', { query })).answer
  } catch (cause) {
    throw told(cause)
  } finally {
    await client.close()
  }
}

function told(cause: unknown): unknown {
  if (cause instanceof ApiError) {
    const hint = `Request ${cause.requestId ?? 'without an id'}; what the code means: docs/errors.md.`
    return new CommandError(cause.message, { code: cause.code, hint })
  }
  if (!(cause instanceof NoAnswerError)) return cause
  const hint =
    'Name the admin address of a running node with --admin-endpoint, and the CA of an https one with --ca-file.'
  return new CommandError(cause.message, { code: 'unreachable', hint, exitCode: EXIT.unreachable })
}

async function adminToken(file: string | undefined): Promise<string> {
  const { HOLDFAST_ADMIN_TOKEN: given } = process.env
  const token = file === undefined ? given : await readFile(file, 'utf8')
  if (token !== undefined && token.trim() !== '') return token.trim()
  throw new CommandError('There is no admin token', {
    code: 'token_missing',
    hint: 'Set HOLDFAST_ADMIN_TOKEN, or name a file that holds one with --token-file.',
    exitCode: EXIT.usage,
  })
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
