/**
 * Nodes as the service runs them, in one process: LevelDB, log files, sockets, the real clock.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Cluster, createCluster, type Member } from '../../cluster/index.ts'
import type { LevelStateMachine } from '../../src/store/apply/level-state-machine.ts'
import type { LevelStateReader } from '../../src/store/reads/level-state-reader.ts'
import { openStore } from '../../src/store/open-store.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { NO_COPIES } from '../../scripts/bench/no-copies.ts'
import { freeBasePort } from '../helpers/process-cluster.ts'
import { temporaryDirectory } from '../store/store-world.ts'

export interface SocketNode {
  readonly nodeId: string
  readonly cluster: Cluster
  readonly machine: LevelStateMachine
  readonly reader: LevelStateReader
  readonly lines: readonly LogLine[]
}

export class SocketNodes {
  readonly root: string
  readonly #members: readonly Member[]
  readonly #nodes = new Map<string, SocketNode>()

  private constructor(root: string, members: readonly Member[]) {
    this.root = root
    this.#members = members
  }

  /** n1, n2 and n3. */
  static async start(t: Test): Promise<SocketNodes> {
    const port = await freeBasePort(3)
    const members = [0, 1, 2].map((i) => {
      return { nodeId: `n${i + 1}`, peerAddress: `127.0.0.1:${port + 10 * i}`, zone: 'z', weight: 1 }
    })
    const nodes = new SocketNodes(temporaryDirectory(t), members)
    t.teardown(() => Promise.all(nodes.all.map(({ cluster }) => cluster.stop())))
    await Promise.all(members.map(({ nodeId }) => nodes.start(nodeId)))
    return nodes
  }

  get all(): readonly SocketNode[] {
    return [...this.#nodes.values()]
  }

  node(nodeId: string): SocketNode {
    const running = this.#nodes.get(nodeId)
    assert(running !== undefined, `${nodeId} runs`)
    return running
  }

  /** Also restarts it after its cluster was stopped. */
  async start(nodeId: string): Promise<SocketNode> {
    const dataDir = join(this.root, nodeId)
    mkdirSync(dataDir, { recursive: true })
    const lines: LogLine[] = []
    const logger = recordingLogger(lines)
    const { stateMachine: machine, reader } = openStore({ dir: join(dataDir, 'state'), logger })
    const members = this.#members
    const listen = members.find((member) => member.nodeId === nodeId)?.peerAddress ?? ''
    const own = { nodeId, dataDir, listen, members, clusterId: 'c1', tls: null, fingerprint: 'key' }
    const pace = {
      heartbeatMs: 30,
      electionTimeoutMs: 300,
      logKeepEntries: 1_000,
      logKeepBytes: 2 ** 20,
      logPinBytes: 2 ** 26,
    }
    const cluster = await createCluster(
      { ...own, ...pace },
      { stateMachine: machine, copyLedger: NO_COPIES, logger },
    )
    const node = { nodeId, cluster, machine, reader, lines }
    this.#nodes.set(nodeId, node)
    return node
  }

  /** The sum over the rows of each node, after everything acknowledged before. */
  async sums(): Promise<readonly string[]> {
    for (const { cluster } of this.all) await cluster.readBarrier()
    return this.all.map(({ machine }) => Buffer.from(machine.checksum()).toString('hex'))
  }
}
