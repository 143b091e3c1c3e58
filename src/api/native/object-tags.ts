/**
 * The routes of an object's tags. [decisions 5]
 */
import Type from 'typebox'
import { deleteObjectTags } from '../../operations/objects/delete-object-tags.ts'
import type { FoundObject } from '../../operations/objects/object-checks.ts'
import { getObjectTags } from '../../operations/objects/object-lookups.ts'
import { setObjectTags } from '../../operations/objects/set-object-tags.ts'
import { CAT } from '../examples/names.ts'
import { type Answer, dataRoute } from '../route.ts'
import { Tags } from './given-schemas.ts'
import { VERSION_HEADERS, versionHeaders, VersionQuery } from './version-headers.ts'

const PATH = '/buckets/{bucket}/object-tags/{key...}'
const TagSet = Type.Object({ tags: Tags }, { additionalProperties: false })
const SHOWN = {
  status: 200,
  description: 'The tags',
  content: { type: 'application/json', schema: TagSet },
} as const

export const tagRoutes = [
  dataRoute(
    getObjectTags,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the tags of an object',
      query: VersionQuery,
      responseHeaders: VERSION_HEADERS,
      success: SHOWN,
      example: { params: CAT },
    },
    async (services, principal, { params, query }) =>
      shown(await getObjectTags(services, principal, { ...params, versionId: query.versionId })),
  ),

  dataRoute(
    setObjectTags,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Replace the tags of an object',
      description: 'At most 10; a name has 1 to 128 characters, a value at most 256.',
      query: VersionQuery,
      body: { schema: TagSet },
      responseHeaders: VERSION_HEADERS,
      success: SHOWN,
      example: { params: CAT, body: { tags: { animal: 'cat', mood: 'sleepy' } } },
    },
    async (services, principal, { params, query, body }) =>
      shown(
        await setObjectTags(services, principal, {
          ...params,
          versionId: query.versionId,
          tags: Object.entries(body.tags),
        }),
      ),
  ),

  dataRoute(
    deleteObjectTags,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Remove all tags of an object',
      query: VersionQuery,
      responseHeaders: VERSION_HEADERS,
      success: { status: 204, description: 'The object has no tags' },
      example: { params: CAT, query: { versionId: '{putObject.versionId}' } },
    },
    async (services, principal, { params, query }) => {
      const wanted = { ...params, versionId: query.versionId }
      const { bucket, object } = await deleteObjectTags(services, principal, wanted)
      return { kind: 'empty', headers: versionHeaders(bucket, object) }
    },
  ),
]

function shown({ bucket, object }: FoundObject): Answer {
  return { kind: 'json', headers: versionHeaders(bucket, object), body: { tags: { ...object.tags } } }
}
