/** A walk with two sites in the simulator. */
import { runSeed } from '../simulator/run-seed.ts'

/** Outages have come and gone by then. */
const EVENTS_MAX = 5_000

/** Throws at the first broken promise. */
export async function runTwoSiteSeed(seed: number, events: number): Promise<void> {
  const { violation } = await runSeed({
    seed,
    events: Math.min(events, EVENTS_MAX),
    plan: { machine: 'background' },
  })
  if (violation !== null) throw new Error(violation)
}
