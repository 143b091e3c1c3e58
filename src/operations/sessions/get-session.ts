/**
 * getSession: authorize -> what the caller is: its admin token, role and end.
 */
import { adminToken } from '../../access/rights.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import type { AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'
import { Refusal } from '../../base/refusal.ts'

export const getSession = adminOperation(
  {
    id: 'getSession',
    requires: adminToken('auditor', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async ({ state }, { tokenId }): Promise<AdminTokenRecord> => {
    const record = state.get(tenantKeys.adminToken(tokenId))
    if (record !== undefined) return record
    throw new Refusal('token_invalid', `Admin token '${tokenId}' does not exist any more`)
  },
)
