/**
 * Which codes each route may answer, for its document: those that follow from what the route is, and its own.
 *
 * Owns: the table of own codes, one row for each operation id; a missing row does not compile.
 * Rule: a code that is answered and not listed here is a fault; the tests of both planes hold every answer against this.
 */
import type { OperationId } from '../access/base/operation-ids.ts'
import { UNAUDITED } from './audited.ts'
import type { ProblemCode } from './problem.ts'
import type { AuthKind, RouteDefinition } from './route.ts'

type Codes = readonly ProblemCode[]

/** Framing, time and the node itself. */
const ALWAYS: Codes = ['invalid_request', 'request_timeout', 'internal_error', 'shutting_down']
const NEEDS_MAJORITY: Codes = ['no_leader', 'no_quorum', 'leader_not_ready', 'slow_down']
/** There is no room for its row of the audit log, or none that is durable before the answer. */
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
  none: [],
  credentials: ['invalid_credentials', 'key_revoked', 'tenant_disabled', 'rate_limited', ...NEEDS_MAJORITY],
  bearer: [
    'unauthorized',
    'token_invalid',
    'token_expired',
    'key_revoked',
    'tenant_disabled',
    'access_denied',
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
    ...NEEDS_MAJORITY,
  ],
}

const JSON_BODY: Codes = ['invalid_json', 'entity_too_large', 'unsupported_media_type']
const BYTES_BODY: Codes = [
  'checksum_malformed',
  'checksum_unsupported',
  'checksum_mismatch',
  'length_required',
  'entity_too_large',
  'quota_exceeded',
  'not_enough_replicas',
]
/** Without tags and locks of its own. */
const PLAIN_VERSION: Codes = [
  'invalid_argument',
  'object_locked',
  'precondition_failed',
  'quota_exceeded',
  'not_implemented',
]
const NEW_VERSION: Codes = [...PLAIN_VERSION, 'invalid_tag', 'object_lock_not_enabled']
const READ_OBJECT: Codes = ['invalid_argument', 'method_not_allowed', 'precondition_failed']
/** What is known of a version beside its bytes. */
const VERSION_PART: Codes = ['method_not_allowed']
const LONG_OPERATION: Codes = ['precondition_failed']

const CHANGES_MEMBERS: Codes = ['precondition_failed', 'membership_change_in_progress', 'stale_config_index']
const NEWCOMER: Codes = [
  'member_exists',
  'address_in_use',
  'member_tombstoned',
  'foreign_cluster',
  'data_not_empty',
]

const OWN: Readonly<Record<OperationId, Codes>> = {
  healthz: [],
  readyz: ['leader_not_ready'],
  getOpenAPI: [],
  createToken: [],
  listBuckets: [],
  createBucket: ['invalid_bucket_name', 'bucket_already_exists', 'invalid_bucket_state', 'quota_exceeded'],
  getBucket: [],
  deleteBucket: ['bucket_not_empty'],
  getBucketVersioning: [],
  setBucketVersioning: ['invalid_bucket_state'],
  putObject: [...NEW_VERSION, 'checksum_required', 'idempotency_conflict', 'idempotency_in_progress'],
  getObject: [...READ_OBJECT, 'range_not_satisfiable', 'not_enough_replicas'],
  headObject: READ_OBJECT,
  deleteObject: ['object_locked', 'precondition_failed', 'not_implemented'],
  listObjects: [],
  batchDeleteObjects: ['too_many_keys', 'invalid_key'],
  copyObject: [...NEW_VERSION, ...READ_OBJECT, 'entity_too_large'],
  listObjectVersions: [],
  getObjectTags: VERSION_PART,
  setObjectTags: [...VERSION_PART, 'invalid_tag'],
  deleteObjectTags: VERSION_PART,
  getObjectRetention: VERSION_PART,
  setObjectRetention: [...VERSION_PART, 'object_lock_not_enabled', 'object_locked'],
  getObjectLegalHold: VERSION_PART,
  setObjectLegalHold: [...VERSION_PART, 'object_lock_not_enabled'],
  createMultipartUpload: ['checksum_unsupported', 'invalid_tag', 'object_lock_not_enabled'],
  uploadPart: [],
  listParts: [],
  completeMultipartUpload: [
    ...NEW_VERSION,
    'checksum_malformed',
    'checksum_unsupported',
    'checksum_mismatch',
    'invalid_part',
    'invalid_part_order',
    'entity_too_small',
  ],
  abortMultipartUpload: [],
  listMultipartUploads: [],
  getBucketCORS: [],
  setBucketCORS: [],
  deleteBucketCORS: [],
  getBucketNotifications: [],
  setBucketNotifications: ['invalid_event_type', 'unsupported_target'],
  deleteBucketNotifications: [],
  listNotificationDeliveries: [],
  redeliverNotification: ['invalid_bucket_state'],
  testNotification: ['invalid_bucket_state'],
  signURL: ['invalid_key', 'not_found', 'checksum_malformed', 'checksum_unsupported'],
  getSigned: [...READ_OBJECT, 'range_not_satisfiable', 'not_enough_replicas'],
  putSigned: [...PLAIN_VERSION, 'checksum_required', 'idempotency_conflict', 'idempotency_in_progress'],
  preflightSigned: [],

  adminHealthz: [],
  adminReadyz: ['leader_not_ready'],
  getAdminOpenAPI: [],
  getMetrics: [],
  listTenants: [],
  createTenant: ['already_exists'],
  getTenant: [],
  disableTenant: [],
  deleteTenant: LONG_OPERATION,
  getTenantQuota: [],
  setTenantQuota: ['precondition_failed'],
  deleteTenantQuota: ['precondition_failed'],
  getTenantUsage: [],
  listTenantAccounts: [],
  createTenantAccount: ['already_exists', 'precondition_failed'],
  listTenantKeys: [],
  createTenantKey: ['precondition_failed'],
  rotateTenantKey: ['precondition_failed'],
  revokeTenantKey: ['reason_required'],
  rebalance: [...LONG_OPERATION, 'not_found'],
  listOperations: [],
  getOperation: [],
  cancelOperation: LONG_OPERATION,
  pauseOperation: LONG_OPERATION,
  resumeOperation: LONG_OPERATION,
  getRepair: [],
  setRepair: [],
  scrub: [...LONG_OPERATION, 'not_found'],
  recount: LONG_OPERATION,
  resumeCollection: LONG_OPERATION,
  getClusterTime: [],
  confirmClusterTime: ['precondition_failed'],
  setBackClusterTime: ['precondition_failed'],
  getTenantBucketPolicy: [],
  setTenantBucketPolicy: [],
  deleteTenantBucketPolicy: [],
  queryAuditLog: [],
  getClusterMembership: ['leader_not_ready'],
  joinVoter: [...CHANGES_MEMBERS, ...NEWCOMER],
  demoteVoter: [...CHANGES_MEMBERS, 'not_found'],
  markVoterLost: [...CHANGES_MEMBERS, 'not_found', 'confirm_mismatch'],
  removeMember: [...CHANGES_MEMBERS, 'not_found', 'confirm_mismatch'],
  replaceVoter: [...CHANGES_MEMBERS, ...NEWCOMER, 'not_found', 'confirm_mismatch'],
  transferLeadership: ['not_found', 'precondition_failed'],
}

/** Every code once, sorted. */
export function problemCodes(route: RouteDefinition): Codes {
  const { operationId, auth, method, path, query, body } = route
  const isOpen = auth === 'none'
  const codes: Codes = [
    ...ALWAYS,
    ...BY_AUTH[auth],
    ...OWN[operationId],
    ...(UNAUDITED[operationId] === 'always' ? [] : AUDITED),
    ...(isOpen && query === undefined ? [] : ['invalid_argument' as const]),
    ...('continuationToken' in (query?.properties ?? {}) ? ['invalid_continuation_token' as const] : []),
    ...(/\{(bucket|id)\}/.test(path) ? ['not_found' as const] : []),
    ...(path.includes('{key...}') ? ['invalid_key' as const] : []),
    ...(isOpen || method === 'GET' || method === 'HEAD' ? [] : CHANGES),
    ...bodyCodes(body),
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
