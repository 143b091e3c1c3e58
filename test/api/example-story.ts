/**
 * The examples of the documents as one story, sent to running servers: each operation once, repeated where others
 * need it.
 *
 * Owns: the order. An operation that is not named here comes where tenant, access key, bucket and object of the examples exist, which
 * is enough for a look-up; any other new operation is put where what it needs exists.
 */
import assert from 'node:assert/strict'
import { type Answers, type Example, filled } from '../../src/api/examples/example.ts'
import { ACME, APPROVAL } from '../../src/api/examples/names.ts'
import { ApiDocument, type DescribedOperation } from '../helpers/api-document.ts'
import { isAdminOperation, ROUTES } from '../helpers/operations.ts'
import type { Ask } from './api-world.ts'

/** Under this name an example is answered: the id of its operation, or a name of its own. */
export type ExampleId = string

/** The operation of each example. */
const EXAMPLES = new Map<ExampleId, { readonly of: string; readonly example: Example }>(
  ROUTES.flatMap(({ operation: { id: of }, example, furtherExamples = {} }) =>
    Object.entries({ [of]: example, ...furtherExamples }).map(([id, one]) => [id, { of, example: one }]),
  ),
)

export const EXAMPLE_IDS: readonly ExampleId[] = [...EXAMPLES.keys()]

const FIRST: readonly ExampleId[] = [
  ['healthz', 'readyz', 'getOpenAPI', 'adminHealthz', 'adminReadyz', 'getAdminOpenAPI'],
  ['getMetrics', 'createTenant', 'getTenant', 'listTenants', 'createTenantAccount'],
  ['createTenantKey', 'listTenantAccounts'],
  ['listTenantKeys', 'createToken', 'createBucket', 'deleteBucket', 'createBucket'],
  ['listBuckets', 'getBucket', 'setBucketVersioning', 'getBucketVersioning', 'setBucketObjectLock'],
  ['getBucketObjectLock', 'putObject'],
  ['testAccess', 'getObject', 'headObject', 'copyObject', 'listObjects', 'listObjectVersions'],
  ['setBucketCORS', 'getBucketCORS', 'signURL', 'getSigned', 'preflightSigned'],
  ['deleteBucketCORS', 'signUpload', 'putSigned'],
  ['setBucketLifecycle', 'getBucketLifecycle', 'previewBucketLifecycle', 'deleteBucketLifecycle'],
  ['setBucketReplication', 'getBucketReplication', 'getReplicationStatus', 'resyncBucketReplication'],
  ['retryBucketReplication', 'compareBucketReplication', 'deleteBucketReplication'],
  ['setBucketNotifications', 'getBucketNotifications', 'testNotification'],
  ['listNotificationDeliveries', 'redeliverNotification', 'deleteBucketNotifications'],
  ['setObjectTags', 'getObjectTags', 'deleteObjectTags', 'setObjectLegalHold'],
  ['getObjectLegalHold', 'setObjectRetention', 'getObjectRetention'],
  // Before an exchange of a data key: neither starts beside the other.
  ['createBackup', 'cancelBackup'],
].flat()

const LAST: readonly ExampleId[] = [
  ['createMultipartUpload', 'abortMultipartUpload', 'createMultipartUpload', 'uploadPart'],
  ['listParts', 'listMultipartUploads', 'completeMultipartUpload', 'batchDeleteObjects'],
  ['setTenantQuota', 'getTenantQuota', 'deleteTenantQuota'],
  ['setBackupTarget', 'getBackupTarget', 'listBackupTargets', 'setBackupSchedule', 'getBackupSchedule'],
  ['pruneBackups', 'listBackupSchedules', 'deleteBackupSchedule', 'deleteBackupTarget', 'restoreBackup'],
  ['setTenantLimits', 'getTenantLimits', 'deleteTenantLimits'],
  ['setTenantReplication', 'getTenantReplication', 'deleteTenantReplication'],
  ['deleteObject', 'getTenantUsage', 'setTenantBucketPolicy', 'getTenantBucketPolicy'],
  ['deleteTenantBucketPolicy', 'rebalance', 'listOperations', 'getOperation'],
  [
    'pauseOperation',
    'resumeOperation',
    'cancelOperation',
    'getRepair',
    'setRepair',
    'getClusterPlacement',
    'getClusterEncryption',
    'getChanges',
    'getEvents',
    'planClusterPlacement',
  ],
  ['scrub', 'recount', 'resumeCollection', 'rotateTenantKey', 'revokeTenantKey'],
  ['getClusterTime', 'confirmClusterTime', 'setBackClusterTime'],
  ['createLeavingTenant', 'disableTenant', 'deleteTenant'],
  ['getClusterMembership', 'joinVoter', 'demoteVoter', 'markVoterLost', 'removeMember'],
  ['setMemberPlacement', 'deleteMemberPlacement', 'listMemberDisks', 'drainDisk', 'cancelDiskDrain'],
  ['replaceVoter', 'transferLeadership', 'queryAuditLog', 'verifyAuditChain'],
].flat()

/** What another owner has asked for before the story begins: no caller approves what it asked for itself. */
export const PREPARED = {
  type: 'requestApproval',
  approvalId: APPROVAL.id,
  operation: 'deleteTenant',
  tenantId: ACME.id,
  change: '{"operation":"deleteTenant","tenantId":"acme","reason":"The contract has ended"}',
  requestedBy: { type: 'adminToken', id: 'adm_0123456789abcdef' },
} as const

const placed = new Set([...FIRST, ...LAST])

export const STORY: readonly ExampleId[] = [...FIRST, ...EXAMPLE_IDS.filter((id) => !placed.has(id)), ...LAST]

const DOCUMENTS = { data: new ApiDocument('data'), admin: new ApiDocument('admin') }

function entryOf(id: ExampleId): { readonly of: string; readonly example: Example } {
  const entry = EXAMPLES.get(id)
  assert(entry !== undefined, `there is an example ${id}`)
  return entry
}

export const operationIdOf = (id: ExampleId): string => entryOf(id).of

export const exampleOf = (id: ExampleId): Example => entryOf(id).example

export const isAdmin = (id: ExampleId): boolean => isAdminOperation(operationIdOf(id))

export const documentOf = (id: ExampleId): ApiDocument => DOCUMENTS[isAdmin(id) ? 'admin' : 'data']

/** What the document says of the operation of an example. */
export const operationOf = (id: ExampleId): DescribedOperation => documentOf(id).operation(operationIdOf(id))

/** Whether the document takes this kind of proof for an operation. */
export const takes = ({ security }: DescribedOperation, way: 'bearer' | 'signedUrl'): boolean =>
  security.some((ways) => way in ways)

/** An example as a request; what earlier answers gave is put in. */
export function askOf(id: ExampleId, answers: Answers): Ask {
  const { method, path: template } = operationOf(id)
  const { params = {}, query = {}, headers = {}, body } = filled(exampleOf(id), answers)
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    (params[name] ?? '').split('/').map(encodeURIComponent).join('/'),
  )
  const search = new URLSearchParams(query).toString()
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers,
    admin: isAdmin(id),
    ...(body === undefined ? {} : { body }),
  }
}
