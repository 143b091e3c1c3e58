/**
 * The route that exchanges an access key for a bearer token. [native: Bearer token 1] [decisions 1]
 *
 * Rule: the answer is never stored in between, and credentials come in exactly one of the two forms.
 */
import type { IncomingHttpHeaders } from 'node:http'
import Type, { type Static } from 'typebox'
import { Refusal } from '../../base/refusal.ts'
import { networkOf } from '../../base/network-address.ts'
import { createToken } from '../../operations/auth/create-token.ts'
import { UNPROVED_BODY_BYTES_MAX } from '../admission/unproved-callers.ts'
import { openRoute } from '../route.ts'
import { GRANT_VIEW, grantView } from './grant-view.ts'

/** What the ids of access keys look like, and no secret does. */
const KEY_ID = /^AK[A-Z2-7]{18}$/

const Credentials = Type.Object(
  { accessKeyId: Type.Optional(Type.String()), secretKey: Type.Optional(Type.String()) },
  { additionalProperties: false },
)

const Token = Type.Object(GRANT_VIEW, { additionalProperties: false })

export const tokenRoutes = [
  openRoute(
    createToken,
    {
      method: 'POST',
      path: '/auth/token',
      auth: 'credentials',
      summary: 'Exchange an access key for a short-lived bearer token',
      description: 'Credentials come as HTTP Basic or as a JSON body, not both.',
      body: { schema: Credentials, required: false, bytesMax: UNPROVED_BODY_BYTES_MAX },
      success: {
        status: 200,
        description: 'A bearer token',
        content: { type: 'application/json', schema: Token },
      },
      example: {
        body: { accessKeyId: '{createTenantKey.accessKeyId}', secretKey: '{createTenantKey.secretKey}' },
      },
    },
    async (services, _, { headers, body, clientAddress, clientCertificate, note }) => {
      const pair = credentialsOf(headers, body)
      // A client that mistook a field may have put a secret there.
      if (KEY_ID.test(pair.accessKeyId)) note({ details: { accessKeyId: pair.accessKeyId } })
      const grant = await createToken(services, {
        ...pair,
        clientAddress: networkOf(clientAddress),
        connection: { address: clientAddress, certificate: clientCertificate },
      })
      note({
        actor: { type: 'accessKey', id: grant.accessKeyId, role: null },
        tenantId: grant.tenantId,
        details: { expiresAt: grant.expiresAt },
      })
      return {
        kind: 'json',
        headers: { 'cache-control': 'no-store' },
        body: grantView(grant),
      }
    },
  ),
]

interface Pair {
  readonly accessKeyId: string
  readonly secretKey: string
}

function credentialsOf(headers: IncomingHttpHeaders, body: Static<typeof Credentials>): Pair {
  const { accessKeyId, secretKey } = body
  const { authorization = '' } = headers
  if (/^basic\b/i.test(authorization)) {
    if (accessKeyId === undefined && secretKey === undefined) return basicPair(authorization)
    throw new Refusal(
      'invalid_request',
      'Send the access key in the Authorization header or in the body, not in both',
    )
  }
  if (accessKeyId !== undefined && secretKey !== undefined) return { accessKeyId, secretKey }
  throw new Refusal(
    'invalid_credentials',
    'The request carries no access key: use HTTP Basic, or a JSON body with "accessKeyId" and "secretKey"',
  )
}

function basicPair(authorization: string): Pair {
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? []
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1)
    throw new Refusal('invalid_credentials', 'The Basic credentials are not <id>:<secret> in base64')
  return { accessKeyId: text.slice(0, colon), secretKey: text.slice(colon + 1) }
}
