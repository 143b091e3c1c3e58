/** removeMember: authorize -> confirm -> commit; rows decide whether it is empty. Its name never comes back. [decisions 12: remove] */
import { adminToken } from '../../access/rights.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import {
  CHANGE_REFUSALS,
  type StartedChange,
  changeMembers,
  confirm,
  type MembershipRequest,
} from './change-members.ts'

export const removeMember = adminOperation(
  {
    id: 'removeMember',
    requires: adminToken('owner', 'cluster'),
    refuses: [...CHANGE_REFUSALS, 'not_found', 'confirm_mismatch'],
    target: noTarget,
  },
  async (
    services,
    principal,
    {
      nodeId,
      confirm: given,
      ...requested
    }: MembershipRequest & { readonly nodeId: string; readonly confirm: string },
  ): Promise<StartedChange> => {
    confirm(given, nodeId)
    const change = { kind: 'remove', nodeId, newcomer: null, seen: '' } as const
    return changeMembers(services, principal, { requested, change })
  },
)
