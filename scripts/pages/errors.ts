/**
 * The reference page of all error codes of the API, made from the table of their statuses.
 *
 * Owns: the meaning of each code for a client, and what to do. Run as a program it writes docs/errors.md.
 * Rule: a code without a sentence here does not compile; its status comes only from src/api/problem.ts.
 */
import { writeFileSync } from 'node:fs'
import { STATUS_OF } from '../../src/api/problem.ts'
import type { BlockerCode } from '../../src/state-machine/base/codes.ts'

const MEANINGS: Readonly<Record<keyof typeof STATUS_OF, string>> = {
  invalid_request: 'A header, the query or a field is not as documented. The message names it.',
  invalid_json: 'The body is not a JSON object, has a key twice, or is nested too deep.',
  invalid_bucket_name: 'Use 3 to 63 lower-case letters, digits, dots and hyphens.',
  invalid_key: 'The object key is empty, too long, contains a NUL or is not valid Unicode.',
  invalid_argument: 'A value is not allowed. The message says which values are.',
  invalid_continuation_token:
    'The token belongs to another listing or was changed. Start the listing again without it.',
  invalid_tag: 'At most 10 tags, keys of 1 to 128 characters, values of at most 256, no key twice.',
  invalid_part: 'A part that the completion names was never uploaded, or has another etag. List the parts.',
  invalid_part_order: 'Name the parts in rising order of their numbers.',
  entity_too_small: 'Each part but the last needs at least 5 MiB. Upload it again under the same number.',
  too_many_keys: 'A batch takes 1 to 1000 keys.',
  checksum_required: 'An upload with `Idempotency-Key` needs an `X-Service-Checksum-<ALG>` header.',
  checksum_malformed: 'A checksum header is not the base64 of a digest of the correct length.',
  checksum_unsupported: 'Use CRC32, CRC32C, CRC64NVME, SHA1 or SHA256.',
  checksum_mismatch: 'The received body is not the announced one. Nothing was stored; send it again.',
  invalid_event_type: 'Name at least one of the event types that the message lists.',
  object_lock_not_enabled: 'The bucket was created without object lock, and cannot get it later.',
  reason_required: 'The request needs a reason.',
  confirm_mismatch: 'The request needs the id once more in `confirm`, exactly as in the path.',
  unauthorized: 'The request needs an `Authorization: Bearer` header.',
  invalid_credentials: 'The access key id or the secret key is wrong.',
  token_invalid: 'The token was changed, revoked, or is from before a rotation of its key. Get a new one.',
  token_expired: 'Get a new token.',
  key_revoked: 'The access key was revoked or has expired. Ask an operator for another one.',
  tenant_disabled: 'The tenant is disabled. Ask an operator.',
  invalid_signed_url:
    'The URL has no `token`, or one that was changed, or that is from before a rotation of its key. Ask for a new URL.',
  signed_url_expired: 'Ask for a new URL.',
  access_denied: 'The scopes of the key, or the role of the admin token, do not cover this operation.',
  signed_url_mismatch:
    'The signed URL is for another method, bucket or object key, or is opened at another host than `listeners.content_origin`.',
  object_locked: 'The version is under retention or legal hold. Nothing was removed or weakened.',
  tenant_scope_denied: 'The admin token is limited to another tenant.',
  not_found:
    'There is no such bucket, object, tenant, key or path. Resources of other tenants are not found either.',
  method_not_allowed:
    'The path exists, the method does not; or a delete marker was requested by its id. `Allow` lists the methods.',
  request_timeout: 'The headers of the request took too long, or its body came too slowly.',
  bucket_already_exists: 'The tenant has a bucket of this name.',
  bucket_not_empty: 'Delete its versions and delete markers, and abort its uploads, first.',
  already_exists: 'The id is taken.',
  membership_change_in_progress:
    'Votes change one operation at a time. The message names the running one; wait for it, or cancel it.',
  stale_config_index: 'The members have changed since they were read. Read them again, then decide again.',
  member_exists: 'A member has this name.',
  address_in_use: 'A member has one of these addresses.',
  member_tombstoned:
    'A member of this name was removed or lost. Choose another name and an empty data directory.',
  foreign_cluster: 'The node that answers at this address belongs to another cluster.',
  data_not_empty:
    'The node that answers at this address does not wait to join: start it with `--join` on an empty data directory.',
  invalid_bucket_state:
    'The state of the bucket does not allow it: object lock needs versioning; it has too many unfinished uploads; a config that is disabled or suspended delivers nothing.',
  idempotency_conflict: 'The idempotency key was used for another upload. Take a new one.',
  idempotency_in_progress: 'An upload with this idempotency key is in progress. Retry later.',
  length_required: 'Send `Content-Length`, or `Transfer-Encoding: chunked`.',
  precondition_failed: 'A condition of the request does not hold. Read the present state and decide again.',
  entity_too_large: 'The body is larger than allowed. Nothing was stored.',
  unsupported_media_type: 'Send JSON as `application/json`.',
  range_not_satisfiable: 'The range is outside of the object. `size` is the size of the object.',
  target_refused:
    'The store that a bucket is replicated to, or the Prometheus that charts come from, does not answer, or refuses. The message says what it answered and what to do.',
  rate_limited: 'Wait as long as `Retry-After` says.',
  internal_error:
    'A bug, or damage that no other copy could repair. Quote the request id; the log of the node has details.',
  unsupported_target: 'Notifications go to webhooks; there are no other targets.',
  not_implemented: 'This version does not support it, and refuses it instead of ignoring it.',
  no_leader:
    'No leader is known: an election runs, or a majority is unreachable. Nothing was done; try again.',
  no_quorum: 'No majority confirmed the leader in time. Nothing was done; try again.',
  leader_not_ready:
    'The leader, or this node, has just started, or this node replaces its damaged state. Nothing was done; try again.',
  commit_unknown:
    'The change may or may not take effect. Read the state before you repeat a change that must not happen twice.',
  not_enough_replicas:
    'Too few nodes could take a durable copy, or no copy could be read. Nothing was committed; try again.',
  slow_down: 'This node or the leader has too much to do. Nothing was done; try again later.',
  disk_full:
    'The disk of the log and the state is full, here, at the leader or at a majority; or the disks of so many nodes that no two have space for copies. Nothing was committed. Deletes are still accepted, and free space; if only one node is full, others serve.',
  shutting_down: 'This node is stopping. Use another one.',
  quota_exceeded:
    'The quota of the tenant, or the number of its notification configs, is reached. Delete something, or ask an operator for more.',
  insufficient_storage: 'A limit of stored bytes is reached.',
}

const INTRODUCTION = `# Error codes

Every error of both APIs is \`application/problem+json\` with \`status\`, \`code\`, \`message\` and \`requestId\`; programs
use \`code\`, people read \`message\`. This page is made from [\`problem.ts\`](../src/api/problem.ts) by
\`node scripts/pages/errors.ts\`; do not edit it.

A 401 carries \`WWW-Authenticate\`. A 429 or 503 carries \`Retry-After\` in seconds. Errors that keep a node from
starting are in [start-errors.md](start-errors.md).

| status | code | what it means, what to do |
|---|---|---|
`

const BLOCKERS: Readonly<Record<BlockerCode, string>> = {
  learner_not_ready:
    'The node does not keep up with the log yet, or waits for no join. Wait, or start it with `--join`.',
  member_unreachable: 'The node does not answer. Start it, and check its address and the network.',
  certificate_mismatch:
    'Another node answers at that address than the one that `fingerprint` names. Compare what the waiting node prints.',
  would_lose_quorum:
    'Without this member no majority of the voters would answer. Bring another one back first.',
  below_minimum_voters: 'It is the last voter. Join another node first.',
  member_reachable: 'The member answers, so it is not lost. Demote it instead.',
  not_demoted: 'The member still has its vote. Demote it first, or cancel its join.',
  not_drained: 'The member still has copies that are not elsewhere. Wait until they are moved.',
  version_incompatible:
    'The node does not know the feature level of the state. Start the version that the members run.',
  state_checksum_mismatch:
    'The state of the node differs from that of the leader. Cancel the operation, and let the machine join under a new name with an empty data directory.',
}

const BLOCKERS_TITLE = `
## Blockers

A change of the members that is not safe now is refused with \`precondition_failed\`, and its dry run names all reasons. Each has one of these codes ([members](guide/members.md)).

| code | what it means, what to do |
|---|---|
`

export function errorsPage(): string {
  const codes = Object.keys(STATUS_OF) as (keyof typeof STATUS_OF)[]
  return (
    INTRODUCTION +
    codes.map((code) => `| ${STATUS_OF[code]} | \`${code}\` | ${MEANINGS[code]} |\n`).join('') +
    BLOCKERS_TITLE +
    Object.entries(BLOCKERS)
      .map(([code, meaning]) => `| \`${code}\` | ${meaning} |\n`)
      .join('')
  )
}

if (import.meta.main) writeFileSync(new URL('../../docs/errors.md', import.meta.url), errorsPage())
