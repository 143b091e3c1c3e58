/**
 * The contract of membership: who belongs to the cluster, and how that is changed.
 */
export const membershipRows = {
  'membership.get':
    'GET /cluster/membership: votes, leader, indexes, how each member stands [admin: Endpoints] [decisions 12]',
  'membership.local': 'consistency=local is the node’s own view, marked authoritative:false [decisions 12]',
  'membership.owner': 'owner role and a global token [decisions 12]',
  'membership.body': '400 invalid_request, reason_required, confirm_mismatch [decisions 12]',
  'membership.join.repeated': 'a repeated join is answered with the running operation [decisions 12]',
  'membership.overlap':
    'one change of votes at a time; copies of several members may move at once [decisions 12]',
  'membership.join.owned':
    '409 member_tombstoned: another data directory joined under the name before [decisions 12]',
  'membership.totals':
    'every operation has its totals and a remaining time from its first second [decisions 12]',
  'membership.lost.answered':
    'lost answers when the vote is gone, or its phase says that it continues [decisions 12]',
  'membership.replace.zone':
    'a replacement takes the zone of the replaced member unless the request names another [decisions 12]',
  'membership.demote.confirm':
    'the command line asks before a demotion, which cannot be taken back [decisions 12]',
  'membership.join': 'join: learner, snapshot and log, then promoted [decisions 12]',
  'membership.join.ready':
    'promoted when it keeps up for 10 s and its state is equal, else stalled [decisions 12]',
  'membership.join.conflicts':
    '409 foreign_cluster, data_not_empty, member_exists, address_in_use, stale_config_index [decisions 12]',
  'membership.join.fingerprint':
    'the certificate of the newcomer is shown to the operator, and refused when it is not the expected one [decisions 12]',
  'membership.join.certificate':
    'a newcomer proves by its certificate that it is this node of this cluster [decisions 12]',
  'membership.join.cancel': 'cancellable until it is promoted [decisions 12]',
  'membership.demote': 'demote: voter to learner, copies move away, a leader hands over first [decisions 12]',
  'membership.lost': 'lost: the vote goes, the name is tombstoned, copies are made again [decisions 12]',
  'membership.lost.silence':
    'lost: only a member without contact to any answering member for 30 s [decisions 12]',
  'membership.remove': 'remove: only a drained or lost one, never the last voter [decisions 12]',
  'membership.replace':
    'replace: catch up, one change of votes, drain, remove; also of a dead one [decisions 12]',
  'membership.tombstone': 'a removed or lost name gets 410 and is never used again [decisions 12]',
  'membership.one-at-a-time': 'one change at a time: 409 membership_change_in_progress [decisions 12]',
  'membership.resume': 'a new leader continues where the last one was [decisions 12]',
  'membership.gates': '412 with blockers [decisions 12]',
  'membership.noop': 'repeating a finished request answers 200 with noop [decisions 12]',
  'membership.dry-run':
    'dryRun shows majority and tolerated failures before and after each step, bytes, warnings [decisions 12]',
  'membership.transfer': 'POST /cluster/leader/transfer [decisions 12]',
  'membership.join.stalled':
    'stalled: the operation names the gate as blocker and error; it may be cancelled, and the name joins again [decisions 12]',
  'membership.refusals':
    'every status and code of the table, for every operation that gives it: whom, what is wrong, what to do; 503 with Retry-After [decisions 12]',
  'membership.blobs': 'members: blobs {replicas, lastCopies} [decisions 12]',
  'membership.warnings':
    'warnings of a plan: fault tolerance, even voters, zones with a majority, last copies of a lost member [decisions 12]',
  'membership.conditions':
    'members: conditions {code, message}, absent where nothing is wrong [decisions 12]',
  'membership.outage': '503 without a majority names the node’s own view and holdfast recover [decisions 12]',
  'membership.race': 'compare-and-set on expectedConfigIndex [decisions 12]',
  'membership.rolled-back': 'a rolled-back disk under an old name does not count [decisions 12]',
  'membership.audit': 'the audit row is in the same entry as each phase [decisions 12]',
  'membership.recover.collect':
    'recover collect: every survivor writes a signed report, offline [decisions 12: lost quorum]',
  'membership.recover.plan':
    'recover plan: refused unless a quorum is gone and every voter is collected or named dead [decisions 12: lost quorum]',
  'membership.recover.loss': 'the plan states in words what may be lost [decisions 12: lost quorum]',
  'membership.recover.apply':
    'recover apply: bound by an epoch that every peer message carries [decisions 12: lost quorum]',
  'membership.recover.fenced': 'a returning majority is fenced off [decisions 12: lost quorum]',
  'membership.recover.verify': 'recover verify: one leader, equal checksums [decisions 12: lost quorum]',
  'membership.recover.visible': 'membership.recoveries shows it forever [decisions 12: lost quorum]',
  'membership.changes':
    'GET /changes: which topics differ from what a cursor has seen; without one, all [record 93]',
  'membership.changes.wait':
    'with wait it answers when something changes, at the latest after that time [record 93]',
  'membership.events':
    'GET /events: server-sent events with the topics that differ; Last-Event-ID or since resumes at any node, and no change is missed [record 114]',
  'membership.events.ends':
    'a stream ends after its time, with the node, and within seconds of its token; each may be resumed [record 114]',
  'membership.events.bound':
    '64 streams and waiting requests a node, 503 slow_down beyond; a client that does not read holds up one event [record 114]',
  'membership.history':
    'GET /cluster/history: one point each ten seconds of the last hour of every node; a node that does not answer is named [record 106]',
  'membership.history.prometheus':
    'a day, a week, a month from the Prometheus that is configured; 412 without one, 424 when it fails [record 106]',
  'membership.doctor':
    'GET /cluster/doctor: what the doctor finds on each member, and the dates of its certificates; a member that does not answer, or is of an older version, is named and has no findings [record 112]',
  'membership.placement':
    'GET /cluster/placement: copies and bytes by node and zone, owed copies, skew against weights, disks [record 91]',
  'membership.placement.plan':
    'POST /cluster/placement/plan: what a rebalance would move with other weights or zones; nothing changes [record 91]',
  'membership.placement.plan.refusals':
    'a member that is none or not active: 404 not_found; too few that take copies: a blocker [record 91]',
  'membership.place':
    'PUT and DELETE /cluster/members/{nodeId}/placement: weight and zone over the file of a member; the whole is replaced [record 99]',
  'membership.place.plan':
    'a dry run says which copies and bytes a rebalance would move, new shares, blockers and warnings; nothing changes [record 99]',
  'membership.place.refusals':
    'no member: 404; not active, too few nodes or zones left for copies: 412; nothing named, weight out of range: 400 [record 99]',
  'membership.disks':
    'GET /cluster/members/{nodeId}/disks: the disks of a member with status, doubt, what to do, and what is left on one that is emptied [record 99]',
  'membership.disks.drain':
    'POST .../disks/{diskId}/drain and /cancel: asked at any node, marked durably by the node concerned before the answer, in the audit log; a dry run marks nothing [record 99]',
  'membership.disks.refusals':
    'no member, no such disk: 404; one disk, a disk that is out, no room, no answer: 412 [record 99]',
  'membership.placement.disks':
    'with byDisk each node says on which disk each counted copy is; at most 2,000 chunks an answer; null where a node has one disk or is silent [record 99]',
  'membership.placement.pages': 'pages with a bounded number of chunks add up to the whole [record 91]',
  'membership.placement.scope':
    'of the cluster, a tenant or a bucket; 404 not_found; a bucket without its tenant: 400 [record 91]',
} as const
