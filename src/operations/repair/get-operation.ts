/** getOperation: authorize -> find. [decisions 12] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { OperationRecord } from '../../state-machine/operations/records.ts'
import type { Services } from '../base/services.ts'

export async function getOperation(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string },
): Promise<OperationRecord> {
  authorize(principal, 'getOperation', {})
  return findOperation(services, input.id)
}

export function findOperation({ state }: Pick<Services, 'state'>, id: string): OperationRecord {
  const operation = state.operation(id)
  if (operation === undefined) throw new Refusal('not_found', `Operation "${id.slice(0, 64)}" does not exist`)
  return operation
}
