/**
 * What a tenant takes up, on the wire. [decisions 11]
 *
 * Rule: the names are the contract.
 */
import Type, { type Static } from 'typebox'
import { getTenantUsage, type UsageReport } from '../../operations/tenants/tenant-lookups.ts'
import { ACME } from '../examples/names.ts'
import { adminRoute } from '../route.ts'
import { Time, timeText } from '../wire.ts'

const Count = Type.Integer({ minimum: 0 })
const count = (description: string) => Type.Integer({ minimum: 0, description })

const COUNTED = {
  objects: count('Keys whose newest version is no delete marker'),
  versions: count('All versions, the newest ones too; no delete markers'),
  deleteMarkers: Count,
  logicalBytes: count('Plain bytes of all versions'),
}
const UsageView = Type.Object(
  {
    tenantId: Type.String(),
    asOf: Time,
    buckets: Count,
    ...COUNTED,
    multipartUploads: count('Unfinished ones'),
    multipartBytes: count('Plain bytes of their parts; the quota counts them beside logicalBytes'),
    metadataBytes: count(
      'Keys, content types, user metadata and tags of versions, markers and uploads, configurations of buckets, and 256 bytes for each record and part. What was stored below feature level 4 counts nothing',
    ),
    notificationConfigs: count(
      'Of all buckets, as limits.notification_configs_per_tenant bounds them. What was last set below feature level 4 is not counted',
    ),
    physicalBytes: count(
      'Sealed bytes of every copy of every chunk that a node is known to hold. What was deleted counts until it is collected; what files and packs add around it does not',
    ),
    storedBytes: count('Sealed bytes, each chunk once'),
    inlineBytes: count(
      'Sealed bytes of small bodies, which lie in the metadata of every node; each once, and not in physicalBytes',
    ),
    dedupSavedBytes: count('Plain bytes of chunks, for each time that one is referred to beyond the first'),
    compressionSavedBytes: count(
      'Plain bytes less sealed ones, each chunk once, of those that are smaller sealed',
    ),
    byBucket: Type.Array(Type.Object({ name: Type.String(), ...COUNTED }), {
      description: 'The first 1,000 by name',
    }),
    isTruncated: Type.Boolean({ description: 'true: there are more buckets' }),
  },
  { additionalProperties: false },
)

export const usageRoutes = [
  adminRoute(
    getTenantUsage,
    {
      method: 'GET',
      path: '/tenants/{id}/usage',
      summary: 'Get what a tenant takes up, exact as of one moment',
      success: {
        status: 200,
        description: 'The usage',
        content: { type: 'application/json', schema: UsageView },
      },
      example: { params: ACME },
    },
    async (services, principal, { params }) => {
      return { kind: 'json', body: usageView(await getTenantUsage(services, principal, params)) }
    },
  ),
]

function usageView({
  tenantId,
  asOf,
  usage,
  bucketCount,
  notificationConfigs,
  buckets,
}: UsageReport): Static<typeof UsageView> {
  return {
    tenantId,
    asOf: timeText(asOf),
    buckets: bucketCount,
    objects: usage.objects,
    versions: usage.versions,
    deleteMarkers: usage.deleteMarkers,
    logicalBytes: usage.logicalBytes,
    multipartUploads: usage.uploads,
    multipartBytes: usage.uploadBytes,
    metadataBytes: usage.metadataBytes ?? 0,
    notificationConfigs,
    physicalBytes: usage.copyBytes,
    storedBytes: usage.storedBytes,
    inlineBytes: usage.inlineBytes,
    dedupSavedBytes: usage.dedupSavedBytes,
    compressionSavedBytes: usage.compressionSavedBytes,
    byBucket: buckets.items.map((bucket) => ({
      name: bucket.name,
      objects: bucket.objectCount,
      versions: bucket.versionCount,
      deleteMarkers: bucket.deleteMarkerCount,
      logicalBytes: bucket.logicalBytes,
    })),
    isTruncated: buckets.next !== null,
  }
}
