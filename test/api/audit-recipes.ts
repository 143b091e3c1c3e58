/**
 * One request for each operation that goes well, in an order in which each finds what it needs.
 *
 * Rule: an operation without a recipe does not compile, so none is left out of the walk over the audit log.
 */
import type { OperationId } from '../../src/access/operation-ids.ts'
import type { Ask } from './api-world.ts'

export interface Kitchen {
  readonly token: string
  readonly owner: string
  readonly key: { readonly accessKeyId: string; readonly secretKey: string }
  /** What an earlier answer said. */
  uploadId: string
  part: string
  operation: string
  delivery: string
  /** Tokens of signed URLs to read and to write object `a`. */
  readUrl: string
  writeUrl: string
}

type Recipe = (kitchen: Kitchen) => Ask

const BUCKET = '/api/v1/buckets/locked'
const OBJECT = `${BUCKET}/objects/a`
const SIGNED = '/api/v1/signed/locked/a'
const ORIGIN = 'https://app.example'
const reason = 'because'
const CLUSTER = '/admin/api/v1/cluster'
const TENANT = '/admin/api/v1/tenants/acme'
const POLICY = `${TENANT}/buckets/locked/policy`

const data =
  (method: string, path: string, body?: Ask['body']): Recipe =>
  ({ token }) => ({ method, path, token, ...(body === undefined ? {} : { body }) })
const admin =
  (method: string, path: string, body?: Ask['body']): Recipe =>
  ({ owner }) => ({ method, path, token: owner, admin: true, ...(body === undefined ? {} : { body }) })
const uploading =
  (method: string, path: (kitchen: Kitchen) => string, body?: (kitchen: Kitchen) => Ask['body']): Recipe =>
  (kitchen) => {
    const given = body?.(kitchen)
    const { token } = kitchen
    return {
      method,
      path: `${BUCKET}/multipart${path(kitchen)}`,
      token,
      ...(given === undefined ? {} : { body: given }),
    }
  }
const acting = (verb: string): Recipe =>
  ((kitchen) => admin('POST', `${CLUSTER}/operations/${kitchen.operation}/${verb}`)(kitchen)) satisfies Recipe

export const RECIPES = {
  healthz: () => ({ path: '/healthz' }),
  readyz: () => ({ path: '/readyz' }),
  getOpenAPI: () => ({ path: '/api/v1/openapi.json' }),
  createToken: ({ key }) => ({ method: 'POST', path: '/api/v1/auth/token', body: key }),
  listBuckets: data('GET', '/api/v1/buckets'),
  createBucket: data('POST', '/api/v1/buckets', { name: 'locked', objectLockEnabled: true }),
  getBucket: data('GET', BUCKET),
  setBucketVersioning: data('PUT', `${BUCKET}/versioning`, { status: 'Enabled' }),
  getBucketVersioning: data('GET', `${BUCKET}/versioning`),
  putObject: data('PUT', OBJECT, 'hello'),
  getObject: data('GET', OBJECT),
  headObject: data('HEAD', OBJECT),
  listObjects: data('GET', `${BUCKET}/objects`),
  setBucketCORS: data('PUT', `${BUCKET}/cors`, {
    rules: [{ allowedOrigins: [ORIGIN], allowedMethods: ['GET'] }],
  }),
  getBucketCORS: data('GET', `${BUCKET}/cors`),
  signURL: data('POST', '/api/v1/sign-url', { method: 'GET', bucket: 'locked', key: 'a', reason }),
  getSigned: ({ readUrl }) => ({ path: `${SIGNED}?token=${readUrl}` }),
  preflightSigned: ({ readUrl }) => ({
    method: 'OPTIONS',
    path: `${SIGNED}?token=${readUrl}`,
    headers: { origin: ORIGIN, 'access-control-request-method': 'GET' },
  }),
  putSigned: ({ writeUrl }) => ({ method: 'PUT', path: `${SIGNED}?token=${writeUrl}`, body: 'hello' }),
  deleteBucketCORS: data('DELETE', `${BUCKET}/cors`),
  setBucketNotifications: data('PUT', `${BUCKET}/notifications`, {
    configs: [{ id: 'thumbs', url: 'https://hooks.example/x', events: ['object-removed'] }],
  }),
  getBucketNotifications: data('GET', `${BUCKET}/notifications`),
  testNotification: data('POST', `${BUCKET}/notifications/thumbs:test`),
  listNotificationDeliveries: data('GET', `${BUCKET}/notifications/deliveries`),
  redeliverNotification: (kitchen) =>
    data('POST', `${BUCKET}/notifications/deliveries/${kitchen.delivery}:redeliver`)(kitchen),
  deleteBucketNotifications: data('DELETE', `${BUCKET}/notifications`),
  copyObject: data('POST', `${BUCKET}/object-copy/b`, { sourceBucket: 'locked', sourceKey: 'a' }),
  listObjectVersions: data('GET', `${BUCKET}/versions`),
  setObjectTags: data('PUT', `${BUCKET}/object-tags/a`, { tags: { env: 'prod' } }),
  getObjectTags: data('GET', `${BUCKET}/object-tags/a`),
  deleteObjectTags: data('DELETE', `${BUCKET}/object-tags/a`),
  setObjectRetention: data('PUT', `${BUCKET}/object-retention/a`, {
    mode: 'GOVERNANCE',
    retainUntil: '2099-01-01T00:00:00Z',
  }),
  getObjectRetention: data('GET', `${BUCKET}/object-retention/a`),
  setObjectLegalHold: data('PUT', `${BUCKET}/object-legal-hold/a`, { status: 'ON' }),
  getObjectLegalHold: data('GET', `${BUCKET}/object-legal-hold/a`),
  deleteObject: data('DELETE', OBJECT),
  batchDeleteObjects: data('POST', `${BUCKET}/objects:batchDelete`, {
    objects: [{ key: 'a' }, { key: 'c' }],
  }),
  createMultipartUpload: uploading(
    'POST',
    () => '/m',
    () => ({}),
  ),
  listMultipartUploads: uploading('GET', () => ''),
  uploadPart: uploading(
    'PUT',
    ({ uploadId }) => `/${uploadId}/parts/1/m`,
    () => 'part',
  ),
  listParts: uploading('GET', ({ uploadId }) => `/${uploadId}/parts/m`),
  completeMultipartUpload: uploading(
    'POST',
    ({ uploadId }) => `/${uploadId}/complete/m`,
    ({ part }) => ({ parts: [{ partNumber: 1, etag: part }] }),
  ),
  abortMultipartUpload: uploading('DELETE', ({ uploadId }) => `/${uploadId}/m`),
  deleteBucket: data('DELETE', '/api/v1/buckets/photos'),

  adminHealthz: () => ({ path: '/healthz', admin: true }),
  adminReadyz: () => ({ path: '/readyz', admin: true }),
  getAdminOpenAPI: () => ({ path: '/admin/api/v1/openapi.json', admin: true }),
  getMetrics: admin('GET', '/metrics'),
  listTenants: admin('GET', '/admin/api/v1/tenants'),
  createTenant: admin('POST', '/admin/api/v1/tenants', { id: 'rival', name: 'Rival' }),
  getTenant: admin('GET', TENANT),
  getTenantUsage: admin('GET', `${TENANT}/usage`),
  listTenantKeys: admin('GET', `${TENANT}/keys`),
  createTenantKey: admin('POST', `${TENANT}/keys`, { scopes: 'read' }),
  rotateTenantKey: (kitchen) => admin('POST', `${TENANT}/keys/${kitchen.key.accessKeyId}/rotate`)(kitchen),
  revokeTenantKey: (kitchen) =>
    admin('POST', `${TENANT}/keys/${kitchen.key.accessKeyId}/revoke`, { reason })(kitchen),
  setTenantBucketPolicy: admin('PUT', POLICY, {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::locked/kept/*' },
    ],
  }),
  getTenantBucketPolicy: admin('GET', POLICY),
  deleteTenantBucketPolicy: admin('DELETE', POLICY),
  rebalance: admin('POST', `${CLUSTER}/rebalance`, { tenantId: 'acme', reason }),
  scrub: admin('POST', `${CLUSTER}/scrub`, { reason }),
  recount: admin('POST', `${CLUSTER}/recount`, { reason }),
  listOperations: admin('GET', `${CLUSTER}/operations`),
  getOperation: (kitchen) => admin('GET', `${CLUSTER}/operations/${kitchen.operation}`)(kitchen),
  pauseOperation: acting('pause'),
  resumeOperation: acting('resume'),
  cancelOperation: acting('cancel'),
  getRepair: admin('GET', `${CLUSTER}/repair`),
  setRepair: admin('PUT', `${CLUSTER}/repair`, { maxBytesPerSecond: 1_000_000 }),
  resumeCollection: admin('POST', `${CLUSTER}/collection/resume`, { reason }),
  queryAuditLog: admin('GET', '/admin/api/v1/audit'),
} as const satisfies Record<OperationId, Recipe>
