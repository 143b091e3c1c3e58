/**
 * getClusterMembership: authorize -> rows, and what each member says of itself. [decisions 12]
 *
 * `isLocal`: as this node has it, without asking whether it is the latest; without a leader there is no other answer.
 */
import type { MemberStatus, NodeRepair } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { clusterRecoveries } from '../../state-machine/members/cluster-recoveries.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import type { ClusterRecovery, MembersRecord } from '../../state-machine/members/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { ReplicaCounts } from '../base/replica-counts.ts'
import { noTarget } from '../base/targets.ts'
import { collectMemberStatuses, leaderIn, type MemberStatuses } from './member-statuses.ts'

export interface MembershipOverview {
  readonly clusterId: string
  readonly isLocal: boolean
  readonly rows: MembersRecord
  /** From lost quorums, the oldest first. */
  readonly recoveries: readonly ClusterRecovery[]
  /** Of the leader; of this node when none answers. */
  readonly status: MemberStatus
  /** Of this node, after all members were asked. */
  readonly own: MemberStatus
  readonly memberStatuses: MemberStatuses
  readonly disks: readonly NodeRepair[]
  /** Why this node is not ready. */
  readonly reasons: readonly string[]
  /** As this node has the rows; null: they were not counted yet. */
  readonly replicaCounts: ReplicaCounts | null
}

export const getClusterMembership = adminOperation(
  {
    id: 'getClusterMembership',
    requires: adminToken('owner', 'cluster'),
    refuses: ['leader_not_ready'],
    target: noTarget,
  },
  async (services, principal, { isLocal }: { readonly isLocal: boolean }): Promise<MembershipOverview> => {
    const { clusterId, membership } = services.cluster
    const before = membership.local()
    const [memberStatuses, disks] = isLocal
      ? [new Map([[before.nodeId, before]]), []]
      : await Promise.all([collectMemberStatuses(services), services.cluster.repairStatuses()])
    const rows = membersOf(services.state)
    const recoveries = clusterRecoveries(services.state)
    const { reasons } = services.cluster.readiness()
    const replicaCounts = await services.replicaCounter.look()
    const own = membership.local()
    const seen = {
      rows,
      recoveries,
      status: leaderIn(memberStatuses) ?? own,
      own,
      memberStatuses,
      disks,
      reasons,
      replicaCounts,
    }
    return { clusterId, isLocal, ...seen }
  },
)
