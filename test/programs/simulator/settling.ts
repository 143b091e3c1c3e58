/**
 * The end of a walk with work in the background: faults have ended, no client writes any more. Everything that waits must be done.
 *
 * Owns: the bounds. Rule: time passes, or an attempt that waits for hours would not come.
 */
import type { SimWorld } from './sim-world.ts'
import type { BackgroundOracle } from './background-oracle.ts'

/** Time passes when nothing has changed for so many events. */
const EVENTS_EACH = 300
const PASSED_MS = 600_000
const PASSES_MAX = 400

export function settle(world: SimWorld, background: BackgroundOracle): void {
  const { scheduler } = world
  for (let passes = 0; !background.isSettled && scheduler.violation === null; passes += 1) {
    if (passes > PASSES_MAX)
      return scheduler.violate(
        `work in the background does not end within ${PASSES_MAX} passes: ${background.sites.waiting}`,
      )
    const until = scheduler.events + EVENTS_EACH
    while (!background.isSettled && scheduler.events < until && scheduler.violation === null)
      if (!scheduler.step()) scheduler.violate('nothing is left to happen')
    world.epochMs += PASSED_MS
    background.sites.time += PASSED_MS
  }
}
