/** A walk of membership in the simulator. */
import { runSeed } from '../sim/run-seed.ts'

/** Throws at the first broken promise. */
export async function runMemberSeed(seed: number, events: number): Promise<void> {
  const { violation } = await runSeed({ seed, events, plan: { machine: 'members' } })
  if (violation !== null) throw new Error(violation)
}
