/**
 * A cluster of real processes on loopback, for tests that kill, pause and restart nodes.
 *
 * Owns: processes, ports, a small client. Rule: only processes started here are signalled, and all of them are gone
 * when the test ends, and, where this machine can, when the test itself is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'
import { parse, stringify } from 'yaml'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { freeBasePort as freePorts } from '../../scripts/local/free-ports.ts'
import { demoCredentials } from '../../src/cli/up/demo.ts'
import type { LocalOptions } from '../../src/cli/up/local-options.ts'
import { until } from './async.ts'
import { endsWithParent } from './ends-with-parent.ts'
import { removeWitnessesIn } from './flush-witnesses.ts'
import { withoutLoader } from './without-loader.ts'
import { type NodePlan, planNodes, prepare, type Setup } from '../../src/cli/up/setup.ts'
import { withSmallInlineBodies } from './small-inline-bodies.ts'

/** Test files run at the same time; each has its own ports, or two files could find the same port free. */
const JOBS_MAX = 8
const PORTS_A_JOB = 2500
/** Above 10080, the last port that fetch refuses. */
const PORT_MIN = 10_100

export function freeBasePort(nodes: number): Promise<number> {
  const from = PORT_MIN + (Number(process.env['TAP_JOB_ID'] ?? 0) % JOBS_MAX) * PORTS_A_JOB
  return freePorts(nodes, { from, to: from + PORTS_A_JOB })
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Removes the folder when the test is over; nodes may still be closing files in it. */
export function temporaryFolder(t: { teardown(callback: () => void): unknown }): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-'))
  t.teardown(() => {
    removeWitnessesIn(dir)
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  })
  return dir
}

export interface Asked {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  /** Below /api/v1. */
  readonly path: string
  readonly body?: Uint8Array | Readable | string | null
  readonly headers?: Readonly<Record<string, string>>
  /** For the whole exchange. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Where the nodes of a cluster run, and as what. */
export interface Site {
  readonly options: LocalOptions
  readonly plan: readonly NodePlan[]
  /** Ports and folders for nodes that are to join later. */
  readonly spares?: readonly NodePlan[]
  launch(node: NodePlan): Launch
  /** Called when the folders exist and before any node starts. */
  beforeStart?(cluster: ProcessCluster): Promise<void>
}

interface Launch {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The service, as it is shipped unless a test needs modules of the sources. */
export const serverCommand = ({ configFile }: NodePlan, program = nodeProgram()): readonly string[] => [
  process.execPath,
  program,
  'server',
  '--config',
  configFile,
]

interface Teardown {
  teardown(callback: () => unknown): unknown
}

export class ProcessCluster {
  readonly #site: Site
  /** The members, the spare nodes, the removed nodes. */
  #plan: readonly NodePlan[]
  #spares: readonly NodePlan[]
  #gone: readonly NodePlan[] = []
  readonly #children = new Map<string, ChildProcess>()
  readonly #agent = new Agent({ keepAliveTimeout: 1000, connect: { timeout: 2000 } })
  #setup: Setup | null = null
  #token = ''

  private constructor(site: Site) {
    this.#site = site
    this.#plan = site.plan
    this.#spares = site.spares ?? []
  }

  static async start(
    t: Teardown,
    nodes: number,
    /** Further configuration of every node, in YAML. */
    settings: string | null = null,
    more: Pick<Site, 'beforeStart'> & Partial<Pick<Site, 'launch'>> & { readonly spares?: number } = {},
  ): Promise<ProcessCluster> {
    const { spares: count = 0, ...hooks } = more
    const dataDir = temporaryFolder(t)
    const basePort = await freeBasePort(nodes + count)
    const configFile = join(temporaryFolder(t), 'settings.yaml')
    writeFileSync(configFile, withSmallInlineBodies(settings))
    const options = { nodes, dataDir, basePort, json: true, configFile, restart: false }
    const launch = (node: NodePlan): Launch => ({ command: serverCommand(node) })
    const all = planNodes({ ...options, nodes: nodes + count })
    const [plan, spares] = [all.slice(0, nodes), all.slice(nodes)]
    return ProcessCluster.startAt(t, { options, plan, spares, launch, ...hooks })
  }

  static async startAt(t: Teardown, site: Site): Promise<ProcessCluster> {
    const cluster = new ProcessCluster(site)
    const { options, plan } = site
    t.teardown(() => cluster.#killAll())
    cluster.#setup = await prepare(options, plan)
    await site.beforeStart?.(cluster)
    for (const { nodeId } of plan) cluster.startNode(nodeId)
    await cluster.allReady()
    cluster.#setup = await demoCredentials(options, cluster.#setup, plan)
    return cluster
  }

  get plan(): readonly NodePlan[] {
    return this.#plan
  }

  get spares(): readonly NodePlan[] {
    return this.#spares
  }

  /** Former members. They may run; no test relies on them. */
  get gone(): readonly NodePlan[] {
    return this.#gone
  }

  addSpare(node: NodePlan): void {
    this.#spares = [...this.#spares, node]
  }

  /** Makes a spare that has joined a node of the plan. */
  hasJoined(nodeId: string): void {
    const node = this.node(nodeId)
    this.#spares = this.#spares.filter((spare) => spare !== node)
    this.#plan = [...this.#plan, node]
  }

  hasLeft(nodeId: string): void {
    const node = this.node(nodeId)
    this.#plan = this.#plan.filter((member) => member !== node)
    this.#gone = [...this.#gone.filter((other) => other !== node), node]
  }

  /** A removed node that no longer runs. */
  forget(nodeId: string): void {
    this.#gone = this.#gone.filter((node) => node.nodeId !== nodeId)
  }

  get setup(): Setup {
    if (this.#setup === null) throw new Error('the cluster was not started')
    return this.#setup
  }

  node(nodeId: string): NodePlan {
    const node = [...this.#plan, ...this.#spares, ...this.#gone].find(
      (candidate) => candidate.nodeId === nodeId,
    )
    if (node === undefined) throw new Error(`no node ${nodeId}`)
    return node
  }

  pid(nodeId: string): number {
    return this.#children.get(nodeId)?.pid ?? 0
  }

  /** Starts a spare that waits to join; it knows only the first node of the cluster. */
  startJoining(nodeId: string): void {
    this.writeJoining(nodeId)
    this.startNode(nodeId, ['--join'])
  }

  /** Writes only its configuration. */
  writeJoining(nodeId: string): void {
    const { configFile, dataUrl, adminUrl, peerAddress } = this.node(nodeId)
    const first = this.plan[0]
    if (first === undefined) throw new Error('there is no node to join')
    const config = parse(readFileSync(first.configFile, 'utf8')) as Record<string, object>
    const known = [{ id: first.nodeId, peer: first.peerAddress }]
    const address = (url: string): string => url.replace('http://', '')
    const listeners = { data: address(dataUrl), admin: address(adminUrl), peer: peerAddress }
    const cluster = { ...config['cluster'], members: known }
    const own = { ...config, cluster, node: { id: nodeId, data_dir: nodeId }, listeners }
    writeFileSync(configFile, stringify(own))
  }

  startNode(nodeId: string, flags: readonly string[] = []): void {
    const node = this.node(nodeId)
    const { command, env } = this.#site.launch(node)
    const log = openSync(node.logFile, 'a')
    const child = spawn(...withoutLoader(...endsWithParent('KILL', [...command, ...flags])), {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    })
    closeSync(log)
    this.#children.set(nodeId, child)
  }

  /** Whether its process still runs. */
  isRunning(nodeId: string): boolean {
    const child = this.#children.get(nodeId)
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Resolves with the exit code, or the signal that ended it. */
  async signal(nodeId: string, signal: NodeJS.Signals): Promise<number | string> {
    const child = this.#children.get(nodeId)
    if (child === undefined || !this.isRunning(nodeId)) throw new Error(`node ${nodeId} does not run`)
    const ended = this.ended(nodeId)
    child.kill(signal)
    return ended
  }

  /** Resolves with the exit code, or the signal that ended it, once it is stopped. */
  async ended(nodeId: string): Promise<number | string> {
    const child = this.#children.get(nodeId)
    if (child === undefined) throw new Error(`node ${nodeId} does not run`)
    const ended = new Promise<number | string>((resolve) =>
      child.once('exit', (code, by) => resolve(code ?? by ?? 'unknown')),
    )
    // Says so once, which may have been before.
    const how = child.exitCode ?? child.signalCode ?? (await ended)
    this.#children.delete(nodeId)
    return how
  }

  /** Suspends the process, like a stalled machine; `resume` continues it. */
  pause(nodeId: string): void {
    this.#kill(nodeId, 'SIGSTOP')
  }

  resume(nodeId: string): void {
    this.#kill(nodeId, 'SIGCONT')
  }

  async ready(nodeId: string): Promise<boolean> {
    return (await this.unreadiness(nodeId)) === null
  }

  /** Why the node is not ready: null when it is, empty when it does not answer. */
  async unreadiness(nodeId: string): Promise<string | null> {
    try {
      const { statusCode, body } = await request(`${this.node(nodeId).adminUrl}/readyz`, {
        dispatcher: this.#agent,
        headersTimeout: 2000,
      })
      const text = await body.text()
      return statusCode === 200 ? null : text
    } catch {
      // Not listening: not ready.
      return ''
    }
  }

  async allReady(): Promise<void> {
    for (const { nodeId } of this.plan) {
      await until(`${nodeId} is ready (log: ${this.node(nodeId).logFile})`, async () => {
        const child = this.#children.get(nodeId)
        if (child && child.exitCode !== null)
          throw new Error(`${nodeId} ended:\n${readFileSync(this.node(nodeId).logFile, 'utf8').slice(-3000)}`)
        return this.ready(nodeId)
      })
    }
  }

  async metric(nodeId: string, name: string): Promise<number | undefined> {
    const { body } = await request(`${this.node(nodeId).adminUrl}/metrics`, {
      dispatcher: this.#agent,
      headersTimeout: 2000,
    })
    const line = (await body.text())
      .split('\n')
      .find((row) => row.startsWith(name) && /[ {]/.test(row[name.length] ?? ''))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }

  /** The node that reports itself as leader; undefined between leaders. */
  async leader(): Promise<string | undefined> {
    for (const nodeId of this.#children.keys()) {
      if ((await this.metric(nodeId, 'holdfast_raft_is_leader').catch(() => 0)) === 1) return nodeId
    }
    return undefined
  }

  /** One attempt at one node; throws when it cannot be reached. */
  call(
    nodeId: string,
    method: Asked['method'],
    path: string,
    body?: Uint8Array | string | null,
  ): Promise<Answer> {
    return this.ask(nodeId, { method, path, body: body ?? null })
  }

  async ask(nodeId: string, asked: Asked): Promise<Answer> {
    const { method, path, body = null, timeoutMs, signal } = asked
    const headers: Record<string, string> = { ...asked.headers, authorization: `Bearer ${this.#token}` }
    if (typeof body === 'string') headers['content-type'] = 'application/json'
    const answer = await request(`${this.node(nodeId).dataUrl}/api/v1${path}`, {
      method,
      headers,
      body,
      dispatcher: this.#agent,
      headersTimeout: Math.max(20_000, timeoutMs ?? 0),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, body: bytes }
  }

  /** A download that the test reads at its own pace, or leaves unread. Throws unless the answer is 200. */
  async open(nodeId: string, path: string): Promise<Readable> {
    const { statusCode, body } = await request(`${this.node(nodeId).dataUrl}/api/v1${path}`, {
      headers: { authorization: `Bearer ${this.#token}` },
      dispatcher: this.#agent,
      // The test may leave it unread for any time.
      bodyTimeout: 0,
    })
    // Destroying the reader breaks its connection; without a listener that error would be uncaught.
    body.on('error', () => undefined)
    if (statusCode !== 200) throw new Error(`GET ${path} gave ${statusCode}: ${await body.text()}`)
    return body
  }

  /** Below /admin/api/v1, as the owner. */
  async admin(
    nodeId: string,
    asked: Pick<Asked, 'method' | 'path'> & { readonly body?: object },
  ): Promise<Answer> {
    const { method, path, body } = asked
    const answer = await request(`${this.node(nodeId).adminUrl}/admin/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.setup.ownerToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: this.#agent,
      headersTimeout: 70_000,
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, body: bytes }
  }

  async login(nodeId: string): Promise<void> {
    const { accessKeyId, secretKey } = this.setup
    const { status, body } = await this.call(
      nodeId,
      'POST',
      '/auth/token',
      JSON.stringify({ accessKeyId, secretKey }),
    )
    if (status !== 200) throw new Error(`no token: ${status} ${body.toString()}`)
    this.#token = (JSON.parse(body.toString()) as { token: string }).token
  }

  #kill(nodeId: string, signal: NodeJS.Signals): void {
    if (this.#children.get(nodeId)?.kill(signal) !== true)
      throw new Error(`node ${nodeId} does not run and cannot get ${signal}`)
  }

  async #killAll(): Promise<void> {
    // A node that ended by itself is not reported again.
    const running = [...this.#children.keys()].filter((nodeId) => this.isRunning(nodeId))
    await Promise.all(running.map((nodeId) => this.signal(nodeId, 'SIGKILL')))
    await this.#agent.destroy()
  }
}
