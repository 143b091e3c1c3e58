/** pauseOperation: authorize -> commit. Nothing more is planned; copies that were granted are still made. Pausing again changes nothing. [decisions 12] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function pauseOperation(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<OperationRecord> {
  authorize(principal, 'pauseOperation', {})
  const action = { type: 'setOperationStatus', action: 'pause', error: null } as const
  return settle(await services.propose({ ...action, operationId: input.id }))
}
