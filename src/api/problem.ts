/**
 * Every error answer: the only table code -> status, and the one body. [decisions 0, 10] [RFC 9457]
 *
 * Rules: a code without a status does not compile; what is not a Refusal or a Condition is a bug, reported to the log with
 * the request id and to the client as `internal_error` without a word about the inside.
 */
import { Condition, type ConditionCode } from '../../cluster/index.ts'
import { Refusal, type RefusalCode } from '../base/refusal.ts'

export type ProblemCode = RefusalCode | ConditionCode

export const STATUS_OF = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_bucket_name: 400,
  invalid_key: 400,
  invalid_argument: 400,
  invalid_continuation_token: 400,
  invalid_tag: 400,
  invalid_part: 400,
  invalid_part_order: 400,
  entity_too_small: 400,
  too_many_keys: 400,
  checksum_required: 400,
  checksum_malformed: 400,
  checksum_unsupported: 400,
  checksum_mismatch: 400,
  invalid_event_type: 400,
  object_lock_not_enabled: 400,
  reason_required: 400,
  confirm_mismatch: 400,
  unauthorized: 401,
  invalid_credentials: 401,
  token_invalid: 401,
  token_expired: 401,
  key_revoked: 401,
  tenant_disabled: 401,
  invalid_signed_url: 401,
  signed_url_expired: 401,
  access_denied: 403,
  object_locked: 403,
  signed_url_mismatch: 403,
  tenant_scope_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  bucket_already_exists: 409,
  bucket_not_empty: 409,
  invalid_bucket_state: 409,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  already_exists: 409,
  membership_change_in_progress: 409,
  stale_config_index: 409,
  member_exists: 409,
  address_in_use: 409,
  member_tombstoned: 409,
  foreign_cluster: 409,
  data_not_empty: 409,
  length_required: 411,
  precondition_failed: 412,
  entity_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  target_refused: 424,
  rate_limited: 429,
  internal_error: 500,
  unsupported_target: 501,
  not_implemented: 501,
  no_leader: 503,
  no_quorum: 503,
  leader_not_ready: 503,
  commit_unknown: 503,
  not_enough_replicas: 503,
  slow_down: 503,
  disk_full: 503,
  shutting_down: 503,
  quota_exceeded: 507,
  insufficient_storage: 507,
} as const satisfies Record<ProblemCode, number>

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  424: 'Failed Dependency',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

const CHALLENGES = { bearer: 'Bearer realm="svc"', credentials: 'Basic realm="svc", Bearer realm="svc"' }

export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly code: ProblemCode; readonly message: string } & Readonly<Record<string, unknown>>
}

export interface ProblemContext {
  readonly requestId: string
  /** The path of the request without its query, which may hold a token. */
  readonly instance: string
  /** What a 401 asks for. */
  readonly challenge: keyof typeof CHALLENGES
}

/** null: not an expected error, log it and answer with `unexpectedProblem`. */
export function expectedProblem(error: unknown, context: ProblemContext): Problem | null {
  if (error instanceof Refusal) {
    const { retryAfterSeconds, blockers, headers = {} } = error.extras
    const details = { ...error.extras.details, ...(blockers === undefined ? {} : { blockers }) }
    const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': `${Math.ceil(retryAfterSeconds)}` }
    return problem(error, context, { details, headers: { ...headers, ...retry } })
  }
  if (error instanceof Condition) {
    const seconds = Math.max(1, Math.ceil(error.retryAfterMs / 1000))
    return problem(error, context, { details: {}, headers: { 'retry-after': `${seconds}` } })
  }
  return null
}

export function unexpectedProblem(context: ProblemContext): Problem {
  const message = `The request could not be served because of an internal error; quote request id ${context.requestId} when you report it`
  return problem({ code: 'internal_error', message }, context, { details: {}, headers: {} })
}

function problem(
  error: { readonly code: ProblemCode; readonly message: string },
  context: ProblemContext,
  extras: Pick<Problem, 'headers'> & { readonly details: Readonly<Record<string, unknown>> },
): Problem {
  const { code, message } = error
  const status = STATUS_OF[code]
  const challenge = status === 401 ? { 'www-authenticate': CHALLENGES[context.challenge] } : {}
  return {
    status,
    headers: { ...challenge, ...extras.headers },
    body: {
      ...extras.details,
      type: 'about:blank',
      title: TITLES[status] ?? 'Error',
      status,
      code,
      message,
      detail: message,
      instance: context.instance,
      requestId: context.requestId,
    },
  }
}
