/**
 * Every reason for which a request can be refused, as one closed list of codes.
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
  'invalid_tag',
  'invalid_part',
  'invalid_part_order',
  'entity_too_small',
  'too_many_keys',
  'checksum_required',
  'checksum_malformed',
  'checksum_unsupported',
  'checksum_mismatch',
  'invalid_event_type',
  'object_lock_not_enabled',
  'reason_required',
  'confirm_mismatch',
  'unauthorized',
  'invalid_credentials',
  'token_invalid',
  'token_expired',
  'key_revoked',
  'tenant_disabled',
  'invalid_signed_url',
  'signed_url_expired',
  'access_denied',
  'object_locked',
  'signed_url_mismatch',
  'tenant_scope_denied',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'bucket_already_exists',
  'bucket_not_empty',
  'invalid_bucket_state',
  'idempotency_conflict',
  'idempotency_in_progress',
  'already_exists',
  'membership_change_in_progress',
  'stale_config_index',
  'member_exists',
  'address_in_use',
  'member_tombstoned',
  'foreign_cluster',
  'data_not_empty',
  'length_required',
  'precondition_failed',
  'entity_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'target_refused',
  'rate_limited',
  'internal_error',
  'unsupported_target',
  'not_implemented',
  'quota_exceeded',
  'insufficient_storage',
] as const

export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** What a `not_found` looked for, where an API has a code of its own for each. */
export type Missing =
  | 'bucket'
  | 'key'
  | 'version'
  | 'upload'
  | 'corsRules'
  | 'bucketPolicy'
  | 'bucketTags'
  | 'lifecycleRules'
  | 'replication'
  | 'retention'
  | 'objectLock'

/** Why a membership change is not safe now; each of them accompanies the code `precondition_failed`. [decisions 12] */
export const BLOCKER_CODES = [
  'learner_not_ready',
  'member_unreachable',
  'certificate_mismatch',
  'would_lose_quorum',
  'below_minimum_voters',
  'member_reachable',
  'not_demoted',
  'not_drained',
  'version_incompatible',
  'state_checksum_mismatch',
] as const

export type BlockerCode = (typeof BLOCKER_CODES)[number]
