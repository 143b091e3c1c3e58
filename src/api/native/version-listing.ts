/**
 * The route that lists versions and delete markers. [decisions 4, 16]
 */
import Type from 'typebox'
import { listObjectVersions } from '../../operations/objects/list-object-versions.ts'
import { clientVersionId } from '../../operations/objects/object-checks.ts'
import type { ListedVersion } from '../../state-machine/versions/listed-version.ts'
import { PHOTOS } from '../examples/names.ts'
import type { JsonBytes } from '../json-bytes.ts'
import { jsonLines, jsonPage, jsonTexts } from '../json-page.ts'
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

const ListedVersionView = Type.Object(
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
    versions: Type.Array(ListedVersionView),
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
      const head = {
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
      }
      const { versions, commonPrefixes } = page
      const lists = {
        versions: jsonLines(versions, writeListedVersion),
        commonPrefixes: jsonTexts(commonPrefixes),
      }
      return jsonPage(head, lists)
    },
  ),
]

/** JSON of a `ListedVersionView`. */
export function writeListedVersion(version: ListedVersion, into: JsonBytes): void {
  const isMarker = version.kind === 'deleteMarker'
  into.plain('{"key":')
  into.text(version.key)
  into.plain(',"versionId":"')
  into.plain(clientVersionId(version))
  into.plain(version.isLatest ? '","isLatest":true' : '","isLatest":false')
  into.plain(isMarker ? ',"isDeleteMarker":true' : ',"isDeleteMarker":false')
  into.plain(',"lastModified":"')
  into.plain(timeText(version.lastModified))
  if (isMarker) return into.plain('"}')
  into.plain('","size":')
  into.plain(`${version.size}`)
  into.plain(',"etag":')
  into.text(version.etag)
  into.plain(LISTED_END)
}

const LISTED_END = `,"storageClass":"${STORAGE_CLASS}"}`
