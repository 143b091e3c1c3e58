/** resumeOperation: authorize -> commit. The walk goes on where it was. Resuming what runs changes nothing. [decisions 12] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function resumeOperation(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<OperationRecord> {
  authorize(principal, 'resumeOperation', {})
  const action = { type: 'setOperationStatus', action: 'resume', error: null } as const
  return settle(await services.propose({ ...action, operationId: input.id }))
}
