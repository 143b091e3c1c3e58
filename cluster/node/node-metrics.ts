/**
 * The figures of one node. Owns: names and units. Rule: labels are bounded by the number of members.
 */
import { membersOf } from '../raft/configuration.ts'
import type { MetricSample } from '../types.ts'
import type { Driver } from './driver.ts'

export function nodeMetrics(driver: Driver): readonly MetricSample[] {
  return [...groupMetrics(driver), ...workMetrics(driver), ...stateMetrics(driver), ...peerMetrics(driver)]
}

function groupMetrics(driver: Driver): readonly MetricSample[] {
  const { route, applier } = driver
  const status = driver.status()
  return [
    gauge('raft_term', 'Current election term', status.term),
    gauge('raft_is_leader', '1 when this node leads', route.isLeader ? 1 : 0),
    gauge('raft_has_leader', '1 when this node knows a leader', route.leaderId === null ? 0 : 1),
    gauge('raft_commit_index', 'Last entry known to be committed', status.commitIndex),
    gauge('raft_applied_index', 'Last entry that the local state holds durably', applier.appliedIndex),
    gauge('raft_last_log_index', 'Last entry in the local log', status.lastIndex),
    gauge('raft_first_log_index', 'Oldest entry in the local log', status.base.index + 1),
    gauge('raft_voters', 'Members that vote', status.configuration.voters.length),
    gauge('raft_feature_level', 'Feature level of the state', applier.featureLevel),
    counter('raft_leader_changes_total', 'Leaders seen by this process', driver.leaderChanges),
  ]
}

function workMetrics({ proposals, reads, disk }: Driver): readonly MetricSample[] {
  const oldest = disk.oldestMs / 1000
  return [
    counter('raft_proposals_total', 'Proposals of this node', proposals.counts.proposed),
    counter('raft_proposals_failed_total', 'Proposals that ended without a reply', proposals.counts.failed),
    gauge('raft_proposals_pending', 'Proposals of this node under way', proposals.pendingCount),
    gauge('raft_readers_waiting', 'Readers that wait for their barrier', reads.readerCount),
    gauge('raft_log_oldest_write_seconds', 'Age of the oldest write of the log under way', oldest),
    counter('raft_log_stalls_total', 'Times that the disk of the log stalled', disk.stalls),
    gauge('raft_log_disk_full', '1 when the disk of the log is full', disk.isFull ? 1 : 0),
  ]
}

function stateMetrics({ state }: Driver): readonly MetricSample[] {
  const { snapshots, rebuild } = state
  const { counts } = state.guard
  return [
    counter(
      'state_rebuilds_total',
      'Times that damage of the state made this process replace it',
      rebuild.count,
    ),
    counter('raft_snapshots_served_total', 'Snapshots sent to other nodes', snapshots.served),
    counter('raft_snapshot_blocks_served_total', 'Blocks of snapshots sent to other nodes', snapshots.blocks),
    counter('raft_snapshots_installed_total', 'Snapshots taken over from another node', snapshots.installed),
    counter('raft_snapshots_failed_total', 'Snapshots whose transfer or check failed', snapshots.failed),
    counter('raft_state_comparisons_total', 'Comparisons of the state with other nodes', counts.compared),
    counter('raft_state_undecided_total', 'Differences without a majority for a state', counts.undecided),
    counter('raft_state_verifications_total', 'Readings of the whole state', counts.verified),
  ]
}

function peerMetrics(driver: Driver): readonly MetricSample[] {
  const { nodeId, configuration, peers } = driver.status()
  const levels = membersOf(configuration)
    .filter((peer) => peer !== nodeId)
    .map((peer) => ({ peer, level: driver.gate.featureLevelOf(peer) }))
  return [
    ...levels.flatMap(({ peer, level }) => {
      const help = 'Highest feature level that the code of the peer knows'
      return level === null ? [] : [{ ...gauge('raft_peer_feature_level', help, level), labels: { peer } }]
    }),
    ...peers.map(({ nodeId: peer, matchIndex }) => {
      const help = 'Last entry that the peer is known to hold; told by the leader'
      return { ...gauge('raft_peer_match_index', help, matchIndex), labels: { peer } }
    }),
  ]
}

function gauge(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_${name}`, help, kind: 'gauge', value }
}

function counter(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_${name}`, help, kind: 'counter', value }
}
