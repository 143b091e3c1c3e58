/**
 * Keeps this node at the rate for repair and scrub that is committed for all.
 *
 * Rule: the committed row decides and is read again in every round, so a node that was away follows as soon as it has caught up.
 */
import type { Cluster } from '../../cluster/index.ts'
import type { View } from '../state-machine/base/view.ts'
import { settingsOf } from '../state-machine/chunks/collection.ts'

export function followRepairRate(
  cluster: Pick<Cluster, 'setRepairRate' | 'repairStatus'>,
  state: View,
): void {
  const { repairBytesPerSecond } = settingsOf(state)
  if (cluster.repairStatus().bytesPerSecond !== repairBytesPerSecond)
    cluster.setRepairRate(repairBytesPerSecond)
}
