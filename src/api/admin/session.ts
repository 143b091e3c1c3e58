/**
 * The route by which a caller learns who it is and what it may do. No rules here.
 */
import Type from 'typebox'
import { maySometimes } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { getSession } from '../../operations/sessions/get-session.ts'
import { ADMIN_ROLES } from '../../state-machine/base/origin.ts'
import type { AdminSession, AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import { adminRoute, type RouteDefinition } from '../route.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'

export const SessionView = Type.Object(
  {
    tokenId: Type.String({ description: 'As the audit log names the caller' }),
    name: Type.String(),
    role: Type.Enum([...ADMIN_ROLES]),
    tenantId: orNull(Type.String({ description: 'The one tenant that the token is limited to' })),
    mayMakeKeys: Type.Boolean({ description: 'false: the token makes and rotates no access keys' }),
    expiresAt: orNull(Time),
    user: orNull(
      Type.Object(
        {
          issuer: Type.String(),
          subject: Type.String(),
          idleSeconds: Type.Integer({ description: 'The session ends when it is not renewed for this long' }),
          endsAt: Type.String({ format: 'date-time', description: 'When the session ends at the latest' }),
        },
        {
          additionalProperties: false,
          description: 'The person who logged in to the console; null for an admin token',
        },
      ),
    ),
    operations: Type.Array(Type.String(), {
      description:
        'The operationIds that role and tenant of the caller allow, in the order of this document. A request may still be refused for what it names',
    }),
  },
  { additionalProperties: false },
)

/** `routes`: all of the plane, these included. */
export function sessionRoutes(routes: () => readonly RouteDefinition[]): readonly RouteDefinition[] {
  return [
    adminRoute(
      getSession,
      {
        method: 'GET',
        path: '/session',
        summary: 'Who the caller is, and which operations it may use',
        success: {
          status: 200,
          description: 'The caller',
          content: { type: 'application/json', schema: SessionView },
        },
        example: {},
      },
      async (services, principal) => ({
        kind: 'json',
        headers: { 'cache-control': 'no-store' },
        body: sessionView(principal, await getSession(services, principal), routes()),
      }),
    ),
  ]
}

function sessionView(
  principal: AdminTokenPrincipal,
  { tokenId, name, role, tenantId, expiresAt, session }: AdminTokenRecord,
  routes: readonly RouteDefinition[],
) {
  const operations = routes
    .filter(({ operation }) => maySometimes(principal, operation))
    .map(({ operation: { id } }) => id)
  const mayMakeKeys = !principal.noKeys
  const user = session === undefined ? null : userView(session)
  return {
    tokenId,
    name,
    role,
    tenantId,
    mayMakeKeys,
    expiresAt: timeTextOrNull(expiresAt),
    user,
    operations,
  }
}

function userView({ user: { issuer, subject }, idleMs, endsAt }: AdminSession) {
  return { issuer, subject, idleSeconds: Math.floor(idleMs / 1000), endsAt: timeText(endsAt) }
}
