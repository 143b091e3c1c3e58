/** getRepair: the committed rate of all nodes, and how far the watch over copies of the node that was asked has come. */
import type { RepairStatus } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/principal.ts'
import type { Services } from '../services.ts'

export interface RepairOverview {
  readonly maxBytesPerSecond: number | null
  readonly nodeId: string
  readonly status: RepairStatus
}

export async function getRepair(services: Services, principal: AdminTokenPrincipal): Promise<RepairOverview> {
  authorize(principal, 'getRepair', {})
  return repairOverview(services)
}

export function repairOverview({ cluster, state }: Services): RepairOverview {
  const maxBytesPerSecond = state.settings().repairBytesPerSecond
  return { maxBytesPerSecond, nodeId: cluster.nodeId, status: cluster.repairStatus() }
}
