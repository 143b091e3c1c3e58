/**
 * Which codes each route may answer, for its document: those that follow from what the route is, and those that its operation
 * refuses with.
 *
 * Owns: what follows from a route. Rule: a code that is answered and not listed here is a fault; the tests of both planes compare
 * every answer with this list.
 */
import type { ProblemCode } from './problem.ts'
import type { AuthKind, RouteDefinition } from './route.ts'

type Codes = readonly ProblemCode[]

/** Framing, time and the node itself. */
const ALWAYS: Codes = [
  'invalid_request',
  'request_timeout',
  'internal_error',
  'not_implemented',
  'shutting_down',
]
const NEEDS_MAJORITY: Codes = ['no_leader', 'no_quorum', 'leader_not_ready', 'slow_down']
/** There is no space for its row of the audit log, or the row is not durable before the answer. */
const AUDITED: Codes = ['slow_down', 'disk_full']
const CHANGES: Codes = ['commit_unknown', 'disk_full']
const ADMIN: Codes = [
  'unauthorized',
  'token_invalid',
  'token_expired',
  'access_denied',
  'tenant_scope_denied',
  'rate_limited',
]

const BY_AUTH: Readonly<Record<AuthKind, Codes>> = {
  none: ['rate_limited'],
  credentials: ['invalid_credentials', 'key_revoked', 'tenant_disabled', 'rate_limited', ...NEEDS_MAJORITY],
  bearer: [
    'unauthorized',
    'token_invalid',
    'token_expired',
    'key_revoked',
    'tenant_disabled',
    'access_denied',
    'rate_limited',
    ...NEEDS_MAJORITY,
  ],
  admin: [...ADMIN, ...NEEDS_MAJORITY],
  metrics: ADMIN,
  signedUrl: [
    'invalid_signed_url',
    'signed_url_expired',
    'signed_url_mismatch',
    'key_revoked',
    'tenant_disabled',
    'access_denied',
    'rate_limited',
    ...NEEDS_MAJORITY,
  ],
}

const CLAIMS: Codes = ['checksum_malformed', 'checksum_unsupported', 'checksum_mismatch']
const JSON_BODY: Codes = ['invalid_json', 'entity_too_large', 'unsupported_media_type']
const EMPTY_OBJECT: Codes = ['invalid_json', 'unsupported_media_type']
const BYTES_BODY: Codes = ['length_required', 'entity_too_large', 'quota_exceeded', 'not_enough_replicas']
/** Every code once, sorted. */
export function problemCodes(route: RouteDefinition): Codes {
  const { operation, auth, method, path, query, body } = route
  const isOpen = auth === 'none'
  const codes: Codes = [
    ...ALWAYS,
    ...BY_AUTH[auth],
    ...operation.refuses,
    ...(operation.isRoutine === true ? [] : AUDITED),
    ...(isOpen && query === undefined ? [] : ['invalid_argument' as const]),
    ...('continuationToken' in (query?.properties ?? {}) ? ['invalid_continuation_token' as const] : []),
    ...(/\{(bucket|id)\}/.test(path) ? ['not_found' as const] : []),
    ...(path.includes('{key...}') ? ['invalid_key' as const] : []),
    ...(isOpen || method === 'GET' || method === 'HEAD' ? [] : CHANGES),
    ...(isOpen || auth === 'metrics' ? [] : CLAIMS),
    ...bodyCodes(body),
    // An empty object is read where there is nothing to say.
    ...(body.kind === 'none' && method === 'POST' ? EMPTY_OBJECT : []),
  ]
  return [...new Set(codes)].sort()
}

function bodyCodes(body: RouteDefinition['body']): Codes {
  switch (body.kind) {
    case 'none':
      return []
    case 'json':
      return [
        ...JSON_BODY,
        ...('reason' in body.schema.properties ? ['reason_required' as const] : []),
        ...('confirm' in body.schema.properties ? ['confirm_mismatch' as const] : []),
      ]
    case 'bytes':
      return BYTES_BODY
  }
}
