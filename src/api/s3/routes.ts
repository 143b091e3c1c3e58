/**
 * Every route of the S3 API, and every action of S3 that is refused by its name.
 */
import { absentRoutes } from './buckets/absent-routes.ts'
import { aclRoutes } from './buckets/acl-routes.ts'
import { bucketAccessRoutes } from './buckets/bucket-access-routes.ts'
import { bucketCorsRoutes } from './buckets/bucket-cors-routes.ts'
import { bucketPolicyRoutes } from './buckets/bucket-policy-routes.ts'
import { bucketRoutes } from './buckets/bucket-routes.ts'
import { copyRoutes } from './objects/copy-routes.ts'
import { deleteObjectsRoutes } from './objects/delete-objects-route.ts'
import { lifecycleRoutes } from './buckets/lifecycle-routes.ts'
import { listingRoutes } from './listings/listing-routes.ts'
import { multipartRoutes } from './multipart/multipart-routes.ts'
import { notificationRoutes } from './buckets/notification-routes.ts'
import { objectLockRoutes } from './objects/object-lock-routes.ts'
import { objectReadRoutes } from './objects/object-read-routes.ts'
import { objectRoutes } from './objects/object-routes.ts'
import { partRoutes } from './multipart/part-routes.ts'
import { postObjectRoute } from './objects/post-object.ts'
import { refusedActions } from './refused-actions.ts'
import type { S3Table } from './entry/s3-dispatch.ts'
import { replicationRoutes } from './buckets/replication-routes.ts'
import { serviceRoutes } from './service-routes.ts'
import { taggingRoutes } from './objects/tagging-routes.ts'

export const s3Table: S3Table = {
  routes: [
    ...serviceRoutes,
    ...bucketRoutes,
    ...bucketAccessRoutes,
    ...bucketCorsRoutes,
    ...lifecycleRoutes,
    ...replicationRoutes,
    ...bucketPolicyRoutes,
    ...notificationRoutes,
    ...absentRoutes,
    ...listingRoutes,
    ...deleteObjectsRoutes,
    ...copyRoutes,
    ...multipartRoutes,
    ...partRoutes,
    ...objectReadRoutes,
    ...objectRoutes,
    postObjectRoute,
    ...objectLockRoutes,
    ...taggingRoutes,
    ...aclRoutes,
  ],
  refused: refusedActions,
}
