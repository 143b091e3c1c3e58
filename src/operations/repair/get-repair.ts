/** getRepair: what is committed for all nodes, and how far the watch over copies of each of them has come, as far as they answer. */
import type { NodeRepair } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { SettingsRecord } from '../../state-machine/chunks/records.ts'
import type { Services } from '../base/services.ts'

export interface RepairOverview {
  readonly settings: SettingsRecord
  readonly nodes: readonly NodeRepair[]
}

export async function getRepair(services: Services, principal: AdminTokenPrincipal): Promise<RepairOverview> {
  authorize(principal, 'getRepair', {})
  return repairOverview(services)
}

export async function repairOverview({ cluster, state }: Services): Promise<RepairOverview> {
  return { settings: state.settings(), nodes: await cluster.repairStatuses() }
}
