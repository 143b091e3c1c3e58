/** removeMember: authorize -> confirm -> commit; rows decide whether it is empty. Its name never comes back. [decisions 12: remove] */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { changeMembers, type ChangeBegun, confirm, type MembershipRequest } from './change-members.ts'

export async function removeMember(
  services: Services,
  principal: AdminTokenPrincipal,
  {
    nodeId,
    confirm: given,
    ...requested
  }: MembershipRequest & { readonly nodeId: string; readonly confirm: string },
): Promise<ChangeBegun> {
  authorize(principal, 'removeMember', {})
  confirm(given, nodeId)
  const change = { kind: 'remove', nodeId, newcomer: null, seen: '' } as const
  return changeMembers(services, principal, { requested, change })
}
