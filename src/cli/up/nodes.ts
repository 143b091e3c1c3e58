/**
 * The node processes of a local cluster: started, watched, stopped.
 *
 * Owns: child processes and their log files. Rule: only processes started here are ever signalled, each by its handle.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { notStarted } from './local-options.ts'
import type { NodePlan } from './setup.ts'

const RESTART_MS = 1000
/** As in deploy/Dockerfile and deploy/holdfast.service: short-lived garbage and free pages take little. */
const SMALL_MEMORY_FLAGS = ['--max-semi-space-size=8']
const SMALL_MEMORY_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' }
const LOG_TAIL_LINES = 12

export interface NodeWatcher {
  exited(nodeId: string, how: string): void
}

function isTaken(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':')
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) })
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Checked once for all nodes, before any of them runs. */
export async function requireFreePorts(plan: readonly NodePlan[]): Promise<void> {
  const addresses = plan.flatMap(({ dataUrl, adminUrl, peerAddress }) => [dataUrl, adminUrl, peerAddress])
  for (const address of addresses.map((url) => url.replace('http://', ''))) {
    if (await isTaken(address)) {
      throw notStarted(
        `The address ${address} is already in use`,
        'Is another cluster running? Stop it, or give other ports.',
      )
    }
  }
}

export class LocalNodes {
  readonly #plan: readonly NodePlan[]
  readonly #program: string
  readonly #children = new Map<string, ChildProcess>()
  /** Where the log of a node ended when this process started it first. */
  readonly #logStarts = new Map<string, number>()
  readonly #restart: boolean
  readonly #watcher: NodeWatcher
  #stopping = false

  constructor(
    plan: readonly NodePlan[],
    { program, restart }: { readonly program: string; readonly restart: boolean },
    watcher: NodeWatcher,
  ) {
    this.#plan = plan
    this.#program = program
    this.#restart = restart
    this.#watcher = watcher
  }

  startAll(): void {
    for (const node of this.#plan) this.#start(node)
  }

  pid(nodeId: string): number {
    return this.#children.get(nodeId)?.pid ?? 0
  }

  get running(): number {
    return this.#children.size
  }

  isRunning(nodeId: string): boolean {
    return this.#children.has(nodeId)
  }

  /** The last lines that a node wrote since this process started it; those of earlier runs are not among them. */
  logTail({ nodeId, logFile }: NodePlan): string {
    const text = readFileSync(logFile).toString('utf8', this.#logStarts.get(nodeId) ?? 0)
    return text.trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n')
  }

  #start(node: NodePlan): void {
    const log = openSync(node.logFile, 'a', 0o600)
    if (!this.#logStarts.has(node.nodeId)) this.#logStarts.set(node.nodeId, fstatSync(log).size)
    const child = spawn(
      process.execPath,
      [...SMALL_MEMORY_FLAGS, this.#program, 'server', '--config', node.configFile],
      {
        stdio: ['ignore', log, log],
        env: { ...SMALL_MEMORY_ENVIRONMENT, ...process.env },
      },
    )
    closeSync(log)
    this.#children.set(node.nodeId, child)
    child.once('exit', (code, signal) => {
      this.#children.delete(node.nodeId)
      if (this.#stopping) return
      this.#watcher.exited(node.nodeId, signal === null ? `exit code ${code}` : signal)
      if (this.#restart) setTimeout(() => this.#stopping || this.#start(node), RESTART_MS)
    })
  }

  /** SIGTERM to each; resolves when all have ended. */
  async stopAll(): Promise<void> {
    this.#stopping = true
    const ends = [...this.#children.values()].map(
      (child) =>
        new Promise<void>((resolve) => {
          child.once('exit', () => resolve())
          child.kill('SIGTERM')
        }),
    )
    await Promise.all(ends)
  }
}
