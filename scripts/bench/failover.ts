/**
 * How long writes are impossible when the leader fails: killed, or stopped with SIGTERM.
 *
 * Owns: one fresh cluster for each round, the signal, and the clock. Rule: the time runs from the signal to the answer of
 * the slowest surviving node to an upload that started after the signal, so that requests already in flight do not count.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { freshCluster, type MeasuredCluster, withCluster } from './cluster.ts'
import { BenchObjects } from './objects.ts'
import { Latencies, percentile } from './statistics.ts'
import { Workplace } from './workplace.ts'

const OBJECT_BYTES = 1024
const WAIT_MS = 60_000
const POLL_MS = 2

export interface Blow {
  readonly name: string
  readonly signal: NodeJS.Signals
}

export const BLOWS: readonly Blow[] = [
  { name: 'fail-over: kill -9 of the leader', signal: 'SIGKILL' },
  { name: 'hand-over: SIGTERM to the leader', signal: 'SIGTERM' },
]

export interface FailoverFigures {
  readonly name: string
  readonly rounds: number
  readonly p50Ms: number | null
  readonly maxMs: number | null
}

export async function measureFailover({ name, signal }: Blow, rounds: number): Promise<FailoverFigures> {
  const latencies = new Latencies(rounds)
  for (let round = 0; round < rounds; round++) {
    latencies.add(await withCluster(await freshCluster(null), (cluster) => strike(cluster, signal)))
  }
  const sorted = latencies.sorted()
  return { name, rounds, p50Ms: percentile(sorted, 0.5), maxMs: percentile(sorted, 1) }
}

async function strike(cluster: MeasuredCluster, signal: NodeJS.Signals): Promise<number> {
  const place = await Workplace.open(cluster)
  const objects = new BenchObjects('failover', OBJECT_BYTES)
  try {
    const leader = await leaderOf(cluster)
    const survivors = cluster.endpoints.map((_, node) => node).filter((node) => node !== leader)
    // Every connection is open and every path has been used once.
    for (const node of survivors) await place.put(objects, node)
    const pid = cluster.pids[leader]
    if (pid === undefined) throw new Error('The process of the leader is not known')
    const start = performance.now()
    process.kill(pid, signal)
    await Promise.all(survivors.map((node) => putUntilTaken(place, objects, { node, start })))
    return performance.now() - start
  } finally {
    await place.close()
  }
}

/** Like a client: a request with a temporary refusal is retried. */
async function putUntilTaken(
  place: Workplace,
  objects: BenchObjects,
  { node, start }: { readonly node: number; readonly start: number },
): Promise<void> {
  for (;;) {
    try {
      return await place.put(objects, node)
    } catch (error) {
      if (performance.now() - start > WAIT_MS) throw error
      await wait(POLL_MS)
    }
  }
}

async function leaderOf({ adminUrls }: MeasuredCluster): Promise<number> {
  const giveUpAt = performance.now() + WAIT_MS
  while (performance.now() < giveUpAt) {
    for (const [node, url] of adminUrls.entries()) {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      if (/^holdfast_raft_is_leader 1$/m.test(metrics)) return node
    }
    await wait(POLL_MS)
  }
  throw new Error('No node reports to be the leader')
}
