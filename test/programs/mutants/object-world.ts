/** A seed of the simulator whose nodes apply the state machine of the service. Its clients hurry: rules meet more in less time. */
import { runSeed } from '../simulator/run-seed.ts'
import type { Plan } from '../simulator/swarm.ts'

const PLAN = {
  machine: 'objects',
  heartbeatMs: 50,
  electionTimeoutMs: 500,
  thinkMs: 5,
  clientsPerNode: 5,
} satisfies Partial<Plan>

/** Throws at the first broken promise. */
export async function runObjectSeed(seed: number, events: number): Promise<void> {
  const { violation } = await runSeed({ seed, events, plan: PLAN })
  if (violation !== null) throw new Error(violation)
}
