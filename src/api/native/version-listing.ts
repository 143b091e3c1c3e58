/**
 * The route that lists versions and delete markers. [decisions 4, 16]
 */
import Type, { type Static } from 'typebox'
import { listObjectVersions } from '../../operations/objects/list-object-versions.ts'
import { clientVersionId } from '../../operations/objects/object-checks.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import { PHOTOS } from '../examples/names.ts'
import { dataRoute } from '../route.ts'
import { Time, timeText } from '../wire.ts'
import { STORAGE_CLASS } from './object-view.ts'

const VersionsQuery = Type.Object(
  {
    prefix: Type.Optional(Type.String()),
    delimiter: Type.Optional(Type.String()),
    maxKeys: Type.Optional(Type.Integer()),
    keyMarker: Type.Optional(Type.String()),
    versionIdMarker: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

const ListedVersion = Type.Object(
  {
    key: Type.String(),
    versionId: Type.String(),
    isLatest: Type.Boolean(),
    isDeleteMarker: Type.Boolean(),
    lastModified: Time,
    size: Type.Optional(Type.Integer()),
    etag: Type.Optional(Type.String()),
    storageClass: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

const VersionListing = Type.Object(
  {
    bucket: Type.String(),
    prefix: Type.String(),
    delimiter: Type.String(),
    maxKeys: Type.Integer(),
    isTruncated: Type.Boolean(),
    nextKeyMarker: Type.Optional(Type.String()),
    nextVersionIdMarker: Type.Optional(Type.String()),
    versions: Type.Array(ListedVersion),
    commonPrefixes: Type.Array(Type.String()),
  },
  { additionalProperties: false },
)

export const versionListingRoutes = [
  dataRoute(
    listObjectVersions,
    {
      method: 'GET',
      path: '/buckets/{bucket}/versions',
      summary: 'List versions and delete markers by key, the newest of a key first',
      description:
        'A page continues after `keyMarker` and, within that key, after `versionIdMarker`: give back what the page before called `nextKeyMarker` and `nextVersionIdMarker`. `maxKeys` counts versions, delete markers and common prefixes and is clamped to 1..1000.',
      query: VersionsQuery,
      success: {
        status: 200,
        description: 'One page of versions',
        content: { type: 'application/json', schema: VersionListing },
      },
      example: { params: PHOTOS, query: { prefix: '2026/' } },
    },
    async (services, principal, { params: { bucket }, query }) => {
      const { prefix = '', delimiter = '', maxKeys, keyMarker, versionIdMarker } = query
      const asked = { bucket, prefix, delimiter, maxKeys, keyMarker, versionIdMarker }
      const page = await listObjectVersions(services, principal, asked)
      const body = {
        bucket,
        prefix,
        delimiter,
        maxKeys: page.maxKeys,
        isTruncated: page.next !== null,
        ...(page.next === null ? {} : { nextKeyMarker: page.next.keyMarker }),
        // Behind a common prefix there is no version to continue from.
        ...((page.next?.versionIdMarker ?? '') === ''
          ? {}
          : { nextVersionIdMarker: page.next?.versionIdMarker }),
        versions: page.versions.map(listedVersion),
        commonPrefixes: page.commonPrefixes,
      }
      return { kind: 'json', body }
    },
  ),
]

function listedVersion(version: VersionRecord): Static<typeof ListedVersion> {
  const { key, newer, lastModified } = version
  const place = {
    key,
    versionId: clientVersionId(version),
    isLatest: newer === null,
    isDeleteMarker: version.kind === 'deleteMarker',
    lastModified: timeText(lastModified),
  }
  if (version.kind === 'deleteMarker') return place
  return { ...place, size: version.size, etag: version.etag, storageClass: STORAGE_CLASS }
}
