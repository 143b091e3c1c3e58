/**
 * The routes of buckets: parse the call, run one operation, dress the outcome. No rules here.
 */
import Type from 'typebox'
import { getBucket, getBucketVersioning } from '../../operations/buckets/bucket-lookups.ts'
import { getBucketUsage } from '../../operations/buckets/bucket-usage.ts'
import { createBucket } from '../../operations/buckets/create-bucket.ts'
import { deleteBucket } from '../../operations/buckets/delete-bucket.ts'
import { listBuckets } from '../../operations/buckets/list-buckets.ts'
import { setBucketVersioning } from '../../operations/buckets/set-bucket-versioning.ts'
import { VERSIONING_STATES } from '../../operations/buckets/versioning-state.ts'
import { PHOTOS } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { dataRoute } from '../route.ts'
import { CONTINUATION_TOKEN, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { BucketUsageView, BucketView, bucketUsageView, bucketView, listedBucketView } from './bucket-view.ts'
import { BucketName } from './given-schemas.ts'

const NewBucket = Type.Object(
  {
    name: BucketName,
    versioning: Type.Optional(
      Type.String({
        description: VERSIONING_STATES.join(', '),
        ...documented({ pattern: `^(${VERSIONING_STATES.join('|')})$` }),
      }),
    ),
    objectLockEnabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

const NewVersioning = Type.Object(
  {
    status: Type.String({
      description: 'Enabled or Suspended',
      ...documented({ pattern: '^(Enabled|Suspended)$' }),
    }),
  },
  { additionalProperties: false },
)

const Versioning = Type.Object({ status: Type.Enum([...VERSIONING_STATES]) }, { additionalProperties: false })

const BucketQuery = Type.Object(
  {
    prefix: Type.Optional(Type.String()),
    maxBuckets: Type.Optional(Type.Integer()),
    continuationToken: CONTINUATION_TOKEN,
    include: Type.Optional(Type.Enum(['usage'])),
  },
  { additionalProperties: false },
)

const BucketPage = Type.Object({ buckets: Type.Array(BucketView), ...PAGE_END_SCHEMA })

export const bucketRoutes = [
  dataRoute(
    listBuckets,
    {
      method: 'GET',
      path: '/buckets',
      summary: 'List the buckets of the tenant',
      description:
        'Only buckets that some scope of the access key matches, by name. `maxBuckets` is clamped to 1..1000. `include=usage` adds `usage`, the exact counts of the bucket, to each that the key may read as a whole.',
      query: BucketQuery,
      success: {
        status: 200,
        description: 'One page of buckets',
        content: { type: 'application/json', schema: BucketPage },
      },
      example: { query: { prefix: 'ph', maxBuckets: '100' } },
    },
    async (services, principal, { query }) => {
      const { prefix = '', maxBuckets, continuationToken } = query
      const withUsage = query.include === 'usage'
      const page = await listBuckets(services, principal, {
        prefix,
        maxBuckets,
        continuationToken,
        withUsage,
      })
      const buckets = page.buckets.map(({ bucket, usage }) => listedBucketView(bucket, usage))
      return { kind: 'json', body: { buckets, ...pageEnd(page.nextContinuationToken) } }
    },
  ),

  dataRoute(
    createBucket,
    {
      method: 'POST',
      path: '/buckets',
      summary: 'Create a private bucket',
      description: 'Object lock comes with versioning.',
      body: { schema: NewBucket },
      responseHeaders: [{ name: 'Location', description: 'Path of the bucket' }],
      success: {
        status: 201,
        description: 'The bucket',
        content: { type: 'application/json', schema: BucketView },
      },
      example: { body: { name: 'photos', versioning: 'Enabled', objectLockEnabled: true } },
    },
    async (services, principal, { body }) => {
      const bucket = await createBucket(services, principal, body)
      const headers = { location: `/api/v1/buckets/${bucket.name}` }
      return { kind: 'json', headers, body: bucketView(bucket) }
    },
  ),

  dataRoute(
    getBucket,
    {
      method: 'GET',
      path: '/buckets/{bucket}',
      summary: 'Get a bucket',
      success: {
        status: 200,
        description: 'The bucket',
        content: { type: 'application/json', schema: BucketView },
      },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: bucketView(await getBucket(services, principal, params)),
    }),
  ),

  dataRoute(
    deleteBucket,
    {
      method: 'DELETE',
      path: '/buckets/{bucket}',
      summary: 'Delete an empty bucket',
      description: 'Object versions, delete markers and unfinished uploads count.',
      success: { status: 204, description: 'The bucket is gone' },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      await deleteBucket(services, principal, params)
      return { kind: 'empty' }
    },
  ),

  dataRoute(
    getBucketUsage,
    {
      method: 'GET',
      path: '/buckets/{bucket}/usage',
      summary: 'Get the exact counts of a bucket',
      description:
        'All figures are of one moment, and none is walked for. They are of the whole bucket, so a key that is limited to a prefix is refused.',
      success: {
        status: 200,
        description: 'The counts',
        content: { type: 'application/json', schema: BucketUsageView },
      },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: bucketUsageView(await getBucketUsage(services, principal, params)),
    }),
  ),

  dataRoute(
    getBucketVersioning,
    {
      method: 'GET',
      path: '/buckets/{bucket}/versioning',
      summary: 'Get the state of versioning',
      success: {
        status: 200,
        description: 'The state',
        content: { type: 'application/json', schema: Versioning },
      },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      const { versioning } = await getBucketVersioning(services, principal, params)
      return { kind: 'json', body: { status: versioning } }
    },
  ),

  dataRoute(
    setBucketVersioning,
    {
      method: 'PUT',
      path: '/buckets/{bucket}/versioning',
      summary: 'Keep versions from now on, or stop to',
      description:
        'A bucket that has kept versions is `Suspended`, never `Unversioned` again; a bucket with object lock stays `Enabled`.',
      body: { schema: NewVersioning },
      success: {
        status: 200,
        description: 'The state',
        content: { type: 'application/json', schema: Versioning },
      },
      example: { params: PHOTOS, body: { status: 'Enabled' } },
    },
    async (services, principal, { params, body }) => {
      const { versioning } = await setBucketVersioning(services, principal, { ...params, ...body })
      return { kind: 'json', body: { status: versioning } }
    },
  ),
]
