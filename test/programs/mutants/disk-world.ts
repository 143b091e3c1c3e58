/** A seed of the simulator in which disks go back all the time, beside nodes that lag. */
import { runSeed } from '../simulator/run-seed.ts'
import { FAULTS, type Fault } from '../simulator/swarm.ts'

const EVENTS_MAX = 12_000
const NONE = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>
const PLAN = {
  machine: 'registers',
  provesDisks: true,
  tearsAnywhere: false,
  spikeRate: 0,
  skew: 0,
  lossRate: 0,
  weights: { ...NONE, crash: 4, powerCutAll: 1, isolate: 4, heal: 4, rollBack: 20 },
} as const

/** Throws at the first broken promise. */
export async function runDiskSeed(seed: number, events: number): Promise<void> {
  const nodes = seed % 4 === 0 ? 5 : 3
  const { violation } = await runSeed({
    seed,
    events: Math.min(events, EVENTS_MAX),
    plan: { ...PLAN, nodes },
  })
  if (violation !== null) throw new Error(violation)
}
