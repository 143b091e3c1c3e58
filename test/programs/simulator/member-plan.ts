/**
 * The plan of a walk of membership: a group as slow as real ones, so that the times of the service stay unchanged, and few clients.
 *
 * Owns: the differences from the plan that the seed draws. Rule: no disk of these is spoiled by the swarm; member-faults.ts does that, for
 * only there it is known whose promises still count.
 */
import { Random } from './random.ts'
import type { Plan } from './swarm.ts'

export function memberPlan(plan: Plan): Plan {
  const random = new Random(plan.seed, 'walk')
  const heartbeatMs = random.pick([250, 500, 500])
  const electionTimeoutMs = 10 * heartbeatMs
  return {
    ...plan,
    provesDisks: true,
    nodes: random.pick([1, 2, 3, 3, 3, 3, 4, 5]),
    spares: 7,
    heartbeatMs,
    electionTimeoutMs,
    delayMeanMs: random.pick([0.2, 3, heartbeatMs / 4]),
    tailMs: random.pick([electionTimeoutMs, 3 * electionTimeoutMs]),
    isBatching: true,
    flushMs: random.pick([0.1, 3, heartbeatMs / 10]),
    applyMs: random.pick([0.1, 3, heartbeatMs / 10]),
    tearsAnywhere: false,
    blockBytes: random.pick([4_096, 8_192]),
    clientsPerNode: 1,
    thinkMs: 3_000,
    readShare: 0,
    faultEveryMs: electionTimeoutMs * random.pick([1, 2, 4]),
    faultLastsMs: electionTimeoutMs * random.pick([0.5, 1, 3]),
    weights: { ...plan.weights, wipe: 0, rot: 0, damageRow: 0, members: 0 },
    deadlineMs: electionTimeoutMs * random.pick([2, 4]),
  }
}
