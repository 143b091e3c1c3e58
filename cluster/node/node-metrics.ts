/**
 * The figures of one node. Owns: names and units. Rule: labels are bounded by the number of members.
 */
import type { MetricSample } from '../types.ts'
import type { Driver } from './driver.ts'

export function nodeMetrics(driver: Driver): readonly MetricSample[] {
  const status = driver.status()
  const { proposals, reads, snapshots, route, applier, guard, disk } = driver
  return [
    gauge('raft_term', 'Current election term', status.term),
    gauge('raft_is_leader', '1 when this node leads', route.isLeader ? 1 : 0),
    gauge('raft_has_leader', '1 when this node knows a leader', route.leaderId === null ? 0 : 1),
    gauge('raft_commit_index', 'Last entry known to be committed', status.commitIndex),
    gauge('raft_applied_index', 'Last entry that the local state holds durably', applier.appliedIndex),
    gauge('raft_last_log_index', 'Last entry in the local log', status.lastIndex),
    gauge('raft_first_log_index', 'Oldest entry in the local log', status.base.index + 1),
    gauge('raft_voters', 'Members that vote', status.configuration.voters.length),
    counter('raft_leader_changes_total', 'Leaders seen by this process', driver.leaderChanges),
    counter('raft_proposals_total', 'Proposals of this node', proposals.counts.proposed),
    counter('raft_proposals_failed_total', 'Proposals that ended without a reply', proposals.counts.failed),
    gauge('raft_proposals_pending', 'Proposals of this node under way', proposals.pendingCount),
    gauge('raft_readers_waiting', 'Readers that wait for their barrier', reads.readerCount),
    counter('raft_snapshots_served_total', 'Snapshots sent to other nodes', snapshots.served),
    counter('raft_snapshots_installed_total', 'Snapshots taken over from another node', snapshots.installed),
    counter('raft_snapshots_failed_total', 'Snapshots whose transfer or check failed', snapshots.failed),
    counter('raft_snapshot_blocks_served_total', 'Blocks of snapshots sent to other nodes', snapshots.blocks),
    counter(
      'raft_state_comparisons_total',
      'Comparisons of the state with other nodes',
      guard.counts.compared,
    ),
    counter('raft_state_verifications_total', 'Readings of the whole state', guard.counts.verified),
    counter(
      'raft_state_undecided_total',
      'Differences between states for which no majority stood',
      guard.counts.undecided,
    ),
    gauge(
      'raft_log_oldest_write_seconds',
      'Age of the oldest write of the log under way',
      disk.oldestMs / 1000,
    ),
    counter('raft_log_stalls_total', 'Times that the disk of the log stalled', disk.stalls),
    gauge('raft_log_disk_full', '1 when the disk of the log is full', disk.isFull ? 1 : 0),
    ...status.peers.map(({ nodeId, matchIndex }) => ({
      ...gauge(
        'raft_peer_match_index',
        'Last entry that the peer is known to hold; told by the leader',
        matchIndex,
      ),
      labels: { peer: nodeId },
    })),
  ]
}

function gauge(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_${name}`, help, kind: 'gauge', value }
}

function counter(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_${name}`, help, kind: 'counter', value }
}
