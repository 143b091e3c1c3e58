/**
 * Binds a stopped node to a plan: writes the new epoch, and an entry at the end of its log. At the winner the new history starts with
 * the entry; at any other survivor it only ensures that no node is elected without the winner, until the winner's log replaces it.
 *
 * Owns: the order of the durable writes, and their idempotence. Knows nothing of: how the plan was made, sealed or read.
 * Rules: the sweep file is removed, then the epoch is written, then the entry, so that no node ever runs with the new entry and without
 * the new epoch; a node that was started after its report is refused; two plans are never pending on one directory.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { encodeRecoveryNote, RECOVERY_LEVEL } from '../node/base/recovery-note.ts'
import { encodeConfiguration } from '../raft/configuration.ts'
import { continueFrom, SWEEP_FILE } from '../directory/identity.ts'
import type { Entry, LogBase } from '../raft/types.ts'
import { StartError } from '../base/types.ts'
import { nodeFileOps } from '../wal/file-ops.ts'
import { SegmentedLog } from '../wal/segmented-log.ts'
import type { NodeFacts } from './node-facts.ts'
import type { RecoveryDecision } from './recovery-plan.ts'
import type { StoppedNode } from './stopped-node.ts'

export interface RecoveryOrder {
  readonly planId: string
  readonly decision: RecoveryDecision
  /** The report of this node with which the plan was made. */
  readonly report: Pick<NodeFacts, 'incarnation' | 'boot' | 'term' | 'last' | 'applied'>
  /** When the plan was made. ms since 1970 */
  readonly time: number
  /** The service's command, applied with the entry. */
  readonly command: Uint8Array
}

export type Bound = 'bound' | 'bound already'

/** Idempotent by the id of the plan. Throws StartError `plan_pending`, `node_changed` or `plan_outdated`. */
export async function bindToPlan(node: StoppedNode, order: RecoveryOrder): Promise<Bound> {
  const { planId, decision } = order
  const { mark } = node.recovery
  const stateEpoch = node.recovered?.record.recoveryEpoch ?? 0
  const isMine = mark.planId === planId
  if (isMine && stateEpoch >= decision.epoch) return 'bound already'
  if (!isMine && mark.planId !== null && mark.epoch > stateEpoch && mark.epoch >= decision.epoch)
    throw planPending(mark.planId)
  if (!isMine && Math.max(mark.epoch, stateEpoch) >= decision.epoch) throw outdated(node, decision)
  const isWritten = isLast(node, entryFor(node, order))
  if (!isWritten) requireUnchanged(node, order)
  forgetOpenCopies(node.dataDir)
  if (!isMine) node.recovery.write({ epoch: decision.epoch, planId })
  await forgetDead(node, decision)
  if (!isWritten) writeEntry(node, order)
  await continueFrom(node.dataDir, node.identity, decision.boots[node.identity.nodeId] ?? 0)
  return isMine && isWritten ? 'bound already' : 'bound'
}

/** The rows of the group may name other copies than this node's rows did: without this file its next start checks all copies. */
function forgetOpenCopies(dataDir: string): void {
  const path = join(dataDir, SWEEP_FILE)
  if (!existsSync(path)) return
  nodeFileOps.unlink(path)
  nodeFileOps.syncDir(dataDir)
}

function isLast({ recovered }: StoppedNode, { index, term, data }: Entry): boolean {
  const last = recovered?.restored.entries.at(-1)
  return last?.index === index && last.term === term && Buffer.compare(last.data, data) === 0
}

/**
 * Survivors may be a majority in the configuration that they know, as restored copies are. So every survivor but the winner waits
 * in a joint configuration whose other half is only the winner: it can vote, and no node but the winner can be elected. The dead are
 * learners in it, which count for nothing, so that a later plan still asks for them.
 */
function entryFor(
  { identity }: StoppedNode,
  { planId, decision, report, time, command }: RecoveryOrder,
): Entry {
  const { epoch: recoveryEpoch, configuration, previous, term, winner, dead } = decision
  if (winner === identity.nodeId) {
    const note = encodeRecoveryNote({ planId, recoveryEpoch, featureLevel: RECOVERY_LEVEL, time, command })
    const data = encodeConfiguration(configuration, note)
    return { index: previous.index + 1, term, kind: 'configuration', data }
  }
  const waiting = { ...configuration, learners: [...configuration.learners, ...dead], outgoing: [winner] }
  const data = encodeConfiguration(waiting)
  return { index: report.last.index + 1, term: term - 1, kind: 'configuration', data }
}

function requireUnchanged({ identity, recovered, recovery }: StoppedNode, order: RecoveryOrder): void {
  const { report, decision } = order
  const { restored, record } = recovered ?? {}
  const last = restored?.entries.at(-1) ?? restored?.base
  const { appliedIndex: index = 0, appliedTerm: term = 0 } = record ?? {}
  const isSame =
    identity.incarnation === report.incarnation &&
    (identity.boot === report.boot || identity.boot === decision.boots[identity.nodeId]) &&
    restored?.hardState.currentTerm === report.term &&
    isEqual(last, report.last) &&
    isEqual({ index, term }, report.applied) &&
    Math.max(recovery.epoch, record?.recoveryEpoch ?? 0) <= decision.epoch
  if (!isSame) throw changed(identity.nodeId)
}

function isEqual(one: LogBase | undefined, other: LogBase): boolean {
  return one?.index === other.index && one.term === other.term
}

/** Removes the dead from the member file, so that no node calls them before the entry is applied. */
async function forgetDead({ memberFile, members }: StoppedNode, { dead }: RecoveryDecision): Promise<void> {
  await memberFile.write({
    ...members,
    members: members.members.filter(({ nodeId }) => !dead.includes(nodeId)),
    departed: [...new Set([...members.departed, ...dead])],
  })
}

function writeEntry(node: StoppedNode, order: RecoveryOrder): void {
  const { clusterId, nodeId, incarnation } = node.identity
  const entry = entryFor(node, order)
  const log = new SegmentedLog({
    dir: join(node.dataDir, 'raft'),
    clusterId,
    nodeId,
    incarnation,
    files: nodeFileOps,
    cipher: node.cipher,
    // The duration of its flushes is not measured.
    now: () => 0,
  })
  const realigned = node.recovered?.rewrite ?? null
  try {
    log.open()
    const rewrite = realigned === null ? [] : [{ sequence: 0, ...realigned, entries: [] }]
    // No node is elected in this term: it belongs only to the entry.
    const hardState = { currentTerm: entry.term, votedFor: order.decision.winner }
    log.append([...rewrite, { sequence: 1, hardState, base: null, entries: [entry] }])
  } finally {
    log.close()
  }
}

function planPending(planId: string): StartError {
  return new StartError('plan_pending', `Plan ${planId} was applied here and has not taken effect yet`, {
    hint: 'Start the node, or collect and plan again: a later plan replaces a pending one.',
  })
}

function outdated({ identity }: StoppedNode, { epoch }: RecoveryDecision): StartError {
  return new StartError(
    'plan_outdated',
    `${identity.nodeId} is at recovery epoch ${epoch} or later already: this plan is outdated`,
    { hint: 'Collect and plan again.' },
  )
}

function changed(nodeId: string): StartError {
  return new StartError('node_changed', `${nodeId} has changed since the plan was made`, {
    hint: 'It was started since then, or its data directory was replaced. Collect on every survivor and plan again.',
  })
}
