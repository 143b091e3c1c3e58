/**
 * Approvals that wait or are given, one or a page of them: authorize -> find. A token with a tenant sees those of its tenant.
 */
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { approvalKeys, approvalRanges } from '../../state-machine/approvals/keys.ts'
import { APPROVALS_MAX, type ApprovalRecord } from '../../state-machine/approvals/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

/** At most APPROVALS_MAX, so there are no pages. */
export const listApprovals = adminOperation(
  {
    id: 'listApprovals',
    requires: adminToken('owner', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal): Promise<readonly ApprovalRecord[]> => {
    const page = { after: '', limit: APPROVALS_MAX }
    const { items } = await services.state.page(approvalRanges.approvals(), page)
    const time = services.cluster.time.now()
    return items
      .filter((approval) => time < approval.expiresAt && maySee(principal, approval))
      .toSorted((a, b) => a.requestedAt - b.requestedAt)
  },
)

export const getApproval = adminOperation(
  {
    id: 'getApproval',
    requires: adminToken('owner', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, input: { readonly id: string }): Promise<ApprovalRecord> => {
    return findApproval(services, principal, input.id)
  },
)

/** Throws Refusal not_found; tenant_scope_denied for an approval of another tenant or of the cluster. [admin: Authentication 4] */
export function findApproval(
  { cluster, state }: Pick<Services, 'cluster' | 'state'>,
  principal: AdminTokenPrincipal,
  id: string,
): ApprovalRecord {
  const found = state.get(approvalKeys.approval(id))
  if (found === undefined || cluster.time.now() >= found.expiresAt)
    throw new Refusal(
      'not_found',
      `Approval "${id.slice(0, 64)}" does not exist: it was used, rejected or has expired`,
    )
  if (maySee(principal, found)) return found
  throw new Refusal('tenant_scope_denied', `Admin token '${principal.tokenId}' is limited to one tenant`)
}

function maySee({ tenantId }: AdminTokenPrincipal, approval: ApprovalRecord): boolean {
  return tenantId === null || tenantId === approval.tenantId
}
