/**
 * Every route of the S3 API, and every action of S3 that is refused by its name.
 */
import { copyRoutes } from './copy-routes.ts'
import { deleteObjectsRoutes } from './delete-objects-route.ts'
import { listingRoutes } from './listing-routes.ts'
import { multipartRoutes } from './multipart-routes.ts'
import { partRoutes } from './part-routes.ts'
import type { S3Table } from './s3-dispatch.ts'
import { objectReadRoutes } from './object-read-routes.ts'
import { objectRoutes } from './object-routes.ts'
import { postObjectRoute } from './post-object.ts'
import { serviceRoutes } from './service-routes.ts'

export const s3Table: S3Table = {
  routes: [
    ...serviceRoutes,
    ...listingRoutes,
    ...deleteObjectsRoutes,
    ...copyRoutes,
    ...multipartRoutes,
    ...partRoutes,
    ...objectReadRoutes,
    ...objectRoutes,
    postObjectRoute,
  ],
  refused: [],
}
