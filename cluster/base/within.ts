/** Waiting that ends. */
import type { Clock } from './clock.ts'

/**
 * Resolves when `done` has, after `ms` at the latest; rejects as `done` does. Leaves no timer behind: a pending one would keep a stopped process
 * alive.
 */
export function within(clock: Clock, ms: number, done: Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, resolve)
    void done.then(() => resolve(), reject).then(() => timer.cancel())
  })
}
