/**
 * The route that tells whether an access key may do something, and why. No rules here.
 */
import Type, { type Static } from 'typebox'
import {
  ACCESS_DECIDERS,
  type AccessVerdict,
  isTestable,
  testAccess,
} from '../../operations/access-keys/test-access.ts'
import { documented } from '../documented.ts'
import { ACME, GALLERY_KEY } from '../examples/names.ts'
import { adminRoute, type Answer, type RouteDefinition } from '../route.ts'
import { orNull } from '../wire.ts'

export const AccessTestView = Type.Object(
  {
    allowed: Type.Boolean(),
    code: orNull(Type.String({ description: 'The code of the refusal; null: it is allowed' })),
    reason: Type.String(),
    decidedBy: Type.Enum([...ACCESS_DECIDERS]),
    scopes: Type.Array(Type.Object({ verb: Type.String(), bucket: Type.String(), prefix: Type.String() }), {
      description: 'The scopes that allow it, before the bucket policy is asked',
    }),
    statement: orNull(
      Type.Object(
        {
          index: Type.Integer({ minimum: 0, description: 'Its place in the policy, from 0' }),
          sid: orNull(Type.String()),
          document: orNull(
            Type.Object({}, { description: 'As the policy has it; null: the caller may not read policies' }),
          ),
        },
        {
          additionalProperties: false,
          description: 'The first statement of the bucket policy that denies it',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

/** `dataRoutes`: all of the data plane. */
export function accessTestRoute(dataRoutes: readonly RouteDefinition[]): RouteDefinition {
  const ids = dataRoutes.filter(({ operation }) => isTestable(operation)).map(({ operation: { id } }) => id)
  const Question = Type.Object(
    {
      accessKeyId: Type.String({ maxLength: 64 }),
      operation: Type.String({
        maxLength: 64,
        description: 'An operationId of the data API',
        ...documented({ pattern: `^(${ids.join('|')})$` }),
      }),
      bucket: Type.Optional(Type.String({ maxLength: 63 })),
      key: Type.Optional(
        Type.String({ maxLength: 1024, description: 'Object key; for a listing its prefix, all if absent' }),
      ),
      versionId: Type.Optional(Type.String({ maxLength: 64 })),
      sourceIp: Type.Optional(
        Type.String({ maxLength: 64, description: 'Needed if rights of the key depend on the address' }),
      ),
      secure: Type.Optional(Type.Boolean({ description: 'The request comes over TLS; true if absent' })),
    },
    { additionalProperties: false },
  )

  return adminRoute(
    testAccess,
    {
      method: 'POST',
      path: '/tenants/{id}/access-test',
      summary: 'Tell whether an access key may do an operation on a bucket or object, and why',
      description:
        'Answers as a request with this key would be answered now, by the same decisions; nothing changes. Whether bucket and object exist is not asked. A batch is tested as deleteObject of each key, the source of a copy as getObject.',
      body: { schema: Question },
      success: {
        status: 200,
        description: 'Whether it is allowed, and what decides',
        content: { type: 'application/json', schema: AccessTestView },
      },
      example: {
        params: ACME,
        body: {
          accessKeyId: GALLERY_KEY.keyId,
          operation: 'getObject',
          bucket: 'photos',
          key: '2026/cat.txt',
        },
      },
    },
    async (services, principal, { params, body }): Promise<Answer> => {
      const { operation, secure: isSecure = true, ...question } = body
      const { bucket, key, versionId, sourceIp, accessKeyId } = question
      const rights = dataRoutes.find((route) => route.operation.id === operation)?.operation
      const given = { ...params, accessKeyId, operation, rights, bucket, key, versionId, sourceIp }
      const found = await testAccess(services, principal, { ...given, isSecure, now: Date.now() })
      return { kind: 'json', body: verdictView(found) }
    },
  )
}

function verdictView(verdict: AccessVerdict): Static<typeof AccessTestView> {
  const { refusal, reason, decidedBy, scopes, statement } = verdict
  const code = refusal?.code ?? null
  return { allowed: refusal === null, code, reason, decidedBy, scopes: [...scopes], statement }
}
