/**
 * The route that lists objects. [decisions 4]
 */
import Type from 'typebox'
import { listObjects } from '../../operations/objects/list-objects.ts'
import { PHOTOS } from '../examples/names.ts'
import { jsonLines, jsonPage, jsonTexts } from '../json-page.ts'
import { dataRoute } from '../route.ts'
import { CONTINUATION_TOKEN, PAGE_END_SCHEMA, pageEnd } from '../wire.ts'
import { ListedObjectView, writeListedObject } from './object-view.ts'

const ListingQuery = Type.Object(
  {
    prefix: Type.Optional(Type.String()),
    delimiter: Type.Optional(Type.String()),
    maxKeys: Type.Optional(Type.Integer()),
    continuationToken: CONTINUATION_TOKEN,
    startAfter: Type.Optional(Type.String()),
    include: Type.Optional(Type.Enum(['metadata'])),
  },
  { additionalProperties: false },
)

const Listing = Type.Object(
  {
    bucket: Type.String(),
    prefix: Type.String(),
    delimiter: Type.String(),
    maxKeys: Type.Integer(),
    keyCount: Type.Integer(),
    objects: Type.Array(ListedObjectView),
    commonPrefixes: Type.Array(Type.String()),
    ...PAGE_END_SCHEMA,
  },
  { additionalProperties: false },
)

export const listingRoutes = [
  dataRoute(
    listObjects,
    {
      method: 'GET',
      path: '/buckets/{bucket}/objects',
      summary: 'List objects by key',
      description:
        'Keys in UTF-8 byte order. With a delimiter, keys that share the part up to its first occurrence after the prefix come as one of `commonPrefixes`. `maxKeys` counts both and is clamped to 1..1000. `include=metadata` adds `metadata`, the user metadata, to each object that the caller may read (a policy of the bucket can deny that); such a page ends behind the object with which its metadata reaches 256 KiB.',
      query: ListingQuery,
      success: {
        status: 200,
        description: 'One page of objects',
        content: { type: 'application/json', schema: Listing },
      },
      example: { params: PHOTOS, query: { prefix: '2026/', delimiter: '/', maxKeys: '100' } },
    },
    async (services, principal, { params: { bucket }, query }) => {
      const { prefix = '', delimiter = '', maxKeys, continuationToken, startAfter } = query
      const withMetadata = query.include === 'metadata'
      const asked = { bucket, prefix, delimiter, maxKeys, continuationToken, startAfter, withMetadata }
      const page = await listObjects(services, principal, asked)
      const { objects, commonPrefixes } = page
      const head = {
        bucket,
        prefix,
        delimiter,
        maxKeys: page.maxKeys,
        keyCount: objects.length + commonPrefixes.length,
        ...pageEnd(page.nextContinuationToken),
      }
      const lists = {
        objects: jsonLines(objects, writeListedObject),
        commonPrefixes: jsonTexts(commonPrefixes),
      }
      return jsonPage(head, lists)
    },
  ),
]
