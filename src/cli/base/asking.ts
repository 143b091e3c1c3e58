/**
 * The requests of one command: opens a client, closes it at the end, and turns failures into errors with advice for an operator.
 *
 * Owns: which failure ends with which exit code. Rule: the error of a refused request names the request id. [decisions 15]
 */
import {
  type AdminClient,
  adminClient,
  ApiError,
  type DataClient,
  dataClient,
  NoAnswerError,
} from '../../client/clients.ts'
import type { RepeatPolicy } from '../../client/repeating.ts'
import { adminAccess, type AdminAccessOptions, dataAccess, type DataAccessOptions } from './cluster-access.ts'
import { CommandError, EXIT } from './exit.ts'

/** `repeat`: other than that of the client. */
export async function askData<T>(
  options: DataAccessOptions,
  work: (client: DataClient) => Promise<T>,
  repeat: Partial<RepeatPolicy> = {},
): Promise<T> {
  return asked(dataClient({ ...dataAccess(options), repeat }), work)
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
    throw commandErrorOf(cause)
  } finally {
    await client.close()
  }
}

interface Page {
  readonly isTruncated: boolean
  readonly nextContinuationToken?: string
}

/** All pages of a listing. */
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

/** Codes of refusals that protect data or the cluster: repeating the request does not help, and no option overrides them. */
const GATES: readonly string[] = [
  ...(['object_locked', 'precondition_failed', 'bucket_not_empty', 'membership_change_in_progress'] as const),
  ...(['stale_config_index', 'member_tombstoned', 'foreign_cluster', 'data_not_empty'] as const),
]

/** Errors that the client does not throw are returned unchanged. */
export function commandErrorOf(cause: unknown): unknown {
  if (cause instanceof ApiError) {
    const { status, code, requestId } = cause
    const gates = gatesIn(cause)
    const blockers = gates.map((gate) => `blocked by ${gate}\n  `).join('')
    const advice = HINTS[code] ?? 'see docs/errors.md for this code'
    const hint = `${blockers}Request ${requestId ?? 'without an id'}; ${advice}.`
    return new CommandError(cause.message, { code, hint, requestId, exitCode: exitCodeOf(status, code) })
  }
  if (!(cause instanceof NoAnswerError)) return cause
  const hint =
    'Check that this is the address of a running node. --endpoint and --admin-endpoint take several addresses, separated by commas; an https address may need --ca-file.'
  return new CommandError(cause.message, { code: 'unreachable', hint, exitCode: EXIT.unreachable })
}

/** Each blocker as the dry run prints it: its code, as the tables of the runbooks name it, and what it says. */
function gatesIn({ problem }: ApiError): readonly string[] {
  const { blockers } = problem
  if (!Array.isArray(blockers)) return []
  return blockers.flatMap((one: unknown) => {
    const { code, message } = { ...(typeof one === 'object' ? one : {}) } as {
      readonly code?: unknown
      readonly message?: unknown
    }
    if (typeof code !== 'string') return []
    return [typeof message === 'string' ? `${code}: ${message}` : code]
  })
}

function exitCodeOf(status: number, code: string): number {
  if (status === 502 || status === 503 || status === 504) return EXIT.unreachable
  return GATES.includes(code) ? EXIT.refused : EXIT.failed
}

const HINTS: Readonly<Record<string, string>> = {
  access_denied: 'the access key does not allow this: check its scopes and the policy of the bucket',
  bucket_not_empty:
    'remove its objects first: holdfast rm --recursive, with --all-versions if the bucket keeps versions',
  invalid_credentials: 'the access key or its secret is wrong',
  not_found: 'check the name; buckets of other tenants are not shown',
  object_locked: 'the object is under retention or legal hold: holdfast stat shows until when',
  precondition_failed: 'a condition of this request is not met',
  quota_exceeded: 'remove objects, or ask an operator for a higher quota: holdfast quota get',
  rate_limited: 'wait a moment, or send fewer requests at once',
  unauthorized: 'the credentials are wrong, expired or revoked',
}
