/**
 * Clients of a NodeWorld that keep writing while something else happens.
 *
 * Rule: they never wait for an answer, so a slow group gets no relief.
 */
import type { NodeWorld } from './node-world.ts'

/** One proposal every `everyMs`, regardless of the outcome of the one before, until it is stopped. */
export function loadOn(world: NodeWorld, everyMs: number, text = 'load'): { stop(): void } {
  let isGoing = true
  const next = (): void => {
    if (!isGoing) return
    const { leader } = world
    if (leader !== null) world.append(leader, text).catch(() => undefined)
    world.clock.after(everyMs, next)
  }
  next()
  return { stop: () => (isGoing = false) }
}
