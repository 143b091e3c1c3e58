/**
 * The route that copies an object inside of the service. [native: copy request body] [decisions 14]
 */
import Type, { type Static } from 'typebox'
import { Refusal } from '../../base/refusal.ts'
import { copyObject } from '../../operations/objects/copy-object.ts'
import {
  checkContentType,
  checkMetadata,
  DEFAULT_CONTENT_TYPE,
} from '../../operations/objects/description.ts'
import { strongTags, weakTags } from '../../operations/objects/entity-tags.ts'
import { PHOTOS } from '../examples/names.ts'
import { documented } from '../documented.ts'
import {
  CUSTOMER_KEY_HEADERS,
  customerKeyAnswer,
  OWN_KEY,
  OWN_SOURCE_KEY,
  readCustomerKey,
  SOURCE_KEY_HEADERS,
} from '../customer-key-headers.ts'
import { dataRoute } from '../route.ts'
import { readTime } from '../wire.ts'
import { BucketName, ContentType, GivenTime, Metadata, ObjectKey } from './given-schemas.ts'
import { OBJECT_HEADERS, objectHeaders, ObjectView, objectView } from './object-view.ts'
import { ENTITY_TAGS } from './precondition-headers.ts'
import { REPRESENTATION_MEMBERS, representationIn } from './representation-headers.ts'

const DIRECTIVES = ['COPY', 'REPLACE']

const Copy = Type.Object(
  {
    sourceBucket: BucketName,
    sourceKey: ObjectKey,
    sourceVersionId: Type.Optional(Type.String({ minLength: 1 })),
    metadataDirective: Type.Optional(
      Type.String({ description: 'COPY (as if not given) or REPLACE', ...documented({ enum: DIRECTIVES }) }),
    ),
    contentType: Type.Optional(ContentType),
    metadata: Type.Optional(Metadata),
    ...REPRESENTATION_MEMBERS,
    ifMatch: Type.Optional(Type.String(documented(ENTITY_TAGS))),
    ifNoneMatch: Type.Optional(Type.String(documented(ENTITY_TAGS))),
    ifModifiedSince: Type.Optional(GivenTime),
    ifUnmodifiedSince: Type.Optional(GivenTime),
    requireAbsent: Type.Optional(Type.Boolean()),
    requireMatchEtag: Type.Optional(Type.String(documented(ENTITY_TAGS))),
  },
  { additionalProperties: false },
)
type CopyBody = Static<typeof Copy>

export const copyRoutes = [
  dataRoute(
    copyObject,
    {
      method: 'POST',
      path: '/buckets/{bucket}/object-copy/{key...}',
      summary: 'Copy an object to this key',
      description:
        'The path names the target, the body the source, which needs read scope. Up to 5 GiB. With `REPLACE` content type, metadata and `Cache-Control`, `Content-Disposition`, `Content-Encoding`, `Content-Language` and `Expires` are those of the body, else those of the source; tags come along, locks do not. `ifMatch`, `ifNoneMatch`, `ifModifiedSince` and `ifUnmodifiedSince` are about the source, `requireAbsent` and `requireMatchEtag` about the target; any that fails is a 412.',
      body: { schema: Copy },
      requestHeaders: [...CUSTOMER_KEY_HEADERS, ...SOURCE_KEY_HEADERS],
      responseHeaders: OBJECT_HEADERS,
      success: {
        status: 200,
        description: 'The object as stored',
        content: { type: 'application/json', schema: ObjectView },
      },
      example: {
        params: { ...PHOTOS, key: '2026/copy.txt' },
        body: { sourceBucket: 'photos', sourceKey: '2026/cat.txt', requireAbsent: true },
      },
    },
    async (services, principal, { params, body, headers, inTurns, signal }) => {
      const customer = readCustomerKey(headers, OWN_KEY, principal.circumstances)
      const sourceKey = readCustomerKey(headers, OWN_SOURCE_KEY, principal.circumstances)
      const { bucket, object } = await copyObject(services, principal, {
        ...params,
        source: {
          bucket: body.sourceBucket,
          key: body.sourceKey,
          versionId: body.sourceVersionId,
          customerKey: sourceKey?.key,
        },
        customerKey: customer?.key,
        reading: { inTurns, signal },
        conditions: conditionsOf(body),
        replacement: replacementOf(body),
        tags: null,
        retention: null,
        legalHold: false,
        precondition: {
          ifMatch: body.requireMatchEtag === undefined ? null : strongTags(body.requireMatchEtag),
          ifNoneMatch: body.requireAbsent === true ? ['*'] : null,
        },
      })
      const own = { ...objectHeaders(bucket, object), ...customerKeyAnswer(OWN_KEY, customer) }
      return { kind: 'json', headers: own, body: objectView(bucket.name, object) }
    },
  ),
]

function conditionsOf({ ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }: CopyBody) {
  return {
    ifMatch: ifMatch === undefined ? null : strongTags(ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? null : weakTags(ifNoneMatch),
    ifModifiedSince: ifModifiedSince === undefined ? null : readTime('ifModifiedSince', ifModifiedSince),
    ifUnmodifiedSince:
      ifUnmodifiedSince === undefined ? null : readTime('ifUnmodifiedSince', ifUnmodifiedSince),
  }
}

/** Null: as the source has them. */
function replacementOf(body: CopyBody) {
  const { metadataDirective = 'COPY', contentType = DEFAULT_CONTENT_TYPE, metadata = {} } = body
  const directive = metadataDirective.toUpperCase()
  if (!DIRECTIVES.includes(directive))
    throw new Refusal(
      'invalid_request',
      `"metadataDirective" is "${metadataDirective.slice(0, 40)}": give one of ${DIRECTIVES.join(', ')}`,
    )
  if (directive === 'COPY') return null
  return {
    contentType: checkContentType(contentType),
    metadata: checkMetadata(Object.entries(metadata)),
    ...representationIn(body),
  }
}
