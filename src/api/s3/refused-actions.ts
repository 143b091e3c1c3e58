/**
 * Actions of S3 that are known and not done here: each is refused by its name with `NotImplemented`. [AWS S3 API reference: Actions]
 *
 * Rule: of rows for one method that share marks, the one with more comes first.
 */
import type { Method } from '../route.ts'
import type { S3Level, S3Refused } from './base/s3-route.ts'

const PER_BUCKET = 'what it configures does not exist here'
const REMOVAL = 'it would end what always holds here'
const NO_SELECT = 'objects are not queried'
const NO_COLD_STORAGE = 'there is one storage class, and nothing to restore from'

type Row = readonly [action: string, method: Method, marks: readonly string[], why: string]

const OF_BUCKETS: readonly Row[] = [
  ['PutBucketLogging', 'PUT', ['logging'], 'requests are in the audit log'],
  ['PutBucketWebsite', 'PUT', ['website'], PER_BUCKET],
  ['DeleteBucketWebsite', 'DELETE', ['website'], PER_BUCKET],
  ['PutBucketAccelerateConfiguration', 'PUT', ['accelerate'], PER_BUCKET],
  ['PutBucketRequestPayment', 'PUT', ['requestPayment'], 'the owner of a bucket pays'],
  ['DeletePublicAccessBlock', 'DELETE', ['publicAccessBlock'], REMOVAL],
  ['DeleteBucketOwnershipControls', 'DELETE', ['ownershipControls'], REMOVAL],
  ...listed('BucketAnalyticsConfiguration', 'analytics'),
  ...listed('BucketIntelligentTieringConfiguration', 'intelligent-tiering'),
  ...listed('BucketInventoryConfiguration', 'inventory'),
  ...listed('BucketMetricsConfiguration', 'metrics'),
  ['CreateBucketMetadataConfiguration', 'POST', ['metadataConfiguration'], PER_BUCKET],
  ['GetBucketMetadataConfiguration', 'GET', ['metadataConfiguration'], PER_BUCKET],
  ['DeleteBucketMetadataConfiguration', 'DELETE', ['metadataConfiguration'], PER_BUCKET],
  ['CreateBucketMetadataTableConfiguration', 'POST', ['metadataTable'], PER_BUCKET],
  ['GetBucketMetadataTableConfiguration', 'GET', ['metadataTable'], PER_BUCKET],
  ['DeleteBucketMetadataTableConfiguration', 'DELETE', ['metadataTable'], PER_BUCKET],
  ['CreateSession', 'GET', ['session'], 'there are no directory buckets'],
]

const OF_OBJECTS: readonly Row[] = [
  ['RestoreObject', 'POST', ['restore'], NO_COLD_STORAGE],
  ['SelectObjectContent', 'POST', ['select'], NO_SELECT],
  ['GetObjectTorrent', 'GET', ['torrent'], 'there are no torrents'],
  ['RenameObject', 'PUT', ['renameObject'], 'there are no directory buckets'],
  ['UpdateObjectEncryption', 'PUT', ['encryption'], 'everything is encrypted with AES256'],
]

/** What a bucket may have several of, each with an id. */
function listed(noun: string, mark: string): readonly Row[] {
  return [
    [`Get${noun}`, 'GET', [mark, 'id'], PER_BUCKET],
    [`List${noun}s`, 'GET', [mark], PER_BUCKET],
    [`Put${noun}`, 'PUT', [mark], PER_BUCKET],
    [`Delete${noun}`, 'DELETE', [mark], PER_BUCKET],
  ]
}

const at =
  (level: S3Level) =>
  ([action, method, marks, why]: Row): S3Refused => ({ action, method, level, marks, why })

export const refusedActions: readonly S3Refused[] = [
  ...OF_BUCKETS.map(at('bucket')),
  ...OF_OBJECTS.map(at('object')),
]
