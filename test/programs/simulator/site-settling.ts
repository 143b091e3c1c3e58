/**
 * The end of a walk with two sites: faults have ended, no client writes any more. Everything that waits must arrive.
 *
 * Owns: the bounds. Rule: what was given up is repeated, as an operator would; what then is refused again stays.
 */
import type { SimWorld } from './sim-world.ts'
import type { TwoSites } from './two-sites.ts'

/** Time passes when nothing has changed for so many events. */
const EVENTS_EACH = 300
const PASSED_MS = 600_000
const PASSES_MAX = 400

export function settleSites(world: SimWorld, sites: TwoSites): void {
  const { scheduler } = world
  for (let passes = 0; !sites.isSettled && scheduler.violation === null; passes += 1) {
    if (passes > PASSES_MAX)
      return scheduler.violate(`replication does not settle within ${PASSES_MAX} passes: ${sites.waiting}`)
    const until = scheduler.events + EVENTS_EACH
    while (!sites.isSettled && scheduler.events < until && scheduler.violation === null)
      if (!scheduler.step()) scheduler.violate('nothing is left to happen')
    world.epochMs += PASSED_MS
    sites.time += PASSED_MS
  }
}
