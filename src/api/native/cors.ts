/**
 * The routes of a bucket's CORS rules. [native: CORS configuration]
 */
import Type, { type Static } from 'typebox'
import {
  CORS_METHODS,
  CORS_PATTERNS,
  CORS_RULES_MAX,
  ID_CHARACTERS_MAX,
  MAX_AGE_SECONDS_MAX,
  PATTERN_CHARACTERS_MAX,
} from '../../access/cors-rules.ts'
import { PRINTABLE_PATTERN } from '../../base/printable.ts'
import { getBucketCORS } from '../../operations/buckets/bucket-lookups.ts'
import { deleteBucketCORS } from '../../operations/buckets/delete-bucket-cors.ts'
import { setBucketCORS } from '../../operations/buckets/set-bucket-cors.ts'
import type { CorsRecord, CorsRule } from '../../state-machine/buckets/records.ts'
import { PAGE, PHOTOS } from '../examples/names.ts'
import { documented } from '../documented.ts'
import { type Answer, dataRoute } from '../route.ts'

const PATH = '/buckets/{bucket}/cors'
/** As with S3. The rules lie in one row, which is read for every request of a page. */
const CONFIGURATION_BYTES_MAX = 64 * 1024

const patternOf = (what: keyof typeof CORS_PATTERNS) =>
  documented({ pattern: CORS_PATTERNS[what], maxLength: PATTERN_CHARACTERS_MAX })

const CorsRuleView = Type.Object(
  {
    id: Type.Optional(
      Type.String(documented({ minLength: 1, maxLength: ID_CHARACTERS_MAX, pattern: PRINTABLE_PATTERN })),
    ),
    allowedOrigins: Type.Array(
      Type.String({ description: 'scheme://host[:port], one * at most', ...patternOf('origin') }),
      documented({ minItems: 1 }),
    ),
    allowedMethods: Type.Array(
      Type.String(documented({ enum: [...CORS_METHODS] })),
      documented({ minItems: 1 }),
    ),
    allowedHeaders: Type.Optional(
      Type.Array(Type.String({ description: 'one * at most', ...patternOf('header') })),
    ),
    exposeHeaders: Type.Optional(Type.Array(Type.String(patternOf('exposedHeader')))),
    maxAgeSeconds: Type.Optional(Type.Integer(documented({ minimum: 0, maximum: MAX_AGE_SECONDS_MAX }))),
  },
  { additionalProperties: false },
)

const CorsView = Type.Object(
  { rules: Type.Array(CorsRuleView, documented({ minItems: 1, maxItems: CORS_RULES_MAX })) },
  { additionalProperties: false },
)

const SHOWN = {
  status: 200,
  description: 'The rules',
  content: { type: 'application/json', schema: CorsView },
} as const

export const corsRoutes = [
  dataRoute(
    getBucketCORS,
    {
      method: 'GET',
      path: PATH,
      summary: 'Get the CORS rules of a bucket',
      description: '404 when none are set.',
      success: SHOWN,
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => shown(await getBucketCORS(services, principal, params)),
  ),

  dataRoute(
    setBucketCORS,
    {
      method: 'PUT',
      path: PATH,
      summary: 'Replace the CORS rules of a bucket',
      description: `Which pages of other origins a browser may let use signed URLs of the bucket. 1 to ${CORS_RULES_MAX} rules, ${CONFIGURATION_BYTES_MAX / 1024} KiB in all; the first that fits a request decides. Rules grant no access.`,
      body: { schema: CorsView, bytesMax: CONFIGURATION_BYTES_MAX },
      success: SHOWN,
      example: {
        params: PHOTOS,
        body: {
          rules: [
            {
              id: 'app',
              allowedOrigins: [PAGE],
              allowedMethods: ['GET', 'PUT'],
              allowedHeaders: ['content-type'],
              exposeHeaders: ['ETag'],
              maxAgeSeconds: 600,
            },
          ],
        },
      },
    },
    async (services, principal, { params, body }) =>
      shown(await setBucketCORS(services, principal, { ...params, ...body })),
  ),

  dataRoute(
    deleteBucketCORS,
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Remove the CORS rules of a bucket; that there were none is no error',
      success: { status: 204, description: 'The bucket has no CORS rules' },
      example: { params: PHOTOS },
    },
    async (services, principal, { params }) => {
      await deleteBucketCORS(services, principal, params)
      return { kind: 'empty' }
    },
  ),
]

function shown({ rules }: CorsRecord): Answer {
  return { kind: 'json', body: { rules: rules.map(ruleView) } }
}

/** What was not given is not shown. */
function ruleView(rule: CorsRule): Static<typeof CorsRuleView> {
  const { id, allowedOrigins, allowedMethods, allowedHeaders, exposeHeaders, maxAgeSeconds } = rule
  return {
    ...(id === null ? {} : { id }),
    allowedOrigins: [...allowedOrigins],
    allowedMethods: [...allowedMethods],
    ...(allowedHeaders === null ? {} : { allowedHeaders: [...allowedHeaders] }),
    ...(exposeHeaders === null ? {} : { exposeHeaders: [...exposeHeaders] }),
    ...(maxAgeSeconds === null ? {} : { maxAgeSeconds }),
  }
}
