/**
 * Every reason for which a caller can be told "no", as one closed list of words.
 *
 * Owns: the codes. Knows nothing of: HTTP; src/api/problem.ts holds the only code -> status table, and does not
 * compile while a code is missing there. [decisions 10]
 */
export const REFUSAL_CODES = [
  'invalid_request',
  'invalid_json',
  'invalid_bucket_name',
  'invalid_key',
  'invalid_argument',
  'invalid_continuation_token',
  'checksum_malformed',
  'checksum_unsupported',
  'checksum_mismatch',
  'reason_required',
  'unauthorized',
  'invalid_credentials',
  'token_invalid',
  'token_expired',
  'key_revoked',
  'tenant_disabled',
  'access_denied',
  'tenant_scope_denied',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'bucket_already_exists',
  'bucket_not_empty',
  'already_exists',
  'length_required',
  'precondition_failed',
  'entity_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'rate_limited',
  'internal_error',
  'not_implemented',
  'insufficient_storage',
] as const

export type RefusalCode = (typeof REFUSAL_CODES)[number]
