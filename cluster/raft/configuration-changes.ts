/**
 * Changing the members of the group [thesis 4].
 *
 * Owns: when a change may start, the steps it takes, when a leader steps down. Knows nothing of: why a node joins or leaves, and
 * whether a new member has caught up; the driver asks for learners first.
 * Rule: one change at a time, none before an entry of this term is committed (two leaders of different terms could otherwise
 * start from different configurations and their majorities need not meet), and more than one vote moves only through a joint
 * configuration, in which both halves decide [thesis 4.3].
 */
import { encodeConfiguration, isJoint, isVoter, membersOf } from './configuration.ts'
import { appendOwn, emit, envelope, send } from './core.ts'
import type { Core, Leadership } from './core.ts'
import { Progress } from './progress.ts'
import { becomeFollower } from './role.ts'
import { mostUpToDateVoter } from './transfer.ts'
import type {
  ChangeConfiguration,
  Configuration,
  NodeId,
  RefusalReason,
  TargetConfiguration,
} from './types.ts'

/** Far more than a group can use; keeps a configuration entry small. */
const MEMBERS_MAX = 64

export function changeConfiguration(core: Core, input: ChangeConfiguration): void {
  const { proposalId, configuration: target } = input
  const { leadership } = core
  const reason = refusalOf(core, input)
  if (leadership === null || reason !== null) {
    emit(core, { type: 'proposalRefused', proposalId, reason: reason ?? 'notLeader' })
    return
  }
  const index = appendConfiguration(core, leadership, firstStep(core.configurations.current, target))
  emit(core, { type: 'proposalAccepted', proposalId, index, term: core.term })
}

/**
 * Called at the end of every step of a leader. A committed joint configuration is left at once, also by a leader that did
 * not start the change; a leader outside of a committed configuration steps down, after it has asked the best voter to take over.
 */
export function advanceConfiguration(core: Core): void {
  const { leadership, configurations } = core
  if (leadership === null || core.commitIndex < leadership.noopIndex) return
  if (configurations.index > core.commitIndex) return
  const { current } = configurations
  if (isJoint(current)) {
    // During a transfer of leadership the log must not grow, or the target would never hold all of it.
    if (leadership.transfer === null) appendConfiguration(core, leadership, { ...current, outgoing: [] })
  } else if (!isVoter(current, core.nodeId)) {
    resign(core)
  }
}

/** A removed peer is sent the log until it holds the entry that removes it and knows it to be committed, or for one election time-out. */
export function dropRemovedPeers(core: Core, { peers }: Leadership): void {
  const { current, index } = core.configurations
  if (index > core.commitIndex) return
  const members = membersOf(current)
  for (const [nodeId, peer] of peers) {
    if (members.includes(nodeId)) continue
    peer.ticksSinceRemoval += 1
    const knowsRemoval = peer.matchIndex >= index && peer.commitSent >= index
    if (knowsRemoval || peer.ticksSinceRemoval >= core.options.electionTicks) peers.delete(nodeId)
  }
}

function refusalOf(core: Core, { configuration, expectedIndex }: ChangeConfiguration): RefusalReason | null {
  const { leadership, configurations } = core
  if (leadership === null) return 'notLeader'
  if (core.commitIndex < leadership.noopIndex) return 'leaderNotReady'
  if (leadership.transfer !== null) return 'transferring'
  if (expectedIndex !== null && expectedIndex !== configurations.index) return 'configurationChanged'
  if (configurations.index > core.commitIndex || isJoint(configurations.current))
    return 'configurationPending'
  if (!isValid(configuration)) return 'configurationInvalid'
  return isSame(configuration, configurations.current) ? 'configurationUnchanged' : null
}

/** The majorities of two configurations always meet when they differ by one vote; otherwise the change passes through a joint one. */
function firstStep(current: Configuration, { voters, learners }: TargetConfiguration): Configuration {
  const isOldVote = (nodeId: NodeId): boolean => current.voters.includes(nodeId)
  const added = voters.filter((nodeId) => !isOldVote(nodeId)).length
  const removed = current.voters.length + added - voters.length
  return { voters, learners, outgoing: added + removed > 1 ? current.voters : [] }
}

function appendConfiguration(core: Core, leadership: Leadership, configuration: Configuration): number {
  const index = core.log.lastIndex + 1
  appendOwn(core, { index, term: core.term, kind: 'configuration', data: encodeConfiguration(configuration) })
  for (const nodeId of membersOf(configuration)) {
    const peer = leadership.peers.get(nodeId)
    if (peer !== undefined) peer.ticksSinceRemoval = 0
    else if (nodeId !== core.nodeId) leadership.peers.set(nodeId, new Progress(index))
  }
  return index
}

function resign(core: Core): void {
  const successor = mostUpToDateVoter(core)
  if (successor !== null) send(core, { type: 'TimeoutNow', ...envelope(core, successor) })
  becomeFollower(core, core.term, null)
}

function isValid({ voters, learners }: TargetConfiguration): boolean {
  const members = [...voters, ...learners]
  const areNamed = members.every((nodeId) => nodeId.length > 0)
  return (
    voters.length > 0 && areNamed && new Set(members).size === members.length && members.length <= MEMBERS_MAX
  )
}

function isSame(target: TargetConfiguration, current: Configuration): boolean {
  return isSameSet(target.voters, current.voters) && isSameSet(target.learners, current.learners)
}

function isSameSet(a: readonly NodeId[], b: readonly NodeId[]): boolean {
  return a.length === b.length && a.every((nodeId) => b.includes(nodeId))
}
