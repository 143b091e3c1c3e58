/**
 * The route by which an access key makes a temporary credential. [record 48]
 *
 * Rule: the answer is never stored in between.
 */
import Type from 'typebox'
import { SCOPES_PATTERN } from '../../access/scopes.ts'
import { SESSION_NAME, TEMPORARY_SCOPES_CHARS_MAX } from '../../access/temporary-token.ts'
import { createTemporaryToken } from '../../operations/auth/create-temporary-token.ts'
import { documented } from '../documented.ts'
import { dataRoute } from '../route.ts'
import { GRANT_VIEW, grantView } from './grant-view.ts'

const Terms = Type.Object(
  {
    sessionName: Type.String({
      minLength: 2,
      maxLength: 64,
      description: 'Letters, digits and _+=,.@-; recorded with each request',
      ...documented({ pattern: SESSION_NAME.source }),
    }),
    scopes: Type.Optional(
      Type.String({
        maxLength: TEMPORARY_SCOPES_CHARS_MAX,
        description: 'Within those of the key; all of them unless given',
        ...documented({ pattern: SCOPES_PATTERN }),
      }),
    ),
    ttlSeconds: Type.Optional(Type.Integer({ minimum: 1, description: '3600 unless said otherwise' })),
  },
  { additionalProperties: false },
)

const TemporaryToken = Type.Object(
  {
    ...GRANT_VIEW,
    sessionName: Type.String(),
    scopes: Type.String(),
  },
  { additionalProperties: false },
)

export const temporaryTokenRoutes = [
  dataRoute(
    createTemporaryToken,
    {
      method: 'POST',
      path: '/auth/temporary',
      summary: 'Make a temporary credential that may do less than the access key',
      description:
        'It is a bearer token. It ends at its time, and at once when the key is revoked, rotated, or its tenant is disabled. It makes no other credential and signs no URL. `ttlSeconds` is clamped to what the deployment allows and to the life of the key.',
      body: { schema: Terms },
      success: {
        status: 200,
        description: 'A bearer token',
        content: { type: 'application/json', schema: TemporaryToken },
      },
      example: {
        body: { sessionName: 'build-17', scopes: 'op=read:bucket=photos:prefix=2026/', ttlSeconds: 900 },
      },
    },
    async (services, principal, { body: { sessionName, scopes, ttlSeconds }, note }) => {
      const grant = await createTemporaryToken(services, principal, { sessionName, scopes, ttlSeconds })
      note({ details: { session: sessionName, scopes: grant.scopes, expiresAt: grant.expiresAt } })
      return {
        kind: 'json',
        headers: { 'cache-control': 'no-store' },
        body: { ...grantView(grant), sessionName, scopes: grant.scopes },
      }
    },
  ),
]
