/**
 * The route that mints signed URLs. [native: Signed-URL mint request body] [decisions 8]
 *
 * Rule: the address comes from the configuration and never from the request: a client chooses any Host header.
 */
import Type, { type Static } from 'typebox'
import type { SignedUrlTerms } from '../../access/base/signed-url.ts'
import { signedUrlBaseOf } from '../../config/listener-urls.ts'
import { IDEMPOTENCY_KEY } from '../../operations/objects/idempotency-key.ts'
import { HEADER_VALUE, REASON_CHARACTERS_MAX } from '../../operations/signed/constraints.ts'
import { type MintedUrl, signUrl } from '../../operations/signed/sign-url.ts'
import { digestPattern, KEPT_ALGORITHMS } from '../../content/checksums.ts'
import { documented } from '../documented.ts'
import { named } from '../request-origin.ts'
import { dataRoute } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { BucketName, CONTENT_TYPE_FACTS, ObjectKey } from './given-schemas.ts'
import { signedAddress } from './signed-address.ts'

const OF_GET = ['responseContentType', 'responseContentDisposition']
const OF_PUT = [
  'keyPrefix',
  'contentType',
  'contentLengthMax',
  'checksumAlg',
  'checksumVal',
  'idempotencyKey',
]

/** JSON Schema for: none of these members. */
const without = (names: readonly string[]): object => ({
  not: { anyOf: names.map((name) => ({ required: [name] })) },
})

const Mint = Type.Object(
  {
    method: Type.Enum(['GET', 'PUT']),
    bucket: BucketName,
    key: Type.Optional(ObjectKey),
    keyPrefix: Type.Optional(
      Type.String({
        description: 'PUT only; the uploader chooses the rest',
        ...documented({ minLength: 1, maxLength: 1024 }),
      }),
    ),
    ttlSeconds: Type.Optional(Type.Integer({ minimum: 1, description: '900 unless said otherwise' })),
    contentType: Type.Optional(
      Type.String({ description: 'PUT only; stored whatever the upload says', ...CONTENT_TYPE_FACTS }),
    ),
    contentLengthMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'PUT only' }),
    ),
    checksumAlg: Type.Optional(
      Type.String({
        description: 'PUT only; needs checksumVal',
        ...documented({ enum: [...KEPT_ALGORITHMS] }),
      }),
    ),
    checksumVal: Type.Optional(Type.String({ description: 'PUT only, base64; needs checksumAlg' })),
    idempotencyKey: Type.Optional(
      Type.String({ description: 'PUT only', ...documented({ pattern: IDEMPOTENCY_KEY.source }) }),
    ),
    responseContentType: Type.Optional(Type.String({ description: 'GET only', ...CONTENT_TYPE_FACTS })),
    responseContentDisposition: Type.Optional(
      Type.String({ description: 'GET only', ...documented({ pattern: HEADER_VALUE.source }) }),
    ),
    reason: Type.Optional(Type.String(documented({ minLength: 1, maxLength: REASON_CHARACTERS_MAX }))),
  },
  {
    additionalProperties: false,
    // One target, and the fields of one method.
    ...documented({
      oneOf: [
        { properties: { method: { enum: ['GET'] } }, required: ['key'], ...without(OF_PUT) },
        {
          properties: { method: { enum: ['PUT'] } },
          required: ['key'],
          ...without([...OF_GET, 'keyPrefix']),
        },
        {
          properties: { method: { enum: ['PUT'] } },
          required: ['keyPrefix'],
          ...without([...OF_GET, 'key']),
        },
      ],
      dependentRequired: { checksumAlg: ['checksumVal'], checksumVal: ['checksumAlg'] },
      allOf: KEPT_ALGORITHMS.map((algorithm) => ({
        anyOf: [
          { not: { properties: { checksumAlg: { const: algorithm } }, required: ['checksumAlg'] } },
          { properties: { checksumVal: { pattern: digestPattern(algorithm) } } },
        ],
      })),
    }),
  },
)

const SignedUrlView = Type.Object(
  {
    url: Type.String(),
    token: Type.String(),
    method: Type.Enum(['GET', 'PUT']),
    bucket: Type.String(),
    key: orNull(Type.String()),
    keyPrefix: orNull(Type.String()),
    urlTemplate: orNull(Type.String({ description: 'RFC 6570, with the variable suffix' })),
    expiresAt: Time,
    ttlSeconds: Type.Integer({ description: 'After clamping' }),
    requiredHeaders: Type.Record(Type.String(), Type.String(), { description: 'To send with the upload' }),
    contentLengthMax: orNull(Type.Integer()),
  },
  { additionalProperties: false },
)

export const signUrlRoutes = [
  dataRoute(
    signUrl,
    {
      method: 'POST',
      path: '/sign-url',
      summary: 'Make a URL that opens one object to its holder',
      description:
        'For GET, or for PUT of one key or of every key that begins with a prefix. The access key needs the scope for what the URL is for, when the URL is made and whenever it is used. `ttlSeconds` is clamped to what the deployment allows and to the life of the key.',
      body: { schema: Mint },
      success: {
        status: 200,
        description: 'The URL, and what to send with it',
        content: { type: 'application/json', schema: SignedUrlView },
      },
      furtherExamples: {
        signUpload: {
          body: {
            method: 'PUT',
            bucket: 'photos',
            keyPrefix: '2026/',
            contentLengthMax: 1000,
            reason: 'Pictures of the visitors',
          },
        },
      },
      example: {
        body: {
          method: 'GET',
          bucket: 'photos',
          key: '2026/cat.txt',
          ttlSeconds: 600,
          responseContentDisposition: 'attachment; filename="cat.txt"',
          reason: 'For the newsletter',
        },
      },
    },
    async (services, principal, { body, note }) => {
      const { method } = body
      const keyPrefix = named(body.keyPrefix)
      note({ bucket: named(body.bucket), key: named(body.key), details: { method, keyPrefix } })
      const minted = await signUrl(services, principal, body)
      // Under which id its use is recorded.
      note({ details: { method, keyPrefix, signedUrl: minted.jti, expiresAt: timeText(minted.expiresAt) } })
      const base = signedUrlBaseOf(services.config)
      return { kind: 'json', headers: { 'cache-control': 'no-store' }, body: signedUrlView(base, minted) }
    },
  ),
]

function signedUrlView(
  base: string,
  { terms, token, expiresAt, ttlSeconds }: MintedUrl,
): Static<typeof SignedUrlView> {
  const { method, bucket, key, keyPrefix, contentLengthMax } = terms
  const { url, urlTemplate } = signedAddress(base, terms, token)
  return {
    url,
    token,
    method,
    bucket,
    key,
    keyPrefix,
    urlTemplate,
    expiresAt: timeText(expiresAt),
    ttlSeconds,
    requiredHeaders: requiredHeaders(terms),
    contentLengthMax,
  }
}

function requiredHeaders({
  contentType,
  checksumAlg,
  checksumVal,
}: SignedUrlTerms): Readonly<Record<string, string>> {
  return {
    ...(contentType === null ? {} : { 'Content-Type': contentType }),
    ...(checksumVal === null ? {} : { [`X-Service-Checksum-${checksumAlg}`]: checksumVal }),
  }
}
