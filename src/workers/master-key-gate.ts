/**
 * Holds a node back until its master key is known to be the cluster's.
 *
 * Owns: the moment from which this node may answer. Knows nothing of: how the keys are compared (startup-tasks.ts).
 * Rule: every request that needs credentials passes the read barrier, so holding back the barrier holds back the node; and no token is refused as one of
 * another cluster before. Before
 * the keys are compared, no other node may be able to read data that this node seals.
 */
import { Condition } from '../../cluster/index.ts'
import type { Services } from '../operations/base/services.ts'

const REASON = 'This node has not compared its master key with the cluster yet'

export class MasterKeyGate {
  #isReached = false

  reached(): void {
    this.#isReached = true
  }

  /** Throws Condition leader_not_ready until then. */
  require(): void {
    if (!this.#isReached) throw new Condition('leader_not_ready', `Cannot serve: ${REASON}`)
  }

  /** The same machine, for all code that serves requests. */
  guard(cluster: Services['cluster']): Services['cluster'] {
    const { nodeId, clusterId } = cluster
    return {
      nodeId,
      clusterId,
      membership: cluster.membership,
      time: cluster.time,
      reachesLevel: (level, withinMs) => cluster.reachesLevel(level, withinMs),
      histories: cluster.histories,
      doctors: cluster.doctors,
      repairStatuses: () => cluster.repairStatuses(),
      orderDisk: (member, order) => cluster.orderDisk(member, order),
      diskPlaces: (member, names) => cluster.diskPlaces(member, names),
      placement: (id) => cluster.placement(id),
      readBarrier: async () => {
        await cluster.readBarrier()
        this.require()
      },
      readiness: () => {
        const { ready, reasons } = cluster.readiness()
        return this.#isReached ? { ready, reasons } : { ready: false, reasons: [...reasons, REASON] }
      },
    }
  }
}
