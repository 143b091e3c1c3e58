/**
 * A call of every operation of the data plane; a missing one does not compile. They tell one story: a bucket, an object in it,
 * and what can be done with both.
 */
import type { DataOperationId } from '../../access/base/operation-ids.ts'
import type { Example, FurtherExample } from './example.ts'

const BUCKET = { bucket: 'photos' }
const OBJECT = { ...BUCKET, key: '2026/cat.txt' }
const PAGE = 'https://app.example.com'
const UPLOAD = { ...BUCKET, uploadId: '{createMultipartUpload.uploadId}', key: '2026/film.txt' }

export const dataExamples = {
  healthz: {},
  readyz: {},
  getOpenAPI: {},
  createToken: {
    body: { accessKeyId: '{createTenantKey.accessKeyId}', secretKey: '{createTenantKey.secretKey}' },
  },

  listBuckets: { query: { prefix: 'ph', maxBuckets: '100' } },
  createBucket: { body: { name: 'photos', versioning: 'Enabled', objectLockEnabled: true } },
  getBucket: { params: BUCKET },
  deleteBucket: { params: BUCKET },
  getBucketVersioning: { params: BUCKET },
  setBucketVersioning: { params: BUCKET, body: { status: 'Enabled' } },

  getBucketCORS: { params: BUCKET },
  setBucketCORS: {
    params: BUCKET,
    body: {
      rules: [
        {
          id: 'app',
          allowedOrigins: [PAGE],
          allowedMethods: ['GET', 'PUT'],
          allowedHeaders: ['content-type'],
          exposeHeaders: ['ETag'],
          maxAgeSeconds: 600,
        },
      ],
    },
  },
  deleteBucketCORS: { params: BUCKET },

  signURL: {
    body: {
      method: 'GET',
      bucket: 'photos',
      key: '2026/cat.txt',
      ttlSeconds: 600,
      responseContentDisposition: 'attachment; filename="cat.txt"',
      reason: 'For the newsletter',
    },
  },
  getSigned: { params: OBJECT, query: { token: '{signURL.token}' } },
  putSigned: {
    params: { ...BUCKET, key: '2026/dog.txt' },
    query: { token: '{signUpload.token}' },
    headers: { 'Content-Type': 'text/plain' },
    body: 'woof',
  },
  preflightSigned: {
    params: OBJECT,
    query: { token: '{signURL.token}' },
    headers: { Origin: PAGE, 'Access-Control-Request-Method': 'GET' },
  },

  putObject: {
    params: OBJECT,
    headers: {
      'Content-Type': 'text/plain',
      'X-Service-Checksum-SHA256': 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=',
      'X-Service-Tagging': 'animal=cat',
      'Idempotency-Key': 'upload-1',
      'If-None-Match': '*',
    },
    body: 'hello',
  },
  getObject: { params: OBJECT, headers: { Range: 'bytes=0-3' } },
  headObject: { params: OBJECT },
  deleteObject: { params: OBJECT },
  listObjects: { params: BUCKET, query: { prefix: '2026/', delimiter: '/', maxKeys: '100' } },
  batchDeleteObjects: {
    params: BUCKET,
    body: { objects: [{ key: '2026/copy.txt' }, { key: '2026/dog.txt' }], quiet: false },
  },
  copyObject: {
    params: { ...BUCKET, key: '2026/copy.txt' },
    body: { sourceBucket: 'photos', sourceKey: '2026/cat.txt', requireAbsent: true },
  },

  getBucketNotifications: { params: BUCKET },
  setBucketNotifications: {
    params: BUCKET,
    body: {
      configs: [
        { id: 'thumbs', url: 'https://hooks.example/pictures', events: ['object-created'], prefix: '2026/' },
      ],
    },
  },
  deleteBucketNotifications: { params: BUCKET },
  listNotificationDeliveries: { params: BUCKET, query: { configId: 'thumbs', maxDeliveries: '10' } },
  testNotification: { params: { ...BUCKET, configId: 'thumbs' } },
  redeliverNotification: { params: { ...BUCKET, deliveryId: '{testNotification.deliveryId}' } },

  listObjectVersions: { params: BUCKET, query: { prefix: '2026/' } },
  getObjectTags: { params: OBJECT },
  setObjectTags: { params: OBJECT, body: { tags: { animal: 'cat', mood: 'sleepy' } } },
  deleteObjectTags: { params: OBJECT, query: { versionId: '{putObject.versionId}' } },
  getObjectRetention: { params: OBJECT },
  setObjectRetention: {
    params: OBJECT,
    body: { mode: 'GOVERNANCE', retainUntil: '2099-01-31T12:00:00.000Z' },
  },
  getObjectLegalHold: { params: OBJECT },
  setObjectLegalHold: { params: OBJECT, body: { status: 'ON' } },

  createMultipartUpload: {
    params: { ...BUCKET, key: '2026/film.txt' },
    body: { contentType: 'text/plain', tags: { kind: 'film' }, checksumAlg: 'CRC32C' },
  },
  uploadPart: { params: { ...UPLOAD, partNumber: '1' }, body: 'Once upon a time' },
  listParts: { params: UPLOAD, query: { maxParts: '100' } },
  completeMultipartUpload: {
    params: UPLOAD,
    body: { parts: [{ partNumber: 1, etag: '{uploadPart.etag}' }] },
  },
  abortMultipartUpload: { params: UPLOAD },
  listMultipartUploads: { params: BUCKET, query: { prefix: '2026/' } },
} satisfies Record<DataOperationId, Example>

export const furtherDataExamples = {
  signUpload: {
    of: 'signURL',
    body: {
      method: 'PUT',
      bucket: 'photos',
      keyPrefix: '2026/',
      contentLengthMax: 1000,
      reason: 'Pictures of the visitors',
    },
  },
} satisfies Record<string, FurtherExample>
