/**
 * Opens a session for a person whom the identity provider has proved: barrier -> tenant exists -> commit. No JSON route leads here. [admin:
 * Authentication 2]
 *
 * Rule: the secret is made here and leaves once, for the cookie of the browser; the cluster keeps its hash.
 */
import { newSessionSecret } from '../../access/admin-token.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Person } from '../../access/oidc/person.ts'
import { settle } from '../../commands/settle.ts'
import type { OidcSettings } from '../../config/types.ts'
import type { AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from '../tenants/find-tenant.ts'

/** `as`: through it the entry names the person as its actor. */
export interface OpeningSession {
  readonly person: Person
  readonly life: Pick<OidcSettings, 'sessionMs' | 'idleMs'>
  readonly as: (principal: AdminTokenPrincipal) => Services
}

export interface OpenedSession {
  readonly record: AdminTokenRecord
  readonly secret: string
}

/** Throws Refusal not_found, precondition_failed, and Condition. */
export async function openSession(
  services: Services,
  { person, life, as }: OpeningSession,
): Promise<OpenedSession> {
  const { cluster } = services
  await cluster.readBarrier()
  const { user, name, rule } = person
  const { role, tenantId } = rule
  if (tenantId !== null) findTenant(services, tenantId)
  const { token: secret, tokenId, sha256 } = newSessionSecret()
  const noKeys = !rule.mayMakeKeys
  const acting = as({ kind: 'adminToken', tokenId, role, noKeys, tenantId, user: { id: user.id, name } })
  const record = settle(
    await acting.propose({
      type: 'openAdminSession',
      tokenId,
      name,
      role,
      tenantId,
      ...(noKeys ? { noKeys } : {}),
      user,
      idleMs: life.idleMs,
      endsAt: cluster.time.now() + life.sessionMs,
      sha256,
    }),
  )
  return { record, secret }
}
