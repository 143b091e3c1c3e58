/** getRepair: what is committed for all nodes, and how far the watch over copies of each of them has come, as far as they answer. */
import type { NodeRepair } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import type { SettingsRecord } from '../../state-machine/chunks/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { settingsOf } from '../../state-machine/chunks/collection.ts'

export interface RepairOverview {
  readonly settings: SettingsRecord
  readonly nodes: readonly NodeRepair[]
}

export const getRepair = adminOperation(
  {
    id: 'getRepair',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services): Promise<RepairOverview> => {
    return repairOverview(services)
  },
)

export async function repairOverview({ cluster, state }: Services): Promise<RepairOverview> {
  return { settings: settingsOf(state), nodes: await cluster.repairStatuses() }
}
