/**
 * Repeats the request of a victim for a time: one client at each node, each sends the next request after the answer to the last.
 *
 * Rule: a request that is unanswered at the end counts with the time that it has waited, so that an attack that stops everything
 * is no attack without figures.
 */
import { Latencies, percentile } from '../../../scripts/bench/statistics.ts'
import type { AttackTarget, AttackedNode, Victim } from './attack.ts'

const REQUESTS_MAX = 1_000_000

export interface Measured {
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly completed: number
  /** Answered otherwise than the victim wants, or not at all. */
  readonly failed: number
  /** Still without an answer at the end. */
  readonly unanswered: number
  readonly seconds: number
}

/** Throws nothing: what fails is counted. `from`: the number of the first request. */
export async function measure(
  victim: Victim,
  target: AttackTarget,
  { seconds, from }: { readonly seconds: number; readonly from: number },
): Promise<Measured> {
  const latencies = new Latencies(REQUESTS_MAX)
  const counts = { completed: 0, failed: 0, unanswered: 0 }
  const started = performance.now()
  const over = new AbortController()
  let n = from
  const client = async (node: AttackedNode): Promise<void> => {
    while (!over.signal.aborted && !latencies.isFull) {
      const sentMs = performance.now()
      const outcome = await once(victim, target, node, { n: n++, signal: over.signal })
      counts[outcome] += 1
      latencies.add(performance.now() - sentMs)
    }
  }
  const timer = setTimeout(() => over.abort(), 1000 * seconds)
  await Promise.all(target.nodes.map(client))
  clearTimeout(timer)
  const sorted = latencies.sorted()
  return {
    ...counts,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    seconds: (performance.now() - started) / 1000,
  }
}

async function once(
  victim: Victim,
  target: AttackTarget,
  node: AttackedNode,
  call: { readonly n: number; readonly signal: AbortSignal },
): Promise<'completed' | 'failed' | 'unanswered'> {
  try {
    await victim.request(target, node, call)
    return 'completed'
  } catch {
    return call.signal.aborted ? 'unanswered' : 'failed'
  }
}
