/**
 * Constructed data directories of stopped nodes: identity, members, a real log, and a state in memory that outlives its process.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findIdentity, openIdentity } from '../../cluster/directory/identity.ts'
import { MemberFile } from '../../cluster/directory/member-file.ts'
import { encodeCommandEntry } from '../../cluster/node/base/log-entry.ts'
import { encodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import type { NodeFacts } from '../../cluster/quorum-recovery/node-facts.ts'
import { planRecovery, type RecoveryDecision } from '../../cluster/quorum-recovery/recovery-plan.ts'
import { StoppedNode } from '../../cluster/quorum-recovery/stopped-node.ts'
import { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import { SILENT } from '../helpers/loggers.ts'
import { command, MemoryState, MemoryStateMachine } from '../helpers/memory-state-machine.ts'
import { timesAt } from '../helpers/entry-time.ts'

const VOTERS = ['n1', 'n2', 'n3']

export interface Disk {
  readonly nodeId: string
  readonly dataDir: string
  readonly state: MemoryState
}

interface Teardown {
  teardown(handler: () => void): void
}

function entry(index: number, term: number, text = `append ${index}`): Entry {
  const session = { nodeId: 'n1', incarnation: 'i', boot: 1, ackedBelow: 0 }
  const proposal = { ...session, sequence: index, command: command(text) }
  return { index, term, kind: 'command', data: encodeCommandEntry({ time: index, proposals: [proposal] }) }
}

/** A log of `last` entries of term 2; those up to `applied` are applied, those in `poisoned` cannot be. */
export async function makeDisk(
  t: Teardown,
  nodeId: string,
  {
    last,
    applied,
    poisoned = [],
  }: { readonly last: number; readonly applied: number; readonly poisoned?: readonly number[] },
): Promise<Disk> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-recovery-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const members = VOTERS.map((name) => ({ nodeId: name, peerAddress: `${name}:1`, zone: 'z', weight: 1 }))
  const options = expectedOf({ nodeId, dataDir })
  const identity = await openIdentity(options)
  const first = { voters: VOTERS, learners: [], outgoing: [] }
  const known = { members, departed: [], index: 0, isJoining: false, configured: {}, moved: {}, first }
  await new MemberFile(dataDir).write(known)
  mkdirSync(join(dataDir, 'raft'))
  const log = logOf({ dataDir }, identity)
  log.open()
  const entries = Array.from({ length: last }, (_, n) =>
    entry(n + 1, 2, poisoned.includes(n + 1) ? 'poison' : undefined),
  )
  log.append([{ sequence: 1, hardState: { currentTerm: 2, votedFor: 'n1' }, base: null, entries }])
  log.close()
  const state = new MemoryState()
  const sessions = [
    { nodeId: 'n1', incarnation: 'i', boot: 1, ackedBelow: 1, applied: applied > 0 ? [1, applied] : [] },
  ]
  const record = encodeMachineRecord({
    appliedIndex: applied,
    appliedTerm: applied > 0 ? 2 : 0,
    lastTime: applied,
    withheldMs: 0,
    highTime: applied,
    configuration: first,
    configurationIndex: 0,
    sessions,
    recoveryEpoch: 0,
    featureLevel: 1,
  })
  const stateMachine = new MemoryStateMachine(state)
  await stateMachine.open()
  const batch = entries.slice(0, applied).map(({ index }) => {
    return { index, ...timesAt(index), featureLevel: 1, commands: [command(`append ${index}`)] }
  })
  await stateMachine.apply({ entries: batch, record })
  await stateMachine.close()
  return { nodeId, dataDir, state }
}

export function logOf(
  { dataDir }: Pick<Disk, 'dataDir'>,
  identity: { readonly clusterId: string; readonly nodeId: string; readonly incarnation: string },
): SegmentedLog {
  const { clusterId, nodeId, incarnation } = identity
  return new SegmentedLog({ dir: join(dataDir, 'raft'), clusterId, nodeId, incarnation, now: () => 0 })
}

function expectedOf({ nodeId, dataDir }: Pick<Disk, 'nodeId' | 'dataDir'>) {
  const members = VOTERS.map((name) => ({ nodeId: name, peerAddress: `${name}:1`, zone: 'z', weight: 1 }))
  return { clusterId: 'c', nodeId, dataDir, members, fingerprint: 'f' }
}

/** Does what a command does: opens the directory, works, closes it. */
export async function stopped<T>(disk: Disk, work: (node: StoppedNode) => Promise<T>): Promise<T> {
  const stateMachine = new MemoryStateMachine(disk.state)
  const node = await StoppedNode.open(expectedOf(disk), { stateMachine, logger: SILENT })
  try {
    return await work(node)
  } finally {
    await node.close()
  }
}

export function factsIn(disk: Disk): Promise<NodeFacts> {
  return stopped(disk, (node) => node.facts(() => new MemoryStateMachine(disk.state.copy())))
}

/** Makes the node look as if it had been started since. */
export async function startOnce(disk: Disk): Promise<void> {
  const identity = await findIdentity(disk.dataDir)
  if (identity === null) throw new Error('it has an identity')
  await openIdentity({ ...identity, dataDir: disk.dataDir })
}

export async function decide(disks: readonly Disk[], dead: readonly string[]): Promise<RecoveryDecision> {
  const reports: NodeFacts[] = []
  for (const disk of disks) reports.push(await factsIn(disk))
  const planned = planRecovery(reports, { dead, isRestored: false })
  if ('refusals' in planned) throw new Error(JSON.stringify(planned.refusals))
  return planned.decision
}
