/**
 * What is stored about a bucket, each answer read after: authorize -> exists.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord, BucketTagsRecord, CorsRecord } from '../../state-machine/buckets/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findBucket } from './find-bucket.ts'
import { bucketTagsOf } from '../../state-machine/buckets/tags.ts'
import { corsOf } from '../../state-machine/buckets/cors.ts'

export const getBucket = dataOperation(
  {
    id: 'getBucket',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.headBucket,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<BucketRecord> => {
    return findBucket(services, principal.tenantId, input.bucket)
  },
)

export const getBucketVersioning = dataOperation(
  {
    id: 'getBucketVersioning',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.getBucketVersioning,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<BucketRecord> => {
    return findBucket(services, principal.tenantId, input.bucket)
  },
)

export const getBucketObjectLock = dataOperation(
  {
    id: 'getBucketObjectLock',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.getBucketObjectLock,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<BucketRecord> => {
    return findBucket(services, principal.tenantId, input.bucket)
  },
)

/** Without rules it is not_found. */
export const getBucketCORS = dataOperation(
  {
    id: 'getBucketCORS',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.getBucketCORS,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<CorsRecord> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const cors = corsOf(services.state, bucket)
    if (cors === undefined)
      throw new Refusal('not_found', `Bucket "${bucket.name}" has no CORS rules`, { missing: 'corsRules' })
    return cors
  },
)

/** Without tags it is not_found. */
export const getBucketTags = dataOperation(
  {
    id: 'getBucketTags',
    requires: accessKey('read', 'bucket'),
    s3Action: S3_ACTIONS.getBucketTagging,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<BucketTagsRecord> => {
    const { id, name } = findBucket(services, principal.tenantId, input.bucket)
    const tags = bucketTagsOf(services.state, id)
    if (tags === undefined)
      throw new Refusal('not_found', `Bucket "${name}" has no tags`, { missing: 'bucketTags' })
    return tags
  },
)
