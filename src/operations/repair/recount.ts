/** recount: authorize -> reason -> commit. The node on duty counts all rows anew afterwards; a difference halts the collection. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function recount(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly reason: string },
): Promise<OperationRecord> {
  authorize(principal, 'recount', {})
  const reason = givenReason(input.reason, 'recount')
  const scope = { tenantId: null, bucket: null, node: null, maxBytesPerSecond: null }
  const asked = { operationId: newOperationId(), kind: 'recount', requestedBy: principal.tokenId } as const
  return settle(await services.propose({ type: 'startOperation', ...asked, reason, ...scope }))
}
