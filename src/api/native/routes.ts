/**
 * Every route of the data plane, one for each operation, in the order of the API document. [decisions 13]
 */
import { describe, type OpenApiDocument } from '../openapi.ts'
import type { Plane } from '../plane.ts'
import { documentRoute, healthRoute, readinessRoute } from '../probes.ts'
import type { RouteDefinition } from '../route.ts'
import { batchDeleteRoutes } from './batch-delete.ts'
import { objectLockRoutes } from './bucket-object-lock.ts'
import { BucketView } from './bucket-view.ts'
import { bucketRoutes } from './buckets.ts'
import { copyRoutes } from './copy.ts'
import { corsRoutes } from './cors.ts'
import { lifecycleRoutes } from './lifecycle.ts'
import { replicationRoutes } from './replication.ts'
import { listingRoutes } from './listing.ts'
import { HoldView, RetentionView } from './lock-view.ts'
import { multipartPartRoutes } from './multipart-parts.ts'
import { ListedPartView, ListedUploadView, PartView, UploadView } from './multipart-view.ts'
import { multipartRoutes } from './multipart.ts'
import { notificationRoutes } from './notifications.ts'
import { lockRoutes } from './object-locks.ts'
import { tagRoutes } from './object-tags.ts'
import { ListedObjectView, ObjectView } from './object-view.ts'
import { objectRoutes } from './objects.ts'
import { preflightRoutes } from './preflight.ts'
import { signUrlRoutes } from './sign-url.ts'
import { DATA_MOUNT, SIGNED_PATH } from './signed-address.ts'
import { signedRoutes } from './signed.ts'
import { temporaryTokenRoutes } from './temporary-token.ts'
import { tokenRoutes } from './token.ts'
import { versionListingRoutes } from './version-listing.ts'

const dataRoutes: readonly RouteDefinition[] = [
  healthRoute('healthz'),
  readinessRoute('readyz'),
  documentRoute('getOpenAPI', () => dataDocument()),
  ...tokenRoutes,
  ...temporaryTokenRoutes,
  ...signUrlRoutes,
  ...signedRoutes,
  ...preflightRoutes,
  ...bucketRoutes,
  ...objectLockRoutes,
  ...corsRoutes,
  ...lifecycleRoutes,
  ...replicationRoutes,
  ...listingRoutes,
  ...objectRoutes,
  ...batchDeleteRoutes,
  ...copyRoutes,
  ...versionListingRoutes,
  ...tagRoutes,
  ...lockRoutes,
  ...multipartRoutes,
  ...multipartPartRoutes,
  ...notificationRoutes,
]

export const dataPlane: Plane = {
  api: 'native',
  mount: DATA_MOUNT,
  routes: dataRoutes,
  unknownPathAuth: 'bearer',
  openBelow: SIGNED_PATH,
  openToken: ({ access }, authorization) => access.openBearer(authorization),
}

export function dataDocument(): OpenApiDocument {
  return describe(dataPlane, {
    title: 'Holdfast data plane',
    description:
      'Buckets and objects of one tenant, over JSON. The tenant is the one of the bearer token. An object key is the rest of the path, percent-encoded; slashes in it stay slashes, and nothing of it is normalized.',
    schemas: {
      Bucket: BucketView,
      StoredObject: ObjectView,
      ListedObject: ListedObjectView,
      Upload: UploadView,
      ListedUpload: ListedUploadView,
      Part: PartView,
      ListedPart: ListedPartView,
      Retention: RetentionView,
      LegalHold: HoldView,
    },
  })
}
