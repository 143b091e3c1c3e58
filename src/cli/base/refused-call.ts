/**
 * A refusal of the service as a sentence for a person: what was wrong, how to correct it, and last which request it was.
 *
 * Owns: the sentences; pure. Knows nothing of: how they are printed, connections.
 * Rules: the message of the service comes first, without the name of an API operation; the request id comes last. Names in an
 * advice are those of the message, which are short and quoted.
 */
import type { ApiError } from '../../client/clients.ts'

export interface RefusedCall {
  readonly code: string
  /** `Bucket "photos" does not exist (404 not_found)` */
  readonly message: string
  /** Begins with a small letter, because it continues the message. */
  readonly advice: string
  /** One for each blocker, with its code and its message. */
  readonly blockers: readonly string[]
  /** The request id and the operation, for those who look into the log of a node. */
  readonly request: string
}

export function refusedCall(error: ApiError): RefusedCall {
  const code = error.code === 'unknown' ? (CODE_OF_STATUS[error.status] ?? error.code) : error.code
  const said = saidBy(error)
  const blockers = blockersIn(error)
  return {
    code,
    message: `${said} (${error.status} ${code})`,
    // Blockers say themselves what has to be done.
    advice: blockers.length > 0 ? '' : adviceFor(error, code, said),
    blockers,
    request: `Request ${error.requestId ?? 'without an id'}, ${error.operation}.`,
  }
}

/** Answers to HEAD have no body. */
const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'access_denied',
  404: 'not_found',
  412: 'precondition_failed',
  429: 'rate_limited',
}

const SAID_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'The credentials are not accepted',
  403: 'The access key does not allow this',
  404: 'There is no such object or bucket',
  412: 'A condition of the request is not met',
  429: 'There were too many requests',
}

function saidBy({ problem, status, message, operation }: ApiError): string {
  const said = problem['message']
  if (typeof said === 'string' && said !== '')
    return said.replace(/\.$/, '').replace(NO_SCOPE, "Access key '$1' has no $2 scope here")
  const byStatus = SAID_BY_STATUS[status]
  if (byStatus !== undefined) return byStatus
  const text = message.replace(/^\w+ was answered \d+ \w+: ?/, '').trim()
  return text === '' ? `The answer to ${operation} has no text` : text
}

/** The operation is named in the last line. */
const NO_SCOPE = /^Access key '([^']+)' has no (?:'(\w+)' )?scope that covers '\w+' here/

function adviceFor({ operation, status }: ApiError, code: string, said: string): string {
  const bucket = /^Bucket "([a-z0-9.-]{3,63})" does not exist/.exec(said)?.[1]
  if (bucket !== undefined && code === 'not_found') return `create it with: holdfast bucket create ${bucket}`
  const place = /^Object "([^"]*)" (?:does not exist in|was deleted from) bucket "([a-z0-9.-]{3,63})"/.exec(
    said,
  )
  if (place !== null && code === 'not_found') return `list what is there with: holdfast ls ${folderOf(place)}`
  if (operation === 'createToken' && status === 401 && code === 'unauthorized')
    return 'is this the address of the data API? The admin API has a port of its own'
  return ADVICE[code] ?? 'docs/errors.md explains this code'
}

/** What can be typed as it is; otherwise only the bucket. */
function folderOf([, key = '', bucket = '']: RegExpExecArray): string {
  const folder = key.slice(0, key.lastIndexOf('/') + 1)
  return /^[\w./-]*$/.test(folder) ? `${bucket}/${folder}` : bucket
}

const ADVICE: Readonly<Record<string, string>> = {
  access_denied: 'check the scopes of the access key and the policy of the bucket',
  bucket_already_exists: 'buckets of one tenant have different names: holdfast ls lists them',
  bucket_not_empty:
    'remove its objects first: holdfast rm --recursive, with --all-versions if the bucket keeps versions',
  invalid_credentials: 'the access key or its secret is wrong',
  not_found: 'check the name; buckets of other tenants are not shown',
  object_lock_not_enabled: 'switch it on with: holdfast bucket object-lock',
  object_locked: 'holdfast stat shows until when it is under retention or legal hold',
  precondition_failed: 'look at the object again with: holdfast stat',
  quota_exceeded: 'remove objects, or ask an operator for a higher quota: holdfast quota get',
  rate_limited: 'wait a moment, or send fewer requests at once',
  token_expired: 'get another one with: holdfast token',
  unauthorized: 'the credentials are wrong, expired or revoked',
}

/** Each blocker as the dry run prints it: its code, as the tables of the runbooks name it, and its message. */
function blockersIn({ problem }: ApiError): readonly string[] {
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
