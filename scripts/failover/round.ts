/**
 * One loss of the leader under load, and its return.
 *
 * Owns: the definition of the gap: the longest time between two consecutive acknowledged writes that ends after the
 * signal. Rules: the round ends only when each surviving node has acknowledged writes started after the signal; the next
 * one starts only when the lost node is a healthy follower again.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { LoopbackCluster, LeadershipSeen } from '../local/loopback-cluster.ts'
import type { Acknowledged, FailoverLoad } from './load.ts'

/** Acknowledgements of each surviving node before the signal, and of writes started after it. */
const STEADY = 50
const SETTLED = 30
const POLL_MS = 5
const WAIT_MS = 60_000

export interface RoundFigures {
  /** Through any survivor: no client could write. */
  readonly gapMs: number
  /** Through the slower survivor. */
  readonly slowestNodeMs: number
  /** The longest time between two acknowledged writes just before the signal, without a fault. */
  readonly steadyMs: number
  /** From the signal until a survivor first logged the loss of the leader, and until one led. Null: not in its log. */
  readonly noticedMs: number | null
  readonly electedMs: number | null
  /** Writes through survivors that were not acknowledged, by the answer. */
  readonly failures: readonly string[]
}

export async function loseLeader(
  cluster: LoopbackCluster,
  load: FailoverLoad,
  signal: NodeJS.Signals,
): Promise<RoundFigures> {
  const leader = await cluster.leader()
  const nodes = cluster.plan.map(({ nodeId }) => nodeId)
  const survivors = nodes.map((_, node) => node).filter((node) => nodes[node] !== leader)
  load.writeThrough(survivors)
  await acknowledgedBy(load, survivors, { since: performance.now(), count: 1 })
  // The leader may have changed meanwhile.
  if ((await cluster.leader()) !== leader) return loseLeader(cluster, load, signal)
  load.forget()
  await acknowledgedBy(load, survivors, { since: performance.now(), count: STEADY })
  const logs = survivors.map((node) => cluster.logEnd(nodes[node] ?? ''))
  const struckAt = performance.now()
  const struckTime = Date.now()
  const ended = cluster.signal(leader, signal)
  await acknowledgedBy(load, survivors, { since: struckAt, count: SETTLED })
  const seen = survivors.flatMap((node, at) => cluster.leadershipSince(nodes[node] ?? '', logs[at] ?? 0))
  const { before, after } = longestIntervals(load.acknowledged, struckAt)
  const figures = {
    gapMs: after,
    slowestNodeMs: Math.max(...survivors.map((node) => longestIntervals(of(load, node), struckAt).after)),
    steadyMs: before,
    ...phases(seen, { leader, struckTime }),
    failures: [...load.failures],
  }
  await ended
  cluster.startNode(leader)
  for (const nodeId of nodes) await cluster.ready(nodeId)
  return figures
}

function of(load: FailoverLoad, node: number): Acknowledged[] {
  return load.acknowledged.filter((one) => one.node === node)
}

/** The longest time between two consecutive acknowledgements whose second one came before or after the signal. */
export function longestIntervals(
  acknowledged: readonly Pick<Acknowledged, 'at'>[],
  struckAt: number,
): { before: number; after: number } {
  const times = acknowledged.map(({ at }) => at).sort((a, b) => a - b)
  const longest = { before: 0, after: 0 }
  for (const [index, at] of times.entries()) {
    const interval = at - (times[index - 1] ?? at)
    const side = at > struckAt ? 'after' : 'before'
    longest[side] = Math.max(longest[side], interval)
  }
  return longest
}

function phases(
  seen: readonly LeadershipSeen[],
  { leader, struckTime }: { readonly leader: string; readonly struckTime: number },
): Pick<RoundFigures, 'noticedMs' | 'electedMs'> {
  const first = (wanted: (one: LeadershipSeen) => boolean): number | null => {
    const times = seen.filter(wanted).map(({ at }) => at - struckTime)
    return times.length === 0 ? null : Math.min(...times)
  }
  return { noticedMs: first((one) => one.leader !== leader), electedMs: first(({ isLeader }) => isLeader) }
}

async function acknowledgedBy(
  load: FailoverLoad,
  nodes: readonly number[],
  { since, count }: { readonly since: number; readonly count: number },
): Promise<void> {
  const giveUpAt = performance.now() + WAIT_MS
  while (nodes.some((node) => of(load, node).filter(({ sentAt }) => sentAt >= since).length < count)) {
    if (performance.now() > giveUpAt)
      throw new Error(
        `No ${count} writes were acknowledged through each node: ${load.failures.slice(-3).join('; ')}`,
      )
    await wait(POLL_MS)
  }
}
