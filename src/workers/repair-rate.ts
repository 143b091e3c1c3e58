/**
 * Keeps this node at the rate for repair and scrub that is committed for all.
 *
 * Rule: the row is the truth, and is looked at again and again, so a node that was away follows as soon as it has caught up.
 */
import type { Cluster } from '../../cluster/index.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'

export function followRepairRate(
  cluster: Pick<Cluster, 'setRepairRate' | 'repairStatus'>,
  state: Pick<LevelStateReader, 'settings'>,
): void {
  const { repairBytesPerSecond } = state.settings()
  if (cluster.repairStatus().bytesPerSecond !== repairBytesPerSecond)
    cluster.setRepairRate(repairBytesPerSecond)
}
