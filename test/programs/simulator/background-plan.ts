/**
 * The plan of a walk with work in the background: clients that leave it time, so that what waits becomes less now and then.
 *
 * Owns: the differences from the plan that the seed draws.
 */
import { Random } from './random.ts'
import type { Plan } from './swarm.ts'

export function backgroundPlan(plan: Plan): Plan {
  const random = new Random(plan.seed, 'background')
  const heartbeatMs = random.pick([50, 100])
  const electionTimeoutMs = 10 * heartbeatMs
  return {
    ...plan,
    nodes: random.pick([1, 2, 3, 3, 3, 3, 3, 5]),
    heartbeatMs,
    electionTimeoutMs,
    delayMeanMs: random.pick([0.2, 1, 3]),
    tailMs: random.pick([electionTimeoutMs, 3 * electionTimeoutMs]),
    clientsPerNode: random.pick([1, 2]),
    thinkMs: random.pick([20, 100]),
    readShare: 0.05,
    faultEveryMs: electionTimeoutMs * random.pick([1, 3, 8]),
    faultLastsMs: electionTimeoutMs * random.pick([0.5, 1, 3]),
    deadlineMs: electionTimeoutMs * random.pick([4, 10]),
  }
}
