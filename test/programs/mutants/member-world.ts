/** A walk of membership in the simulator. */
import { runSeed } from '../simulator/run-seed.ts'

/** Several operations have ended by then. */
const EVENTS_MAX = 8_000

/** Throws at the first broken promise. */
export async function runMemberSeed(seed: number, events: number): Promise<void> {
  const { violation } = await runSeed({
    seed,
    events: Math.min(events, EVENTS_MAX),
    plan: { machine: 'members' },
  })
  if (violation !== null) throw new Error(violation)
}
