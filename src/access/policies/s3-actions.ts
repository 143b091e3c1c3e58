/**
 * What a bucket policy calls each operation: its S3 action, and what that action is done to.
 *
 * Owns: the whole table, one row per operation of the data plane; a missing row does not compile. Null: no policy of a bucket
 * can speak of it. Rule: a request that names a version is asked for under both names, so that who denies reading denies
 * reading older versions with it; AWS asks for the second alone, but there a denial is not the only fence.
 */
import type { DataOperationId } from '../base/operation-ids.ts'

type ActionName = `s3:${string}`

interface S3Action {
  readonly name: ActionName
  readonly on: 'bucket' | 'object'
  /** It takes a prefix and a delimiter. */
  readonly isListing: boolean
  /** Its name when the request names a version; null: it cannot. */
  readonly ofVersion: ActionName | null
}

const onBucket = (name: ActionName): S3Action => ({ name, on: 'bucket', isListing: false, ofVersion: null })
const listing = (name: ActionName): S3Action => ({ name, on: 'bucket', isListing: true, ofVersion: null })
const onKey = (name: ActionName): S3Action => ({ name, on: 'object', isListing: false, ofVersion: null })
const onVersion = (name: ActionName, ofVersion: ActionName): S3Action => ({ ...onKey(name), ofVersion })

const GET_OBJECT = onVersion('s3:GetObject', 's3:GetObjectVersion')
const GET_RETENTION = onVersion('s3:GetObjectRetention', 's3:GetObjectRetention')
const PUT_RETENTION = onVersion('s3:PutObjectRetention', 's3:PutObjectRetention')
const GET_LEGAL_HOLD = onVersion('s3:GetObjectLegalHold', 's3:GetObjectLegalHold')
const PUT_LEGAL_HOLD = onVersion('s3:PutObjectLegalHold', 's3:PutObjectLegalHold')

export const S3_ACTIONS = {
  healthz: null,
  readyz: null,
  getOpenAPI: null,
  createToken: null,
  // It aims at no bucket; which ones it shows is decided by scopes.
  listBuckets: null,
  createBucket: onBucket('s3:CreateBucket'),
  getBucket: onBucket('s3:ListBucket'),
  deleteBucket: onBucket('s3:DeleteBucket'),
  getBucketVersioning: onBucket('s3:GetBucketVersioning'),
  setBucketVersioning: onBucket('s3:PutBucketVersioning'),
  putObject: onKey('s3:PutObject'),
  getObject: GET_OBJECT,
  headObject: GET_OBJECT,
  deleteObject: onVersion('s3:DeleteObject', 's3:DeleteObjectVersion'),
  listObjects: listing('s3:ListBucket'),
  // Each of its keys is asked for as deleteObject.
  batchDeleteObjects: null,
  copyObject: onKey('s3:PutObject'),
  listObjectVersions: listing('s3:ListBucketVersions'),
  getObjectTags: onVersion('s3:GetObjectTagging', 's3:GetObjectVersionTagging'),
  setObjectTags: onVersion('s3:PutObjectTagging', 's3:PutObjectVersionTagging'),
  deleteObjectTags: onVersion('s3:DeleteObjectTagging', 's3:DeleteObjectVersionTagging'),
  getObjectRetention: GET_RETENTION,
  setObjectRetention: PUT_RETENTION,
  getObjectLegalHold: GET_LEGAL_HOLD,
  setObjectLegalHold: PUT_LEGAL_HOLD,
  createMultipartUpload: onKey('s3:PutObject'),
  uploadPart: onKey('s3:PutObject'),
  listParts: onKey('s3:ListMultipartUploadParts'),
  completeMultipartUpload: onKey('s3:PutObject'),
  abortMultipartUpload: onKey('s3:AbortMultipartUpload'),
  listMultipartUploads: listing('s3:ListBucketMultipartUploads'),
  // What the URL is to open is asked for as getObject or putObject.
  signURL: null,
  getSigned: GET_OBJECT,
  putSigned: onKey('s3:PutObject'),
  // Asked for as what the browser is about to do.
  preflightSigned: null,
  getBucketCORS: onBucket('s3:GetBucketCORS'),
  setBucketCORS: onBucket('s3:PutBucketCORS'),
  deleteBucketCORS: onBucket('s3:PutBucketCORS'),
  getBucketNotifications: onBucket('s3:GetBucketNotification'),
  setBucketNotifications: onBucket('s3:PutBucketNotification'),
  deleteBucketNotifications: onBucket('s3:PutBucketNotification'),
  listNotificationDeliveries: onBucket('s3:GetBucketNotification'),
  redeliverNotification: onBucket('s3:PutBucketNotification'),
  testNotification: onBucket('s3:PutBucketNotification'),
} as const satisfies Record<DataOperationId, S3Action | null>

/** What there is to know of an action when nothing but its name is given. */
export interface KnownAction {
  readonly name: ActionName
  /** The same in lower case, in which names are compared. */
  readonly lowerName: string
  readonly on: S3Action['on']
  readonly isListing: boolean
  readonly takesVersion: boolean
}

/** Every action that a policy can name, once. */
export const KNOWN_ACTIONS: readonly KnownAction[] = knownActions()

function knownActions(): readonly KnownAction[] {
  const known = new Map<string, KnownAction>()
  for (const action of Object.values<S3Action | null>(S3_ACTIONS)) {
    if (action === null) continue
    for (const name of namesOf(action, true)) {
      const isListing = action.isListing || known.get(name)?.isListing === true
      const facts = { on: action.on, isListing, takesVersion: action.ofVersion !== null }
      known.set(name, { name, lowerName: name.toLowerCase(), ...facts })
    }
  }
  return [...known.values()]
}

/** The names under which one request is asked for. */
export function namesOf({ name, ofVersion }: S3Action, isOfVersion: boolean): readonly ActionName[] {
  return isOfVersion && ofVersion !== null && ofVersion !== name ? [name, ofVersion] : [name]
}
