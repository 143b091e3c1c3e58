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
  type RepeatPolicy,
  WrongListenerError,
} from '../../client/clients.ts'
import {
  adminAccess,
  type AdminAccessOptions,
  dataAccess,
  type DataAccessOptions,
  type Surroundings,
  SURROUNDINGS,
} from './cluster-access.ts'
import { CommandError, EXIT } from './exit.ts'
import { interruption } from './interruption.ts'
import { type NoAnswer, noAnswer, tlsInstead } from './no-answer.ts'
import { refusedCall } from './refused-call.ts'
import { tokenCache } from './token-cache.ts'

/** `repeat`: other than that of the client. */
export async function askData<T>(
  options: DataAccessOptions,
  work: (client: DataClient) => Promise<T>,
  repeat: Partial<RepeatPolicy> = {},
  surroundings: Surroundings = SURROUNDINGS,
): Promise<T> {
  const access = dataAccess(options, surroundings)
  const tokenStore = 'token' in access ? null : tokenCache(access, surroundings.env)
  const kept = tokenStore === null ? {} : { tokenStore }
  return asked(dataClient({ ...access, ...kept, repeat }), work)
}

/** `wait`: the work may start an operation and then waits for its end. */
export async function askAdmin<T>(
  options: AdminAccessOptions & { readonly wait?: boolean },
  work: (client: AdminClient) => Promise<T>,
  surroundings: Surroundings = SURROUNDINGS,
): Promise<T> {
  // From the first request on, because the answer that a signal would cut off names the operation that continues.
  if (options.wait === true) interruption()
  return asked(adminClient(adminAccess(options, surroundings)), work)
}

async function asked<C extends { close(): Promise<void> }, T>(
  client: C,
  work: (client: C) => Promise<T>,
): Promise<T> {
  try {
    return await work(client)
  } catch (cause) {
    throw await explained(cause)
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
    const { code, message, advice, blockers, request } = refusedCall(cause)
    const hint = [...blockers.map((blocker) => `blocked by ${blocker}`), request].join('\n  ')
    const exitCode = exitCodeOf(cause.status, code)
    return new CommandError(message, { code, advice, hint, requestId: cause.requestId, exitCode })
  }
  if (cause instanceof WrongListenerError)
    return unreachable({ message: cause.message, hint: 'Name the address of its other listener.' })
  if (!(cause instanceof NoAnswerError)) return cause
  return unreachable(noAnswer(cause))
}

/** May ask the node whether it speaks TLS. */
async function explained(cause: unknown): Promise<unknown> {
  const met = cause instanceof NoAnswerError ? await tlsInstead(cause) : null
  return met === null ? commandErrorOf(cause) : unreachable(met)
}

function unreachable({ message, hint }: NoAnswer): CommandError {
  return new CommandError(message, { code: 'unreachable', hint, exitCode: EXIT.unreachable })
}

function exitCodeOf(status: number, code: string): number {
  if (status === 502 || status === 503 || status === 504) return EXIT.unreachable
  return GATES.includes(code) ? EXIT.refused : EXIT.failed
}
