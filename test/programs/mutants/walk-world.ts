/** A walk with work in the background in the simulator. */
import { runSeed } from '../simulator/run-seed.ts'

/** Outages have come and gone by then. */
const EVENTS_MAX = 4_000

/** Throws at the first broken promise. */
export async function runWalkSeed(seed: number, events: number): Promise<void> {
  const { violation } = await runSeed({
    seed,
    events: Math.min(events, EVENTS_MAX),
    plan: { machine: 'background' },
  })
  if (violation !== null) throw new Error(violation)
}
