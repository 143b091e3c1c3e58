/**
 * The route that deletes many objects at once. [decisions 5, 16]
 */
import Type, { type Static } from 'typebox'
import { batchDeleteObjects, type ItemResult } from '../../operations/objects/batch-delete-objects.ts'
import { clientVersionId } from '../../operations/objects/object-checks.ts'
import { PHOTOS } from '../examples/names.ts'
import { STATUS_OF } from '../problem.ts'
import { documented } from '../documented.ts'
import { dataRoute } from '../route.ts'

/** 1,000 keys of 1,024 bytes, however they are escaped. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024
/** Two for each key, and so many more that a batch with too many keys is called that. */
const BATCH_NAMES_MAX = 10_000

const Batch = Type.Object(
  {
    objects: Type.Array(
      Type.Object(
        {
          key: Type.String({ description: 'What is no key fails by itself' }),
          versionId: Type.Optional(Type.String({ minLength: 1 })),
        },
        { additionalProperties: false },
      ),
      documented({ minItems: 1, maxItems: 1000 }),
    ),
    quiet: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

const Result = Type.Object(
  {
    key: Type.String(),
    versionId: Type.Optional(Type.String()),
    deleted: Type.Boolean(),
    status: Type.Integer(),
    deleteMarker: Type.Optional(Type.Boolean()),
    deleteMarkerVersionId: Type.Optional(Type.String()),
    error: Type.Optional(Type.Object({ code: Type.Enum(Object.keys(STATUS_OF)), message: Type.String() })),
  },
  { additionalProperties: false },
)

const Results = Type.Object(
  { results: Type.Array(Result), deletedCount: Type.Integer(), errorCount: Type.Integer() },
  { additionalProperties: false },
)

export const batchDeleteRoutes = [
  dataRoute(
    batchDeleteObjects,
    {
      method: 'POST',
      path: '/buckets/{bucket}/objects:batchDelete',
      summary: 'Delete up to 1,000 objects or versions',
      description:
        'Each key succeeds or fails by itself, in the order of the request; one that does not exist counts as deleted. `quiet` leaves out what succeeded.',
      body: { schema: Batch, bytesMax: BATCH_BYTES_MAX, namesMax: BATCH_NAMES_MAX },
      success: {
        status: 200,
        description: 'What became of each key',
        content: { type: 'application/json', schema: Results },
      },
      example: {
        params: PHOTOS,
        body: { objects: [{ key: '2026/copy.txt' }, { key: '2026/dog.txt' }], quiet: false },
      },
    },
    async (services, principal, { params, body }) => {
      const { objects, quiet = false } = body
      const { results } = await batchDeleteObjects(services, principal, { ...params, objects })
      const shown = results.map(resultView)
      const errors = shown.filter(({ deleted }) => !deleted)
      const counts = { deletedCount: shown.length - errors.length, errorCount: errors.length }
      return { kind: 'json', body: { results: quiet ? errors : shown, ...counts } }
    },
  ),
]

function resultView({ outcome, ...name }: ItemResult): Static<typeof Result> {
  if ('code' in outcome) {
    const { code, message } = outcome
    return { ...name, deleted: false, status: STATUS_OF[code], error: { code, message } }
  }
  const { version } = outcome
  const marker =
    version?.kind === 'deleteMarker'
      ? { deleteMarker: true, deleteMarkerVersionId: clientVersionId(version) }
      : {}
  return { ...name, deleted: true, status: 204, ...marker }
}
