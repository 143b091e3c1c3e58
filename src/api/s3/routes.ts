/**
 * Every route of the S3 API, and every action of S3 that is refused by its name.
 */
import { absentRoutes } from './absent-routes.ts'
import { aclRoutes } from './acl-routes.ts'
import { bucketAccessRoutes } from './bucket-access-routes.ts'
import { bucketCorsRoutes } from './bucket-cors-routes.ts'
import { bucketPolicyRoutes } from './bucket-policy-routes.ts'
import { bucketRoutes } from './bucket-routes.ts'
import { copyRoutes } from './copy-routes.ts'
import { deleteObjectsRoutes } from './delete-objects-route.ts'
import { listingRoutes } from './listing-routes.ts'
import { multipartRoutes } from './multipart-routes.ts'
import { notificationRoutes } from './notification-routes.ts'
import { objectLockRoutes } from './object-lock-routes.ts'
import { objectReadRoutes } from './object-read-routes.ts'
import { objectRoutes } from './object-routes.ts'
import { partRoutes } from './part-routes.ts'
import { postObjectRoute } from './post-object.ts'
import { refusedActions } from './refused-actions.ts'
import type { S3Table } from './s3-dispatch.ts'
import { serviceRoutes } from './service-routes.ts'
import { taggingRoutes } from './tagging-routes.ts'

export const s3Table: S3Table = {
  routes: [
    ...serviceRoutes,
    ...bucketRoutes,
    ...bucketAccessRoutes,
    ...bucketCorsRoutes,
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
