/**
 * One command's conversation with the service: a client while it lasts, and failures in the words of a person at a keyboard.
 *
 * Owns: which failure ends with which exit code. Rule: an answer that says no names its request. [decisions 15]
 */
import {
  type AdminClient,
  adminClient,
  ApiError,
  type DataClient,
  dataClient,
  NoAnswerError,
} from '../../client/clients.ts'
import { adminAccess, type AdminAccessOptions, dataAccess, type DataAccessOptions } from './cluster-access.ts'
import { CommandError, EXIT } from './exit.ts'

export async function askData<T>(
  options: DataAccessOptions,
  work: (client: DataClient) => Promise<T>,
): Promise<T> {
  return asked(dataClient(dataAccess(options)), work)
}

export async function askAdmin<T>(
  options: AdminAccessOptions,
  work: (client: AdminClient) => Promise<T>,
): Promise<T> {
  return asked(adminClient(adminAccess(options)), work)
}

async function asked<C extends { close(): Promise<void> }, T>(
  client: C,
  work: (client: C) => Promise<T>,
): Promise<T> {
  try {
    return await work(client)
  } catch (cause) {
    throw told(cause)
  } finally {
    await client.close()
  }
}

interface Page {
  readonly isTruncated: boolean
  readonly nextContinuationToken?: string
}

/** Page after page of a listing, to its end. */
export async function* pagesOf<P extends Page>(
  ask: (from: { continuationToken?: string }) => Promise<{ readonly answer: P }>,
): AsyncGenerator<P> {
  let from: { continuationToken?: string } = {}
  for (;;) {
    const { answer } = await ask(from)
    yield answer
    if (!answer.isTruncated || answer.nextContinuationToken === undefined) return
    from = { continuationToken: answer.nextContinuationToken }
  }
}

/** The service protects something, or somebody: repeating does not help, and force is not offered. */
const GATES: readonly string[] = [
  ...(['object_locked', 'precondition_failed', 'bucket_not_empty', 'membership_change_in_progress'] as const),
  ...(['stale_config_index', 'member_tombstoned', 'foreign_cluster', 'data_not_empty'] as const),
]

/** Whatever it is not that a client throws stays what it was. */
export function told(cause: unknown): unknown {
  if (cause instanceof ApiError) {
    const { status, code, requestId } = cause
    const gates = gatesIn(cause)
    const closed = gates.length === 0 ? '' : `Gate ${gates.join(', ')}. `
    const meaning = HINTS[code] ?? 'what the code means: docs/errors.md'
    const hint = `${closed}Request ${requestId ?? 'without an id'}; ${meaning}.`
    return new CommandError(cause.message, { code, hint, requestId, exitCode: exitCodeOf(status, code) })
  }
  if (!(cause instanceof NoAnswerError)) return cause
  const hint =
    'Is it the address of a running node? --endpoint and --admin-endpoint take several, with commas; an https one may need --ca-file.'
  return new CommandError(cause.message, { code: 'unreachable', hint, exitCode: EXIT.unreachable })
}

/** Codes of what stands in the way, as the tables of the runbooks name them. */
function gatesIn({ problem }: ApiError): readonly string[] {
  const { blockers } = problem
  if (!Array.isArray(blockers)) return []
  return blockers.flatMap((one: unknown) => {
    const code = typeof one === 'object' && one !== null && 'code' in one ? one.code : null
    return typeof code === 'string' ? [code] : []
  })
}

function exitCodeOf(status: number, code: string): number {
  if (status === 502 || status === 503 || status === 504) return EXIT.unreachable
  return GATES.includes(code) ? EXIT.refused : EXIT.failed
}

const HINTS: Readonly<Record<string, string>> = {
  access_denied: 'the access key may not do that: see its scopes, and the policy of the bucket',
  bucket_not_empty:
    'remove what is in it first: holdfast rm --recursive, with --all-versions where versions are kept',
  invalid_credentials: 'the access key or its secret is wrong',
  not_found: 'is the name right? What other tenants have is not shown',
  object_locked: 'it is retained or held: holdfast stat says until when',
  precondition_failed: 'something is not in the state that this needs',
  quota_exceeded: 'remove something, or ask an operator for more: holdfast quota get',
  rate_limited: 'wait a little, or ask less at once',
  unauthorized: 'the credentials are wrong, expired or revoked',
}
