/**
 * The examples of the documents as one story, told to running servers: each operation once, those that others need again where
 * they are needed.
 *
 * Owns: the order. A new operation is put where what it needs is there.
 */
import { ADMIN_OPERATION_IDS, type OperationId } from '../../src/access/base/operation-ids.ts'
import { type Answers, type Example, filled } from '../../src/api/examples/example.ts'
import { EXAMPLES, FURTHER_EXAMPLES, type FurtherExampleId } from '../../src/api/examples/examples.ts'
import type { Ask } from './api-world.ts'
import { ApiDocument, type DescribedOperation } from '../helpers/api-document.ts'

/** Under this name an example is answered. */
export type ExampleId = OperationId | FurtherExampleId

export const STORY: readonly ExampleId[] = [
  ...(['healthz', 'readyz', 'getOpenAPI', 'adminHealthz', 'adminReadyz', 'getAdminOpenAPI'] as const),
  ...(['getMetrics', 'createTenant', 'getTenant', 'listTenants', 'createTenantAccount'] as const),
  ...(['createTenantKey', 'listTenantAccounts'] as const),
  ...(['listTenantKeys', 'createToken', 'createBucket', 'deleteBucket', 'createBucket'] as const),
  ...(['listBuckets', 'getBucket', 'setBucketVersioning', 'getBucketVersioning', 'putObject'] as const),
  ...(['getObject', 'headObject', 'copyObject', 'listObjects', 'listObjectVersions'] as const),
  ...(['setBucketCORS', 'getBucketCORS', 'signURL', 'getSigned', 'preflightSigned'] as const),
  ...(['deleteBucketCORS', 'signUpload', 'putSigned'] as const),
  ...(['setBucketNotifications', 'getBucketNotifications', 'testNotification'] as const),
  ...(['listNotificationDeliveries', 'redeliverNotification', 'deleteBucketNotifications'] as const),
  ...(['setObjectTags', 'getObjectTags', 'deleteObjectTags', 'setObjectLegalHold'] as const),
  ...(['getObjectLegalHold', 'setObjectRetention', 'getObjectRetention'] as const),
  ...(['createMultipartUpload', 'abortMultipartUpload', 'createMultipartUpload', 'uploadPart'] as const),
  ...(['listParts', 'listMultipartUploads', 'completeMultipartUpload', 'batchDeleteObjects'] as const),
  ...(['setTenantQuota', 'getTenantQuota', 'deleteTenantQuota'] as const),
  ...(['deleteObject', 'getTenantUsage', 'setTenantBucketPolicy', 'getTenantBucketPolicy'] as const),
  ...(['deleteTenantBucketPolicy', 'rebalance', 'listOperations', 'getOperation'] as const),
  ...(['pauseOperation', 'resumeOperation', 'cancelOperation', 'getRepair', 'setRepair'] as const),
  ...(['scrub', 'recount', 'resumeCollection', 'rotateTenantKey', 'revokeTenantKey'] as const),
  ...(['getClusterTime', 'confirmClusterTime', 'setBackClusterTime'] as const),
  ...(['createLeavingTenant', 'disableTenant', 'deleteTenant'] as const),
  ...(['getClusterMembership', 'joinVoter', 'demoteVoter', 'markVoterLost', 'removeMember'] as const),
  ...(['replaceVoter', 'transferLeadership', 'queryAuditLog'] as const),
]

const DOCUMENTS = { data: new ApiDocument('data'), admin: new ApiDocument('admin') }

const isFurther = (id: ExampleId): id is FurtherExampleId => Object.hasOwn(FURTHER_EXAMPLES, id)

export const operationIdOf = (id: ExampleId): OperationId => (isFurther(id) ? FURTHER_EXAMPLES[id].of : id)

export const exampleOf = (id: ExampleId): Example => (isFurther(id) ? FURTHER_EXAMPLES[id] : EXAMPLES[id])

export const isAdmin = (id: ExampleId): boolean =>
  ADMIN_OPERATION_IDS.some((admin) => admin === operationIdOf(id))

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
    admin: path.startsWith('/admin/') || path === '/metrics',
    ...(body === undefined ? {} : { body }),
  }
}
