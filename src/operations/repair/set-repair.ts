/** setRepair: authorize -> commit. Each node follows within seconds. Setting the same again changes nothing. */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { type RepairOverview, repairOverview } from './get-repair.ts'

export async function setRepair(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly maxBytesPerSecond: number | null },
): Promise<RepairOverview> {
  authorize(principal, 'setRepair', {})
  settle(await services.propose({ type: 'setRepairRate', bytesPerSecond: input.maxBytesPerSecond }))
  return repairOverview(services)
}
