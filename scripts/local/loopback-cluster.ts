/**
 * Nodes on loopback, three unless more is said, as processes that may be signalled, damaged and restarted.
 *
 * Owns: the processes, their folder, their end. Knows nothing of: clients, figures.
 * Rule: only processes started here are signalled, each by its handle, and nothing is left behind.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import type { BenchTarget } from '../bench/options.ts'
import { nodeProgram } from '../build/node-program.ts'
import { freeBasePort } from './free-ports.ts'
import { demoCredentials } from '../../src/cli/up/demo.ts'
import type { LocalOptions } from '../../src/cli/up/local-options.ts'
import { type NodePlan, planNodes, prepare, saveSetup, type Setup } from '../../src/cli/up/setup.ts'

const NODES = 3
const PORT_RANGE = { from: 12_000, to: 30_000 }
const POLL_MS = 5
const WAIT_MS = 60_000

/** A line of a node's log that names the leader. */
export interface LeadershipSeen {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly leader: string | null
  readonly isLeader: boolean
}

export interface ManagementCall {
  readonly nodeId: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Below the root of the admin API. */
  readonly path: string
  readonly body?: object
  readonly status: number
}

export interface LoopbackParts {
  readonly nodes?: number
  /** A cluster whose key file and credentials the new one has, under an id of its own. */
  readonly successorOf?: LoopbackCluster
  /** The configuration files are there, and no node has started. */
  readonly beforeStart?: (plan: readonly NodePlan[]) => Promise<void>
}

export class LoopbackCluster {
  readonly plan: readonly NodePlan[]
  readonly #folder: string
  readonly #children = new Map<string, ChildProcess>()
  #setup: Setup | null = null
  #credentials = { accessKeyId: '', secretKey: '' }

  static async start(configFile: string | null, parts: LoopbackParts = {}): Promise<LoopbackCluster> {
    const { nodes = NODES } = parts
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-loopback-'))
    const basePort = await freeBasePort(nodes, PORT_RANGE)
    const dataDir = join(folder, 'data')
    const options = { nodes, dataDir, basePort, json: true, configFile, restart: false }
    const cluster = new LoopbackCluster(folder, options)
    try {
      await cluster.#bringUp(options, parts)
      return cluster
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  private constructor(folder: string, options: LocalOptions) {
    this.#folder = folder
    this.plan = planNodes(options)
  }

  /** The target for clients of benchmarks. */
  get target(): BenchTarget {
    return { endpoints: this.plan.map(({ dataUrl }) => dataUrl), ...this.#credentials }
  }

  get masterKeyFile(): string {
    return join(dirname(this.plan[0]?.configFile ?? ''), 'master.key')
  }

  get setup(): Setup {
    if (this.#setup === null) throw new Error('The cluster has not started')
    return this.#setup
  }

  /** Of the nodes that run, in their order. */
  get pids(): readonly number[] {
    return this.plan.flatMap(({ nodeId }) => this.#children.get(nodeId)?.pid ?? [])
  }

  startNode(nodeId: string): void {
    const { configFile, logFile } = this.#node(nodeId)
    const log = openSync(logFile, 'a', 0o600)
    const child = spawn(process.execPath, [nodeProgram(), 'server', '--config', configFile], {
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#children.set(nodeId, child)
  }

  /** Resolves when the process has ended. */
  async signal(nodeId: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#children.get(nodeId)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${nodeId} does not run: its log is ${this.#node(nodeId).logFile}`)
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
    this.#children.delete(nodeId)
  }

  async ready(nodeId: string): Promise<void> {
    await this.#patiently(`${nodeId} is ready`, async () => (await this.#admin(nodeId, '/readyz')) !== null)
  }

  /** The one node that reports to be the leader. */
  async leader(): Promise<string> {
    let leaders: string[] = []
    await this.#patiently('one node leads', async () => {
      const pages = await Promise.all(this.plan.map(({ nodeId }) => this.#admin(nodeId, '/metrics')))
      leaders = this.plan.map(({ nodeId }) => nodeId).filter((_, at) => isLeading(pages[at] ?? ''))
      return leaders.length === 1
    })
    return leaders[0] ?? ''
  }

  /** A request of the owner to the admin API of a node. Throws on any other status than the one expected. */
  async manage({ nodeId, method, path, body, status }: ManagementCall): Promise<Record<string, unknown>> {
    const answer = await request(`${this.#node(nodeId).adminUrl}/admin/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.setup.ownerToken}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== status) throw new Error(`${method} ${path} gave ${answer.statusCode}: ${text}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  /** Whether the process of a node is running. */
  isRunning(nodeId: string): boolean {
    const child = this.#children.get(nodeId)
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Where the log of a node ends now. */
  logEnd(nodeId: string): number {
    return statSync(this.#node(nodeId).logFile).size
  }

  /** The lines about leaders in a node's log after a position. */
  leadershipSince(nodeId: string, place: number): LeadershipSeen[] {
    const text = readFileSync(this.#node(nodeId).logFile).toString('utf8', place)
    return text
      .split('\n')
      .filter((line) => line.includes('"leadership seen"'))
      .map((line) => JSON.parse(line) as Omit<LeadershipSeen, 'at'> & { readonly time: string })
      .map(({ time, leader, isLeader }) => ({ at: Date.parse(time), leader, isLeader }))
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((nodeId) => this.#end(nodeId)))
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }

  async #end(nodeId: string): Promise<void> {
    if (this.isRunning(nodeId)) await this.signal(nodeId, 'SIGTERM')
  }

  async #bringUp(options: LocalOptions, { successorOf, beforeStart }: LoopbackParts): Promise<void> {
    if (successorOf !== undefined) this.#succeed(options, successorOf)
    const setup = await prepare(options, this.plan)
    await beforeStart?.(this.plan)
    for (const { nodeId } of this.plan) this.startNode(nodeId)
    for (const { nodeId } of this.plan) await this.ready(nodeId)
    this.#setup = await demoCredentials(options, setup, this.plan)
    const { accessKeyId, secretKey } = this.#setup
    if (accessKeyId === null || secretKey === null) throw new Error('The demo tenant got no key')
    this.#credentials = { accessKeyId, secretKey }
  }

  #succeed(options: LocalOptions, { setup, masterKeyFile }: LoopbackCluster): void {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
    copyFileSync(masterKeyFile, join(options.dataDir, 'master.key'))
    saveSetup(options, { ...setup, clusterId: randomUUID(), nodes: options.nodes })
  }

  #node(nodeId: string): NodePlan {
    const node = this.plan.find((candidate) => candidate.nodeId === nodeId)
    if (node === undefined) throw new Error(`There is no node ${nodeId}`)
    return node
  }

  /** Null when it cannot be reached or does not answer 200. */
  async #admin(nodeId: string, path: string): Promise<string | null> {
    try {
      const { statusCode, body } = await request(`${this.#node(nodeId).adminUrl}${path}`)
      const text = await body.text()
      return statusCode === 200 ? text : null
    } catch {
      // Not listening yet, or not any more: the caller retries.
      return null
    }
  }

  async #patiently(what: string, condition: () => Promise<boolean>): Promise<void> {
    const giveUpAt = performance.now() + WAIT_MS
    while (!(await condition())) {
      if (performance.now() > giveUpAt) throw new Error(`Gave up waiting until ${what}`)
      await wait(POLL_MS)
    }
  }
}

function isLeading(metrics: string): boolean {
  return /^holdfast_raft_is_leader 1$/m.test(metrics)
}
