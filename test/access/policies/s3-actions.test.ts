/**
 * What policies call each operation, written out by hand; the names are those of the AWS documentation of S3 actions.
 */
import t from 'tap'
import { DATA_OPERATION_IDS, type DataOperationId } from '../../../src/access/base/operation-ids.ts'
import { KNOWN_ACTIONS, namesOf, S3_ACTIONS } from '../../../src/access/policies/s3-actions.ts'
import { REQUIREMENTS } from '../../../src/access/requirements.ts'

/** Without a version, then the second name with one. */
const NAMES = {
  healthz: [],
  readyz: [],
  getOpenAPI: [],
  createToken: [],
  listBuckets: [],
  createBucket: ['s3:CreateBucket'],
  getBucket: ['s3:ListBucket'],
  deleteBucket: ['s3:DeleteBucket'],
  getBucketVersioning: ['s3:GetBucketVersioning'],
  setBucketVersioning: ['s3:PutBucketVersioning'],
  putObject: ['s3:PutObject'],
  getObject: ['s3:GetObject', 's3:GetObjectVersion'],
  headObject: ['s3:GetObject', 's3:GetObjectVersion'],
  deleteObject: ['s3:DeleteObject', 's3:DeleteObjectVersion'],
  listObjects: ['s3:ListBucket'],
  batchDeleteObjects: [],
  copyObject: ['s3:PutObject'],
  listObjectVersions: ['s3:ListBucketVersions'],
  getObjectTags: ['s3:GetObjectTagging', 's3:GetObjectVersionTagging'],
  setObjectTags: ['s3:PutObjectTagging', 's3:PutObjectVersionTagging'],
  deleteObjectTags: ['s3:DeleteObjectTagging', 's3:DeleteObjectVersionTagging'],
  getObjectRetention: ['s3:GetObjectRetention'],
  setObjectRetention: ['s3:PutObjectRetention'],
  getObjectLegalHold: ['s3:GetObjectLegalHold'],
  setObjectLegalHold: ['s3:PutObjectLegalHold'],
  createMultipartUpload: ['s3:PutObject'],
  uploadPart: ['s3:PutObject'],
  listParts: ['s3:ListMultipartUploadParts'],
  completeMultipartUpload: ['s3:PutObject'],
  abortMultipartUpload: ['s3:AbortMultipartUpload'],
  listMultipartUploads: ['s3:ListBucketMultipartUploads'],
  signURL: [],
  getSigned: ['s3:GetObject', 's3:GetObjectVersion'],
  putSigned: ['s3:PutObject'],
  preflightSigned: [],
  getBucketCORS: ['s3:GetBucketCORS'],
  setBucketCORS: ['s3:PutBucketCORS'],
  deleteBucketCORS: ['s3:PutBucketCORS'],
  getBucketNotifications: ['s3:GetBucketNotification'],
  setBucketNotifications: ['s3:PutBucketNotification'],
  deleteBucketNotifications: ['s3:PutBucketNotification'],
  listNotificationDeliveries: ['s3:GetBucketNotification'],
  redeliverNotification: ['s3:PutBucketNotification'],
  testNotification: ['s3:PutBucketNotification'],
} as const satisfies Record<DataOperationId, readonly string[]>

t.test('every operation on a bucket has its S3 action [policies.table]', async (t) => {
  for (const id of DATA_OPERATION_IDS) {
    const [name, ofVersion] = NAMES[id] as readonly string[]
    const action = S3_ACTIONS[id]
    t.same(action === null ? [] : namesOf(action, false), name === undefined ? [] : [name], id)
    t.same(
      action === null ? [] : namesOf(action, true),
      [name, ofVersion].filter(Boolean),
      `${id} of a version`,
    )
    const requirement = REQUIREMENTS[id]
    if (requirement.kind !== 'accessKey') t.equal(action, null, id)
    else if (requirement.reach === 'key') t.not(action, null, id)
    const isOnKeys = action !== null && action.on === 'object'
    if (isOnKeys) t.match(requirement, { reach: 'key' }, `${id} names a key`)
  }
  t.same(new Set(KNOWN_ACTIONS.map(({ name }) => name)), new Set(Object.values(NAMES).flat()))
})
