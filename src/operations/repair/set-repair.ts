/** setRepair: authorize -> commit. Each node follows within seconds. Setting the same again changes nothing. */
import { adminToken } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { type RepairOverview, repairOverview } from './get-repair.ts'

export const setRepair = adminOperation(
  {
    id: 'setRepair',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (
    services,
    principal,
    input: { readonly maxBytesPerSecond: number | null },
  ): Promise<RepairOverview> => {
    settle(await services.propose({ type: 'setRepairRate', bytesPerSecond: input.maxBytesPerSecond }))
    return repairOverview(services)
  },
)
