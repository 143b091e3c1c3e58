/**
 * The examples of the documents as one story, told to running servers: each operation once, those that others need again where
 * they are needed.
 *
 * Owns: the order. A new operation is put where what it needs is there.
 */
import type { OperationId } from '../../src/access/operation-ids.ts'
import { type Answers, filled } from '../../src/api/examples/example.ts'
import { EXAMPLES } from '../../src/api/examples/examples.ts'
import type { Ask } from './api-world.ts'
import type { DescribedOperation } from '../helpers/api-document.ts'

export const STORY: readonly OperationId[] = [
  ...(['healthz', 'readyz', 'getOpenAPI', 'adminHealthz', 'adminReadyz', 'getAdminOpenAPI'] as const),
  ...(['getMetrics', 'createTenant', 'getTenant', 'listTenants', 'createTenantKey'] as const),
  ...(['listTenantKeys', 'createToken', 'createBucket', 'deleteBucket', 'createBucket'] as const),
  ...(['listBuckets', 'getBucket', 'setBucketVersioning', 'getBucketVersioning', 'putObject'] as const),
  ...(['getObject', 'headObject', 'copyObject', 'listObjects', 'listObjectVersions'] as const),
  ...(['setObjectTags', 'getObjectTags', 'deleteObjectTags', 'setObjectLegalHold'] as const),
  ...(['getObjectLegalHold', 'setObjectRetention', 'getObjectRetention'] as const),
  ...(['createMultipartUpload', 'abortMultipartUpload', 'createMultipartUpload', 'uploadPart'] as const),
  ...(['listParts', 'listMultipartUploads', 'completeMultipartUpload', 'batchDeleteObjects'] as const),
  ...(['deleteObject', 'getTenantUsage', 'rebalance', 'listOperations', 'getOperation'] as const),
  ...(['pauseOperation', 'resumeOperation', 'cancelOperation', 'getRepair', 'setRepair'] as const),
  ...(['scrub', 'recount', 'resumeCollection', 'rotateTenantKey', 'revokeTenantKey'] as const),
]

/** The example of an operation as a request; what earlier answers gave is put in. */
export function askOf(operation: DescribedOperation, answers: Answers): Ask {
  const {
    params = {},
    query = {},
    headers = {},
    body,
  } = filled(EXAMPLES[operation.operationId as OperationId], answers)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    (params[name] ?? '').split('/').map(encodeURIComponent).join('/'),
  )
  const search = new URLSearchParams(query).toString()
  return {
    method: operation.method,
    path: search === '' ? path : `${path}?${search}`,
    headers,
    admin: path.startsWith('/admin/') || path === '/metrics',
    ...(body === undefined ? {} : { body }),
  }
}
