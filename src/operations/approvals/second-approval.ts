/**
 * The second approval that the setting `security.second_approval` asks for, as operations use it.
 *
 * Owns: the refusal of a change without one, and the request for it, which is made with that refusal. Knows nothing of: which changes lower a
 * lock. Rule: it is asked last, when nothing else refuses the change, so no owner is asked to approve what would be refused anyway.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { AccessKeyPrincipal, AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { Config } from '../../config/types.ts'
import { approvedChangeOf } from '../../state-machine/approved-change.ts'
import { approvalFault } from '../../state-machine/approvals/approvals.ts'
import type { ApprovalUse } from '../../state-machine/approvals/commands.ts'
import { approvalKeys } from '../../state-machine/approvals/keys.ts'
import type { ApprovalRecord, Requester } from '../../state-machine/approvals/records.ts'
import type { Command } from '../../state-machine/commands.ts'
import type { Services } from '../base/services.ts'
import { APPROVAL_REQUIRED } from '../base/dry-run.ts'

type ApprovedKind = Config['security']['secondApproval'][number]

/** With this, the change carries its approval; without any, the setting asks for none. */
interface Approved {
  readonly approval?: ApprovalUse
}

/** Throws Refusal precondition_failed with the blocker `approval_required`, and Condition. */
export async function secondApproval(
  services: Services,
  principal: AdminTokenPrincipal | AccessKeyPrincipal,
  kind: ApprovedKind,
  command: Command,
): Promise<Approved> {
  if (!services.config.security.secondApproval.includes(kind)) return {}
  const change = approvedChangeOf(command)
  assert(change !== null, 'only commands that can be approved are asked about')
  const requestedBy = requesterOf(principal)
  const approvalId = approvalIdOf(requestedBy, change.text)
  const time = services.cluster.time.now()
  const known = services.state.get(approvalKeys.approval(approvalId))
  const isAsked = known?.approvedBy === null && time < known.expiresAt
  const isReady = known !== undefined && approvalFault(services.state, known, time) === null
  const tenantId = 'tenantId' in command ? command.tenantId : null
  const { operation, text } = change
  const record =
    isAsked || isReady
      ? known
      : settle(
          await services.propose({
            type: 'requestApproval',
            approvalId,
            operation,
            tenantId,
            change: text,
            requestedBy,
          }),
        )
  if (record.approvedBy === null) throw approvalRequired(record)
  return { approval: { approvalId, requestedBy, approvedBy: record.approvedBy } }
}

function requesterOf(principal: AdminTokenPrincipal | AccessKeyPrincipal): Requester {
  return principal.kind === 'adminToken'
    ? { type: 'adminToken', id: principal.tokenId }
    : { type: 'accessKey', id: principal.accessKeyId }
}

/** The same for the same change by the same caller, so that repeating a request asks once. */
function approvalIdOf({ type, id }: Requester, change: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([type, id, change]))
    .digest('hex')
  return `apr_${digest.slice(0, 24)}`
}

function approvalRequired({ approvalId, operation, expiresAt }: ApprovalRecord): Refusal {
  const until = new Date(expiresAt).toISOString()
  const message = `Operation '${operation}' needs a second approval: let another owner run "holdfast approvals approve ${approvalId}" before ${until}, then send the same request again`
  const blocker = { code: APPROVAL_REQUIRED, message: 'no other owner has approved it yet', approvalId }
  return new Refusal('precondition_failed', message, { blockers: [blocker] })
}
