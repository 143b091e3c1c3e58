/** removeMember: authorize -> confirm -> reason -> commit; rows decide whether it is empty. Its name never comes back. [decisions 12: remove] */
import { adminToken } from '../../access/rights.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import {
  CHANGE_REFUSALS,
  type StartedChange,
  changeMembers,
  type MembershipRequest,
  readRequest,
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
    { nodeId, ...asked }: MembershipRequest & { readonly nodeId: string; readonly confirm: string },
  ): Promise<StartedChange> => {
    const requested = readRequest('remove', nodeId, asked)
    const change = { kind: 'remove', nodeId, newcomer: null, seen: '' } as const
    return changeMembers(services, principal, { requested, change })
  },
)
