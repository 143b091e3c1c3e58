/**
 * Every operation there is, by the id that the API documents, the authorization table, the metrics and the tests share.
 *
 * Rule: a route without an id here, or an id without a row in requirements.ts, does not compile. [decisions 13]
 */
export const DATA_OPERATION_IDS = [
  'healthz',
  'readyz',
  'getOpenAPI',
  'createToken',
  'signURL',
  'getSigned',
  'putSigned',
  'preflightSigned',
  'listBuckets',
  'createBucket',
  'getBucket',
  'deleteBucket',
  'getBucketVersioning',
  'setBucketVersioning',
  'getBucketCORS',
  'setBucketCORS',
  'deleteBucketCORS',
  'getBucketNotifications',
  'setBucketNotifications',
  'deleteBucketNotifications',
  'listNotificationDeliveries',
  'redeliverNotification',
  'testNotification',
  'putObject',
  'getObject',
  'headObject',
  'deleteObject',
  'listObjects',
  'batchDeleteObjects',
  'copyObject',
  'listObjectVersions',
  'getObjectTags',
  'setObjectTags',
  'deleteObjectTags',
  'getObjectRetention',
  'setObjectRetention',
  'getObjectLegalHold',
  'setObjectLegalHold',
  'createMultipartUpload',
  'uploadPart',
  'listParts',
  'completeMultipartUpload',
  'abortMultipartUpload',
  'listMultipartUploads',
] as const

export const ADMIN_OPERATION_IDS = [
  'adminHealthz',
  'adminReadyz',
  'getAdminOpenAPI',
  'getMetrics',
  'listTenants',
  'createTenant',
  'getTenant',
  'disableTenant',
  'deleteTenant',
  'getTenantUsage',
  'listTenantKeys',
  'createTenantKey',
  'rotateTenantKey',
  'revokeTenantKey',
  'getTenantBucketPolicy',
  'setTenantBucketPolicy',
  'deleteTenantBucketPolicy',
  'rebalance',
  'listOperations',
  'getOperation',
  'cancelOperation',
  'pauseOperation',
  'resumeOperation',
  'getRepair',
  'setRepair',
  'scrub',
  'recount',
  'resumeCollection',
  'queryAuditLog',
] as const

export type DataOperationId = (typeof DATA_OPERATION_IDS)[number]
export type AdminOperationId = (typeof ADMIN_OPERATION_IDS)[number]
export type OperationId = DataOperationId | AdminOperationId

export function isDataOperation(id: OperationId): id is DataOperationId {
  return DATA_OPERATION_IDS.some((known) => known === id)
}
