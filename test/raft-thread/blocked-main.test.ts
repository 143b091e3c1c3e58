/**
 * A leader whose main thread is blocked keeps the lead with Raft on a thread of its own, for nothing waits for that thread; once entries
 * wait for its state, the lead goes to another node without an election time-out.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createCluster } from '../../cluster/index.ts'
import type { Cluster, ClusterOptions } from '../../cluster/base/types.ts'
import { NO_COPIES } from '../../scripts/bench/no-copies.ts'
import { until } from '../helpers/async.ts'
import { removeWitnessesIn } from '../helpers/flush-witnesses.ts'
import { SILENT } from '../helpers/loggers.ts'
import { command, MemoryState, MemoryStateMachine, textOf } from '../helpers/memory-state-machine.ts'
import { freeBasePort } from '../helpers/process-cluster.ts'
import type { BlockableNodeCall, BlockableNodeData } from './blockable-node.ts'

const ELECTION_TIMEOUT_MS = 1_000

/** A node whose main thread can be held. */
class BlockableNode {
  readonly #gate = new SharedArrayBuffer(4)
  readonly #worker: Worker

  constructor(options: ClusterOptions) {
    const workerData: BlockableNodeData = { options, gate: this.#gate }
    this.#worker = new Worker(new URL('blockable-node.ts', import.meta.url), { workerData })
  }

  async started(): Promise<void> {
    await once(this.#worker, 'message')
  }

  async ask(call: BlockableNodeCall): Promise<unknown> {
    const answer = once(this.#worker, 'message')
    this.#worker.postMessage(call)
    return (await answer)[0] as unknown
  }

  letGo(): void {
    const gate = new Int32Array(this.#gate)
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }

  async end(): Promise<void> {
    this.letGo()
    await this.ask('stop')
    await this.#worker.terminate()
  }
}

async function optionsIn(t: Test): Promise<(nodeId: string) => ClusterOptions> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-blocked-'))
  t.teardown(() => {
    removeWitnessesIn(root)
    return rm(root, { recursive: true, force: true })
  })
  const port = await freeBasePort(3)
  const members = [0, 1, 2].map((i) => {
    return { nodeId: `n${i + 1}`, peerAddress: `127.0.0.1:${port + 10 * i}`, zone: 'z', weight: 1 }
  })
  const pace = { heartbeatMs: 50, electionTimeoutMs: ELECTION_TIMEOUT_MS }
  const log = { logKeepEntries: 1_000, logKeepBytes: 2 ** 20, logPinBytes: 2 ** 26 }
  const common = { clusterId: 'c1', members, tls: null, fingerprint: 'key', ...pace, ...log }
  return (nodeId) => {
    const listen = members.find((member) => member.nodeId === nodeId)?.peerAddress ?? ''
    return { ...common, nodeId, listen, dataDir: join(root, nodeId) }
  }
}

async function figure(cluster: Cluster, name: string): Promise<number> {
  const samples = await cluster.metrics()
  return samples.find((sample) => sample.name === `holdfast_raft_${name}`)?.value ?? -1
}

/** Nodes register and raise the level of a new group: entries that would wait for the blocked state. */
async function untilIdle(cluster: Cluster): Promise<void> {
  let [index, since] = [-1, 0]
  await until('the nodes have said what they say after a start', async () => {
    const committed = await figure(cluster, 'commit_index')
    if (committed !== index) [index, since] = [committed, performance.now()]
    return performance.now() - since > ELECTION_TIMEOUT_MS
  })
}

t.test('a leader whose main thread is blocked', async (t) => {
  const optionsOf = await optionsIn(t)
  const start = (nodeId: string): Promise<Cluster> => {
    const stateMachine = new MemoryStateMachine(new MemoryState())
    return createCluster(optionsOf(nodeId), { stateMachine, copyLedger: NO_COPIES, logger: SILENT })
  }
  const blockable = new BlockableNode({ ...optionsOf('n3'), raftThread: true })
  const [first, second] = await Promise.all([start('n1'), start('n2'), blockable.started()])
  t.teardown(() => Promise.all([blockable.end(), first.stop(), second.stop()]))
  await until('the node on the other thread leads', async () => {
    const leader = [first, second].find((cluster) => cluster.isJobRunner())
    await leader?.membership.transfer('n3').catch(() => null)
    return (await blockable.ask('leads')) === true
  })
  await first.propose(command('append before'))
  await untilIdle(first)

  const [term, changes] = [await figure(first, 'term'), await figure(first, 'leader_changes_total')]
  t.equal(await blockable.ask('block'), 'blocked')
  const since = performance.now()
  await until('three election time-outs have passed', async () => {
    await first.readBarrier()
    return performance.now() - since > 3 * ELECTION_TIMEOUT_MS
  })
  t.equal(await figure(first, 'term'), term, 'no election')
  t.equal(await figure(first, 'leader_changes_total'), changes)

  t.equal(textOf(await first.propose(command('append meanwhile'))), '2', 'the leader still commits')
  await until('another node leads', async () => {
    const leads = await Promise.all([first, second].map((cluster) => figure(cluster, 'is_leader')))
    return leads.includes(1)
  })
  t.equal(await figure(first, 'term'), term + 1)
  blockable.letGo()
  t.strictSame(await blockable.ask('texts'), ['before', 'meanwhile'])
})
