/** recount: authorize -> reason -> commit. The node on duty counts all rows again afterwards; a difference halts the collection. */
import { adminToken } from '../../access/rights.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import { noTarget } from '../base/targets.ts'

export const recount = adminOperation(
  {
    id: 'recount',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (services, principal, input: { readonly reason: string }): Promise<LongOperation> => {
    const reason = givenReason(input.reason, 'recount')
    const scope = { tenantId: null, bucket: null, node: null, maxBytesPerSecond: null }
    const asked = { operationId: newOperationId(), kind: 'recount', requestedBy: principal.tokenId } as const
    return settle(await services.propose({ type: 'startOperation', ...asked, reason, ...scope }))
  },
)
