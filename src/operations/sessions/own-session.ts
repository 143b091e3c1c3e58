/**
 * renewSession: authorize -> is a session -> commit: another secret, and the idle time begins again.
 * endSession: authorize -> is a session -> commit: this one, or all of the person, at every node with the next request.
 */
import { adminTokenHash, newSessionSecret } from '../../access/admin-token.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'

interface RenewedSession {
  readonly record: AdminTokenRecord
  /** null: another page renewed it a moment ago, and the browser has that secret. */
  readonly secret: string | null
}

/** `former`: the secret that the browser sent. */
export const renewSession = adminOperation(
  {
    id: 'renewSession',
    requires: adminToken('auditor', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, { former }: { readonly former: string }): Promise<RenewedSession> => {
    requireUser(principal)
    const { token, sha256 } = newSessionSecret()
    const record = settle(
      await services.propose({
        type: 'renewAdminSession',
        tokenId: principal.tokenId,
        formerSha256: adminTokenHash(former),
        sha256,
      }),
    )
    return { record, secret: record.sha256 === sha256 ? token : null }
  },
)

export const endSession = adminOperation(
  {
    id: 'endSession',
    requires: adminToken('auditor', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (
    services,
    principal,
    { isEverywhere }: { readonly isEverywhere: boolean },
  ): Promise<{ readonly ended: number }> => {
    const userId = requireUser(principal)
    const tokenId = isEverywhere ? null : principal.tokenId
    return settle(await services.propose({ type: 'endAdminSessions', userId, tokenId }))
  },
)

/** Its id. Throws Refusal invalid_request. */
function requireUser({ tokenId, user }: AdminTokenPrincipal): string {
  if (user !== undefined) return user.id
  throw new Refusal('invalid_request', `'${tokenId}' is an admin token of the command line, not a session`)
}
