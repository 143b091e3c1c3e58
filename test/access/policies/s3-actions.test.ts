/**
 * The name of each operation in policies, written manually; the names are those of the AWS documentation of S3 actions.
 */
import t from 'tap'
import { KNOWN_ACTIONS, namesOf, S3_ACTIONS, type S3Action } from '../../../src/access/policies/s3-actions.ts'
import { KEY_OPERATIONS } from '../../helpers/operations.ts'

/** The name without a version, then the name with one. */
const NAMES = {
  healthz: [],
  readyz: [],
  getOpenAPI: [],
  createToken: [],
  listBuckets: [],
  createBucket: ['s3:CreateBucket'],
  getBucket: ['s3:ListBucket'],
  deleteBucket: ['s3:DeleteBucket'],
  getBucketUsage: ['s3:ListBucket'],
  getBucketVersioning: ['s3:GetBucketVersioning'],
  setBucketVersioning: ['s3:PutBucketVersioning'],
  getBucketTags: ['s3:GetBucketTagging'],
  setBucketTags: ['s3:PutBucketTagging'],
  deleteBucketTags: ['s3:PutBucketTagging'],
  getBucketPolicy: ['s3:GetBucketPolicy'],
  getBucketPolicyStatus: ['s3:GetBucketPolicyStatus'],
  setBucketPolicy: ['s3:PutBucketPolicy'],
  deleteBucketPolicy: ['s3:DeleteBucketPolicy'],
  getBucketLocation: ['s3:GetBucketLocation'],
  getBucketEncryption: ['s3:GetEncryptionConfiguration'],
  confirmBucketEncryption: ['s3:PutEncryptionConfiguration'],
  getPublicAccessBlock: ['s3:GetBucketPublicAccessBlock'],
  confirmPublicAccessBlock: ['s3:PutBucketPublicAccessBlock'],
  getBucketOwnership: ['s3:GetBucketOwnershipControls'],
  confirmBucketOwnership: ['s3:PutBucketOwnershipControls'],
  getBucketAcl: ['s3:GetBucketAcl'],
  confirmBucketAcl: ['s3:PutBucketAcl'],
  getBucketPayer: ['s3:GetBucketRequestPayment'],
  getObjectAcl: ['s3:GetObjectAcl', 's3:GetObjectVersionAcl'],
  confirmObjectAcl: ['s3:PutObjectAcl', 's3:PutObjectVersionAcl'],
  getBucketObjectLock: ['s3:GetBucketObjectLockConfiguration'],
  setBucketObjectLock: ['s3:PutBucketObjectLockConfiguration'],
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
  uploadPartCopy: ['s3:PutObject'],
  getObjectParts: ['s3:GetObject', 's3:GetObjectVersion'],
  listParts: ['s3:ListMultipartUploadParts'],
  completeMultipartUpload: ['s3:PutObject'],
  abortMultipartUpload: ['s3:AbortMultipartUpload'],
  listMultipartUploads: ['s3:ListBucketMultipartUploads'],
  signURL: [],
  createTemporaryToken: [],
  getSigned: ['s3:GetObject', 's3:GetObjectVersion'],
  putSigned: ['s3:PutObject'],
  preflightSigned: [],
  getBucketCORS: ['s3:GetBucketCORS'],
  setBucketCORS: ['s3:PutBucketCORS'],
  deleteBucketCORS: ['s3:PutBucketCORS'],
  getBucketLifecycle: ['s3:GetLifecycleConfiguration'],
  previewBucketLifecycle: ['s3:GetLifecycleConfiguration'],
  setBucketLifecycle: ['s3:PutLifecycleConfiguration'],
  deleteBucketLifecycle: ['s3:PutLifecycleConfiguration'],
  getBucketReplication: ['s3:GetReplicationConfiguration'],
  setBucketReplication: ['s3:PutReplicationConfiguration'],
  deleteBucketReplication: ['s3:PutReplicationConfiguration'],
  getReplicationStatus: ['s3:GetReplicationConfiguration'],
  resyncBucketReplication: ['s3:PutReplicationConfiguration'],
  retryBucketReplication: ['s3:PutReplicationConfiguration'],
  compareBucketReplication: ['s3:GetReplicationConfiguration'],
  getBucketNotifications: ['s3:GetBucketNotification'],
  setBucketNotifications: ['s3:PutBucketNotification'],
  deleteBucketNotifications: ['s3:PutBucketNotification'],
  listNotificationDeliveries: ['s3:GetBucketNotification'],
  redeliverNotification: ['s3:PutBucketNotification'],
  testNotification: ['s3:PutBucketNotification'],
} as const satisfies Record<string, readonly string[]>

t.test('every operation on a bucket has its S3 action [policies.table]', async (t) => {
  const ids = KEY_OPERATIONS.map(({ id }) => id)
  t.same(Object.keys(NAMES).sort(), [...ids].sort(), 'every operation has its row, once')
  for (const operation of KEY_OPERATIONS) {
    const { id, requires } = operation
    const [name, ofVersion] = NAMES[id as keyof typeof NAMES] as readonly string[]
    const action = 's3Action' in operation ? operation.s3Action : null
    t.same(action === null ? [] : namesOf(action, false), name === undefined ? [] : [name], id)
    t.same(
      action === null ? [] : namesOf(action, true),
      [name, ofVersion].filter(Boolean),
      `${id} of a version`,
    )
    if (requires.kind !== 'accessKey') t.equal(action, null, id)
    else if (requires.reach === 'key') t.not(action, null, id)
    const isOnKeys = action !== null && action.on === 'object'
    if (isOnKeys) t.match(requires, { reach: 'key' }, `${id} names a key`)
  }
  const asked = [...Object.values(NAMES).flat(), 's3:BypassGovernanceRetention']
  t.same(new Set(KNOWN_ACTIONS.map(({ name }) => name)), new Set(asked))
})

t.test(
  'every listed action is that of an operation, and every action of an operation is listed',
  async (t) => {
    const listed = new Set<S3Action>(Object.values(S3_ACTIONS))
    const used = new Set<S3Action>()
    // Asked for on top of an operation.
    used.add(S3_ACTIONS.bypassGovernanceRetention)
    for (const operation of KEY_OPERATIONS)
      if ('s3Action' in operation && operation.s3Action !== null) used.add(operation.s3Action)
    t.same(
      [...listed].filter((action) => !used.has(action)),
      [],
      'an action that no operation has would be accepted in a policy and deny nothing',
    )
    t.same(
      [...used].filter((action) => !listed.has(action)),
      [],
      'an action that is not listed could not be named in a policy',
    )
  },
)
