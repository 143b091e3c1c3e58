/**
 * The figures of one node. Owns: names and units. Rule: labels are bounded by the number of members.
 */
import { membersOf } from '../raft/configuration.ts'
import { histogram } from '../base/metric-samples.ts'
import type { MetricSample } from '../base/types.ts'
import type { Driver } from './driver.ts'

export function nodeMetrics(driver: Driver): readonly MetricSample[] {
  return [
    ...groupMetrics(driver),
    ...logMetrics(driver),
    ...workMetrics(driver),
    ...timeMetrics(driver),
    ...stateMetrics(driver),
    ...peerMetrics(driver),
    ...clockMetrics(driver),
    ...doubtMetrics(driver),
  ]
}

function groupMetrics(driver: Driver): readonly MetricSample[] {
  const { leaderView, applier } = driver
  const status = driver.status()
  return [
    gauge('raft_term', 'Current election term', status.term),
    gauge('raft_is_leader', '1 when this node leads', leaderView.isLeader ? 1 : 0),
    gauge('raft_has_leader', '1 when this node knows a leader', leaderView.leaderId === null ? 0 : 1),
    gauge('raft_commit_index', 'Last entry known to be committed', status.commitIndex),
    counter(
      'raft_committed_entries_total',
      'Entries known to be committed, from the first of the cluster on',
      status.commitIndex,
    ),
    gauge('raft_applied_index', 'Last entry that the local state holds', applier.appliedIndex),
    gauge('raft_last_log_index', 'Last entry in the local log', status.lastIndex),
    gauge('raft_first_log_index', 'Oldest entry in the local log', status.base.index + 1),
    gauge('raft_log_window_entries', 'Newest entries of the log that are in memory', status.window.entries),
    gauge('raft_log_window_bytes', 'Data of these entries', status.window.bytes),
    counter(
      'raft_log_read_back_total',
      'Entries that were read back from the segments',
      driver.readBack.count,
    ),
    gauge('raft_voters', 'Members that vote', status.configuration.voters.length),
    gauge('raft_feature_level', 'Feature level of the state', applier.featureLevel),
    counter('raft_leader_changes_total', 'Leaders seen by this process', driver.leaderChanges),
  ]
}

function logMetrics(driver: Driver): readonly MetricSample[] {
  const { keeper } = driver.state
  const entriesHelp = 'Entries kept on disk only because this member needs them'
  const bytesHelp = 'Disk that these entries take, at most'
  return [
    counter('raft_log_pins_given_up_total', 'Members for whom the log grew beyond its bound', keeper.givenUp),
    ...keeper
      .pinned(driver.state.pins(driver.status(), driver.disk))
      .flatMap(({ nodeId: peer, entries, bytes }) => [
        { ...gauge('raft_log_pinned_entries', entriesHelp, entries), labels: { peer } },
        { ...gauge('raft_log_pinned_bytes', bytesHelp, bytes), labels: { peer } },
      ]),
  ]
}

function workMetrics({ proposals, reads, disk, room, stateWatch }: Driver): readonly MetricSample[] {
  const isScarce = room.level !== 'open'
  const oldest = disk.oldestMs / 1000
  return [
    counter('raft_proposals_total', 'Proposals of this node', proposals.own.counts.proposed),
    counter(
      'raft_proposals_failed_total',
      'Proposals that ended without a reply',
      proposals.own.counts.failed,
    ),
    gauge('raft_proposals_pending', 'Proposals of this node under way', proposals.own.pendingCount),
    gauge('raft_readers_waiting', 'Readers that wait for their barrier', reads.readerCount),
    gauge('raft_log_oldest_write_seconds', 'Age of the oldest write of the log under way', oldest),
    counter('raft_log_stalls_total', 'Times that the disk of the log stalled', disk.stalls),
    counter(
      'raft_log_slow_total',
      'Times that a slow disk of the log made this leader hand over',
      disk.slowOffers,
    ),
    counter(
      'raft_state_stalled_total',
      'Times that this leader offered the lead because its state took nothing',
      stateWatch.offers,
    ),
    gauge('raft_log_disk_full', '1 when the disk of the log is full', disk.isFull ? 1 : 0),
    gauge('raft_room_scarce', '1 when the disk of log and state takes nothing new', isScarce ? 1 : 0),
  ]
}

function timeMetrics({ proposals, state }: Driver): readonly MetricSample[] {
  return [
    histogram(
      'holdfast_raft_commit_duration_seconds',
      'From the append of an entry at this leader until a majority has it',
      proposals.commitTimes.figures(),
    ),
    histogram(
      'holdfast_raft_apply_duration_seconds',
      'Time of the state machine for one batch of entries',
      state.applyTimes.figures(),
    ),
    histogram(
      'holdfast_raft_proposal_duration_seconds',
      'From the proposal of a change at this node until its reply',
      proposals.replyTimes.figures(),
    ),
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
    counter(
      'raft_snapshot_fetched_bytes_total',
      'Rows of snapshots that came from other nodes',
      snapshots.fetchedBytes,
    ),
    counter(
      'raft_snapshot_reused_bytes_total',
      'Rows of snapshots that the state here had already',
      snapshots.reusedBytes,
    ),
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
    ...peers.flatMap(({ nodeId: peer }) => {
      const help = 'Last entry in the state of the peer, as the peer reports it; from the leader'
      const applied = driver.gate.appliedOf(peer)
      return applied === null
        ? []
        : [{ ...gauge('raft_peer_applied_index', help, applied), labels: { peer } }]
    }),
    ...peers.map(({ nodeId: peer, matchIndex }) => {
      const help = 'Last entry that the peer is known to hold; from the leader'
      return { ...gauge('raft_peer_match_index', help, matchIndex), labels: { peer } }
    }),
  ]
}

/** The own clock at every node, those of the other voters at the leader. */
function clockMetrics(driver: Driver): readonly MetricSample[] {
  const { clocks, applier, leaderView } = driver
  const { time } = clocks
  const { time: logTime, confirmedTime } = applier.time
  const own = time.offsetMs
  const help = 'How far the clock of this node is ahead of that of the majority'
  const peerHelp = 'How far the clock of the voter is ahead of that of the majority; from the leader'
  const offsets = leaderView.isLeader ? time.offsets(driver.status().configuration) : []
  return [
    ...(own === null ? [] : [gauge('clock_offset_seconds', help, own / 1000)]),
    ...offsets.map(({ nodeId: peer, offsetMs }) => {
      return { ...gauge('clock_peer_offset_seconds', peerHelp, offsetMs / 1000), labels: { peer } }
    }),
    gauge(
      'clock_skewed',
      '1 when the clock of this node is further off than it may be',
      time.skewMs === null ? 0 : 1,
    ),
    gauge(
      'log_time_withheld_seconds',
      'Of the time of the log: steps that wait for an operator',
      (logTime - confirmedTime) / 1000,
    ),
  ]
}

function doubtMetrics({ doubts }: Driver): readonly MetricSample[] {
  const help = 'Messages of peers that were dropped because of an impossible claim'
  return [
    counter(
      'raft_peer_forgotten_total',
      'Times that a peer had lost entries that it acknowledged',
      doubts.forgotten,
    ),
    ...[...doubts.counts].map(([claim, count]) => {
      return { ...counter('raft_impossible_claims_total', help, count), labels: { claim } }
    }),
  ]
}

function gauge(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_${name}`, help, kind: 'gauge', value }
}

function counter(name: string, help: string, value: number): MetricSample {
  return { name: `holdfast_${name}`, help, kind: 'counter', value }
}
