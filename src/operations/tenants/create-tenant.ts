/**
 * createTenant: authorize -> check the id -> make the tenant's keys -> commit; that the id is free is decided in the commit.
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import { adminOperation } from '../base/operation.ts'
import { isTenantId, tenantIdFromName } from './tenant-id.ts'

interface NewTenant {
  readonly id?: string
  readonly name: string
}

const idOf = ({ id, name }: NewTenant): string => id ?? tenantIdFromName(name)

export const createTenant = adminOperation(
  {
    id: 'createTenant',
    requires: adminToken('operator', 'cluster'),
    refuses: ['already_exists'],
    target: (input: NewTenant) => ({ tenantId: idOf(input) }),
  },
  async (services, _principal, input: NewTenant): Promise<TenantRecord> => {
    const id = idOf(input)
    if (!isTenantId(id)) {
      throw new Refusal(
        'invalid_request',
        input.id === undefined
          ? `Cannot make an id from the name "${input.name}": give "id" as 2 to 63 of a-z, 0-9 and "-"`
          : `Cannot create tenant "${id}": "id" takes 2 to 63 of a-z, 0-9 and "-"`,
      )
    }
    const keys = services.access.newTenantKeys(id)
    return settle(await services.propose({ type: 'createTenant', id, name: input.name, ...keys }))
  },
)
