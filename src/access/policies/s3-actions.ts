/**
 * The S3 actions that a bucket policy can name, and what each is done to.
 *
 * Owns: the list. The definition of an operation refers to its action here; test/access/policies/s3-actions.test.ts proves that
 * each listed action is that of an operation and the reverse. Rule: a request that names a version is checked under both names, so
 * that a statement that denies reading denies reading older versions with it. AWS checks only the second name, but there a denial
 * is not the only fence.
 */
type ActionName = `s3:${string}`

export interface S3Action {
  readonly name: ActionName
  readonly on: 'bucket' | 'object'
  /** It takes a prefix and a delimiter. */
  readonly isListing: boolean
  /** Its name when the request names a version; null: it cannot. */
  readonly ofVersion: ActionName | null
  /** Its request may bring a retention. */
  readonly setsRetention?: true
}

const onBucket = (name: ActionName): S3Action => ({ name, on: 'bucket', isListing: false, ofVersion: null })
const listing = (name: ActionName): S3Action => ({ name, on: 'bucket', isListing: true, ofVersion: null })
const onKey = (name: ActionName): S3Action => ({ name, on: 'object', isListing: false, ofVersion: null })
const onVersion = (name: ActionName, ofVersion: ActionName): S3Action => ({ ...onKey(name), ofVersion })

export const S3_ACTIONS = {
  createBucket: onBucket('s3:CreateBucket'),
  /** Of the bucket itself. */
  headBucket: onBucket('s3:ListBucket'),
  deleteBucket: onBucket('s3:DeleteBucket'),
  getBucketVersioning: onBucket('s3:GetBucketVersioning'),
  putBucketVersioning: onBucket('s3:PutBucketVersioning'),
  putObject: { ...onKey('s3:PutObject'), setsRetention: true },
  getObject: onVersion('s3:GetObject', 's3:GetObjectVersion'),
  deleteObject: onVersion('s3:DeleteObject', 's3:DeleteObjectVersion'),
  /** Of its keys. */
  listBucket: listing('s3:ListBucket'),
  listBucketVersions: listing('s3:ListBucketVersions'),
  getObjectTagging: onVersion('s3:GetObjectTagging', 's3:GetObjectVersionTagging'),
  putObjectTagging: onVersion('s3:PutObjectTagging', 's3:PutObjectVersionTagging'),
  deleteObjectTagging: onVersion('s3:DeleteObjectTagging', 's3:DeleteObjectVersionTagging'),
  getObjectRetention: onVersion('s3:GetObjectRetention', 's3:GetObjectRetention'),
  putObjectRetention: {
    ...onVersion('s3:PutObjectRetention', 's3:PutObjectRetention'),
    setsRetention: true,
  },
  getObjectLegalHold: onVersion('s3:GetObjectLegalHold', 's3:GetObjectLegalHold'),
  bypassGovernanceRetention: onVersion('s3:BypassGovernanceRetention', 's3:BypassGovernanceRetention'),
  putObjectLegalHold: onVersion('s3:PutObjectLegalHold', 's3:PutObjectLegalHold'),
  listMultipartUploadParts: onKey('s3:ListMultipartUploadParts'),
  abortMultipartUpload: onKey('s3:AbortMultipartUpload'),
  listBucketMultipartUploads: listing('s3:ListBucketMultipartUploads'),
  getBucketCORS: onBucket('s3:GetBucketCORS'),
  putBucketCORS: onBucket('s3:PutBucketCORS'),
  getBucketNotification: onBucket('s3:GetBucketNotification'),
  putBucketNotification: onBucket('s3:PutBucketNotification'),
  getBucketTagging: onBucket('s3:GetBucketTagging'),
  putBucketTagging: onBucket('s3:PutBucketTagging'),
  getLifecycle: onBucket('s3:GetLifecycleConfiguration'),
  putLifecycle: onBucket('s3:PutLifecycleConfiguration'),
  getReplication: onBucket('s3:GetReplicationConfiguration'),
  putReplication: onBucket('s3:PutReplicationConfiguration'),
  getBucketPolicy: onBucket('s3:GetBucketPolicy'),
  putBucketPolicy: onBucket('s3:PutBucketPolicy'),
  deleteBucketPolicy: onBucket('s3:DeleteBucketPolicy'),
  getBucketPolicyStatus: onBucket('s3:GetBucketPolicyStatus'),
  getBucketLocation: onBucket('s3:GetBucketLocation'),
  getEncryption: onBucket('s3:GetEncryptionConfiguration'),
  putEncryption: onBucket('s3:PutEncryptionConfiguration'),
  getPublicAccessBlock: onBucket('s3:GetBucketPublicAccessBlock'),
  putPublicAccessBlock: onBucket('s3:PutBucketPublicAccessBlock'),
  getOwnershipControls: onBucket('s3:GetBucketOwnershipControls'),
  putOwnershipControls: onBucket('s3:PutBucketOwnershipControls'),
  getBucketAcl: onBucket('s3:GetBucketAcl'),
  putBucketAcl: onBucket('s3:PutBucketAcl'),
  getBucketRequestPayment: onBucket('s3:GetBucketRequestPayment'),
  getObjectAcl: onVersion('s3:GetObjectAcl', 's3:GetObjectVersionAcl'),
  putObjectAcl: onVersion('s3:PutObjectAcl', 's3:PutObjectVersionAcl'),
  getBucketObjectLock: onBucket('s3:GetBucketObjectLockConfiguration'),
  putBucketObjectLock: onBucket('s3:PutBucketObjectLockConfiguration'),
} as const satisfies Record<string, S3Action>

/** What there is to know of an action when nothing but its name is given. */
export interface KnownAction {
  readonly name: ActionName
  /** The same in lower case, in which names are compared. */
  readonly lowerName: string
  readonly on: S3Action['on']
  readonly isListing: boolean
  readonly takesVersion: boolean
  readonly setsRetention: boolean
}

/** Every action that a policy can name, once. */
export const KNOWN_ACTIONS: readonly KnownAction[] = knownActions()

function knownActions(): readonly KnownAction[] {
  const known = new Map<string, KnownAction>()
  for (const action of Object.values<S3Action>(S3_ACTIONS)) {
    for (const name of namesOf(action, true)) {
      const isListing = action.isListing || known.get(name)?.isListing === true
      const setsRetention = action.setsRetention === true
      const facts = { on: action.on, isListing, takesVersion: action.ofVersion !== null, setsRetention }
      known.set(name, { name, lowerName: name.toLowerCase(), ...facts })
    }
  }
  return [...known.values()]
}

/** The names under which a policy is asked about one request. */
export function namesOf({ name, ofVersion }: S3Action, isOfVersion: boolean): readonly ActionName[] {
  return isOfVersion && ofVersion !== null && ofVersion !== name ? [name, ofVersion] : [name]
}
