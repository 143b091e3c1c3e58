/**
 * The two systems of the Raft row, Holdfast and etcd: three fresh processes each, on this machine and this disk.
 *
 * Owns: child processes, their folder, their end. Knows nothing of: load.
 * Rule: only processes started here are signalled, each by its handle, and nothing is left behind.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import type { BenchNodePlan } from './raft-node.ts'
import { freeBasePort } from '../local/free-ports.ts'

const NODE_FILE = fileURLToPath(new URL('./raft-node.ts', import.meta.url))
const HOST = '127.0.0.1'
const NODES = ['n1', 'n2', 'n3'] as const
const PORT_RANGE = { from: 12_000, to: 30_000 }
const READY_MS_MAX = 60_000
const POLL_MS = 50

export interface RaftSystem {
  readonly name: string
  /** Three endpoints; each answers `POST /v3/kv/put`. */
  readonly endpoints: readonly string[]
  readonly pids: readonly number[]
  readonly folder: string
  stop(): Promise<void>
}

interface Place {
  readonly folder: string
  /** The ports of a node: for clients, and for its peers. */
  readonly clientPort: (node: number) => number
  readonly peerPort: (node: number) => number
}

interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The first line of `etcd --version`; null: there is no such program. */
export function etcdVersion(file = 'etcd'): string | null {
  const { status, stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' })
  return status === 0 ? (/etcd Version: (\S+)/.exec(stdout)?.[1] ?? null) : null
}

export function startHoldfast(): Promise<RaftSystem> {
  return startThree('holdfast', (node, { folder, clientPort, peerPort }) => {
    const members = NODES.map((nodeId, i) => ({
      nodeId,
      peerAddress: `${HOST}:${peerPort(i)}`,
      zone: nodeId,
      weight: 1,
    }))
    const nodeId = NODES[node] ?? ''
    const plan: BenchNodePlan = { nodeId, dataDir: join(folder, nodeId), httpPort: clientPort(node), members }
    return { file: process.execPath, args: [NODE_FILE, JSON.stringify(plan)] }
  })
}

/** As Debian ships it, with only the addresses changed; `more` are further flags. */
export function startEtcd(file = 'etcd', more: Readonly<Record<string, string>> = {}): Promise<RaftSystem> {
  return startThree('etcd', (node, { folder, clientPort, peerPort }) => {
    const name = NODES[node] ?? ''
    const client = `http://${HOST}:${clientPort(node)}`
    const peer = `http://${HOST}:${peerPort(node)}`
    const settings = {
      name,
      'data-dir': join(folder, name),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': NODES.map((nodeId, i) => `${nodeId}=http://${HOST}:${peerPort(i)}`).join(','),
      'initial-cluster-state': 'new',
      'log-level': 'error',
      logger: 'zap',
      ...more,
    }
    return { file, args: Object.entries(settings).flatMap(([flag, value]) => [`--${flag}`, value]) }
  })
}

/** Three processes of one program, each in a folder of its own. `healthPath` answers 200 once a node serves. */
export async function startThree(
  name: string,
  commandOf: (node: number, place: Place) => Command,
  healthPath = '/health',
): Promise<RaftSystem> {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-bench-raft-${name}-`))
  const base = await freeBasePort(NODES.length, PORT_RANGE)
  const clientPort = (node: number): number => base + 10 * node
  const peerPort = (node: number): number => clientPort(node) + 1
  const children = NODES.map((_, node) => {
    const { file, args, env = {} } = commandOf(node, { folder, clientPort, peerPort })
    const child = spawn(file, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
    })
    // A program that is not there: the wait for its health says so.
    child.on('error', () => undefined)
    return child
  })
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(ended))
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
  const endpoints = NODES.map((_, node) => `http://${HOST}:${clientPort(node)}`)
  try {
    await Promise.all(endpoints.map((endpoint) => untilHealthy(name, endpoint + healthPath)))
    return { name, endpoints, pids: children.flatMap(({ pid }) => pid ?? []), folder, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilHealthy(name: string, endpoint: string): Promise<void> {
  const giveUpAt = performance.now() + READY_MS_MAX
  while (!(await isHealthy(endpoint))) {
    if (performance.now() > giveUpAt)
      throw new Error(`${name} at ${endpoint} is not healthy after ${READY_MS_MAX / 1000} s`)
    await wait(POLL_MS)
  }
}

async function isHealthy(endpoint: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(endpoint, { signal: AbortSignal.timeout(2000) })
    await body.dump()
    return statusCode === 200
  } catch {
    // Not listening yet: the caller retries until its own limit.
    return false
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
