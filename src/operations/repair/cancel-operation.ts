/** cancelOperation: authorize -> commit. Nothing more is planned; copies that are not made yet are taken back. Cancelling again changes nothing. [decisions 12] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'

export async function cancelOperation(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<OperationRecord> {
  authorize(principal, 'cancelOperation', {})
  const action = { type: 'setOperationStatus', action: 'cancel', error: null } as const
  return settle(await services.propose({ ...action, operationId: input.id }))
}
