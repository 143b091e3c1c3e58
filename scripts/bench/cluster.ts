/**
 * The measured cluster: three fresh nodes in a temporary folder, or one that is already running.
 *
 * Owns: the process of `local-cluster`, its folder, their end. Rule: nothing is left behind, also after a failure.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import type { BenchTarget } from './options.ts'
import { freeBasePort } from '../local/free-ports.ts'
import type { ClusterDescription } from '../../src/cli/up/up-command.ts'
import { UsageError } from '../local/options.ts'

const LOCAL_CLUSTER = fileURLToPath(new URL('../local/cluster.ts', import.meta.url))
const NODES = 3
const PORT_RANGE = { from: 12_000, to: 30_000 }

export interface MeasuredCluster extends BenchTarget {
  /** This and the next in the order of the endpoints; empty when this program did not start the processes. */
  readonly pids: readonly number[]
  readonly adminUrls: readonly string[]
  /** Of an owner; null when this program did not start the cluster. */
  readonly adminToken: string | null
  /** A folder on the same disk, for the anchor; null when the disk is elsewhere. */
  readonly folder: string | null
  stop(): Promise<void>
}

export function runningCluster(target: BenchTarget): MeasuredCluster {
  return { ...target, pids: [], adminUrls: [], adminToken: null, folder: null, stop: async () => undefined }
}

/** `program`: the starter of local clusters, of this checkout or of another. */
export async function freshCluster(
  configFile: string | null,
  program = LOCAL_CLUSTER,
  count = NODES,
): Promise<MeasuredCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const args = ['--json', '--nodes', `${count}`, '--data', join(folder, 'data')]
  if (configFile !== null) args.push('--config', configFile)
  const child = spawn(
    process.execPath,
    [program, ...args, '--base-port', `${await freeBasePort(count, PORT_RANGE)}`],
    {
      // A separate process group: Ctrl-C reaches the benchmark, and the benchmark stops the cluster.
      detached: true,
      stdio: ['ignore', 'pipe', 2],
    },
  )
  const stop = async (): Promise<void> => {
    await ended(child)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
  try {
    const { nodes, accessKeyId, secretKey, ownerToken } = await description(child)
    const endpoints = nodes.map(({ dataUrl }) => dataUrl)
    const pids = nodes.map(({ pid }) => pid)
    const adminUrls = nodes.map(({ adminUrl }) => adminUrl)
    return {
      endpoints,
      accessKeyId,
      secretKey,
      pids,
      adminUrls,
      adminToken: ownerToken,
      folder,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** `/metrics` of each node, in the order of the endpoints. */
export function metricsOf({ adminUrls }: Pick<MeasuredCluster, 'adminUrls'>): Promise<readonly string[]> {
  return Promise.all(adminUrls.map(async (url) => (await request(`${url}/metrics`)).body.text()))
}

/** The place of the leader in the order of the endpoints. */
export async function leaderOf(cluster: Pick<MeasuredCluster, 'adminUrls'>): Promise<number> {
  const pages = await metricsOf(cluster)
  const leader = pages.findIndex((page) => /^holdfast_raft_is_leader 1$/m.test(page))
  if (leader < 0) throw new Error('No node leads')
  return leader
}

/** Stops the cluster when the work is done, has failed or is interrupted. */
export async function withCluster<T>(
  cluster: MeasuredCluster,
  work: (cluster: MeasuredCluster) => Promise<T>,
): Promise<T> {
  const interrupted = (): void => void cluster.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    return await work(cluster)
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    await cluster.stop()
  }
}

async function description(child: ChildProcess): Promise<ClusterDescription> {
  let output = ''
  for await (const piece of child.stdout ?? []) {
    output += piece
    if (output.includes('\n')) return JSON.parse(output) as ClusterDescription
  }
  throw new UsageError('The cluster did not start, see above')
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
