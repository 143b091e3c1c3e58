/**
 * The receiving side of a snapshot, a state machine that was lost and replaced, and forgetting what is applied.
 *
 * Owns: when to pull, what of the log survives an install. Knows nothing of: the bytes, which the driver moves.
 * Rule: a log that agrees with the snapshot keeps what follows [thesis 5.1]; one that contradicts it is dropped whole: entries
 * after a wrong entry are wrong as well. A snapshot never takes the state machine back.
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
  } else if (core.fetching === null && !core.isStateLost) {
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
  standOn(core, installed)
  if (core.leaderId !== null) answer(core, core.leaderId, base.index)
}

export function snapshotFailed(core: Core): void {
  assert(core.fetching !== null, 'no snapshot was asked for')
  core.fetching = null
}

/** Nothing was promised in the name of the state machine: all that changes is who asks to lead. */
export function stateLost(core: Core): void {
  core.isStateLost = true
  if (core.role !== 'leader' && core.role !== 'follower') becomeFollower(core, core.term, null)
}

/** What was handed out and lies after the new base is still with the driver, in order. */
export function stateReplaced(core: Core, replaced: StateReplaced): void {
  const { index } = replaced.base
  assert(core.isStateLost && core.fetching === null, 'the driver replaces a state that was lost')
  assert(index >= core.appliedIndex, `state ${index} takes the state back from ${core.appliedIndex}`)
  core.isStateLost = false
  standOn(core, replaced)
}

/** The state machine holds everything up to `base`, which is committed. */
function standOn(
  core: Core,
  { base, configuration, configurationIndex }: SnapshotInstalled | StateReplaced,
): void {
  // The sender may have lived on into a later term. Here the log must not be ahead of the term: a leader of the past
  // would find itself contradicted by what is committed.
  if (base.term > core.term) becomeFollower(core, base.term, null)
  if (core.log.matches(base.index, base.term)) {
    commitTo(core, Math.max(core.commitIndex, base.index))
    core.configurations.appliedTo(base.index)
  } else {
    assert(base.index > core.commitIndex, `snapshot ${base.index} contradicts a committed entry`)
    // A leader never drops what it appended: whoever committed something else has taken its place.
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
