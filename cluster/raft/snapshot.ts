/**
 * The receiving side of a snapshot, a state machine that was lost and replaced, and forgetting what is applied.
 *
 * Owns: when to pull, which part of the log survives an install. Knows nothing of: the bytes, which the driver moves.
 * Rule: a log that agrees with the snapshot keeps the entries after it [thesis 5.1]; a log that contradicts it is dropped whole:
 * entries after a wrong entry are wrong as well. A snapshot never takes the state machine back. None is installed before some term is durable: after a crash the
 * state would have a log without a term, as if that had been lost.
 */
import { assert } from './assert.ts'
import { commitTo, emit, envelope, promise } from './core.ts'
import type { Core } from './core.ts'
import { followLeader } from './follower.ts'
import { becomeFollower } from './role.ts'
import type { InstallSnapshot, LogIndex, NodeId, SnapshotInstalled, StateReplaced } from './types.ts'

export function handleInstallSnapshot(core: Core, message: InstallSnapshot): void {
  if (!followLeader(core, message.from)) return
  const { lastIncluded } = message
  const isHeld =
    lastIncluded.index <= core.commitIndex || core.log.matches(lastIncluded.index, lastIncluded.term)
  if (isHeld) {
    answer(core, message.from, Math.max(lastIncluded.index, core.commitIndex))
  } else if (core.fetching === null && !core.isStateLost && core.durability.hasTerm) {
    // Otherwise the leader repeats its offer.
    core.fetching = lastIncluded
    emit(core, { type: 'fetchSnapshot', from: message.from, atLeast: lastIncluded })
  }
}

export function snapshotInstalled(core: Core, installed: SnapshotInstalled): void {
  const { base } = installed
  assert(core.fetching !== null, 'no snapshot was asked for')
  assert(
    base.index >= core.fetching.index,
    `snapshot ${base.index} is older than the offer ${core.fetching.index}`,
  )
  assert(
    base.index > core.handedIndex,
    `snapshot ${base.index} takes the state back from ${core.handedIndex}`,
  )
  core.fetching = null
  rebase(core, installed)
  if (core.leaderId !== null) answer(core, core.leaderId, base.index)
}

export function snapshotFailed(core: Core): void {
  assert(core.fetching !== null, 'no snapshot was asked for')
  core.fetching = null
}

/** No promise depends on the state machine: the only change is that this member does not campaign. */
export function stateLost(core: Core): void {
  core.isStateLost = true
  if (core.role !== 'leader' && core.role !== 'follower') becomeFollower(core, core.term, null)
}

/** The driver still has the entries that were handed out after the new base, in order. */
export function stateReplaced(core: Core, replaced: StateReplaced): void {
  const { index } = replaced.base
  assert(core.isStateLost && core.fetching === null, 'the driver replaces a lost state')
  assert(index >= core.appliedIndex, `state ${index} takes the state back from ${core.appliedIndex}`)
  core.isStateLost = false
  rebase(core, replaced)
}

/** The state machine holds everything up to `base`, which is committed. */
function rebase(
  core: Core,
  { base, configuration, configurationIndex }: SnapshotInstalled | StateReplaced,
): void {
  // The sender may have reached a later term. The log must not be ahead of this member's term: committed entries would
  // contradict a leader of an older term.
  if (base.term > core.term) becomeFollower(core, base.term, null)
  if (core.log.matches(base.index, base.term)) {
    commitTo(core, Math.max(core.commitIndex, base.index))
    core.configurations.appliedTo(base.index)
  } else {
    assert(base.index > core.commitIndex, `snapshot ${base.index} contradicts a committed entry`)
    // A leader never drops what it appended: a leader that committed other entries has taken its place.
    if (core.role !== 'follower') becomeFollower(core, core.term, null)
    core.log.restart(base)
    core.durability.restarted(base)
    core.configurations.restart(configurationIndex, configuration)
    commitTo(core, base.index)
  }
  core.handedIndex = Math.max(core.handedIndex, base.index)
  core.appliedIndex = base.index
}

export function compact(core: Core, index: LogIndex): void {
  assert(index <= core.appliedIndex, `entry ${index} is not applied yet`)
  if (index > core.log.base.index) core.log.compactTo(index)
}

function answer(core: Core, to: NodeId, index: LogIndex): void {
  promise(core, { type: 'InstallSnapshotResponse', ...envelope(core, to), index }, 'log')
}
