/**
 * Small things that tests of asynchronous code keep needing.
 */
import { setTimeout as wait } from 'node:timers/promises'

/** A machine that does other things as well takes its time. */
const CONDITION_MS_MAX = 180_000
/** Looked at often at first, then with a tenth of the wait so far in between: each look costs the nodes under test something. */
const POLL_MS_MIN = 20
const POLL_MS_MAX = 200

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

/** A promise that the test settles: something to wait for instead of sleeping. */
export function deferred(): Deferred {
  let settle: () => void = () => {}
  const promise = new Promise<void>((resolve) => {
    settle = resolve
  })
  return { promise, resolve: () => settle() }
}

/** Waits for a fact, not for a time; the limit only ends a test that would hang. */
export async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const begun = performance.now()
  while (!(await condition())) {
    const waitedMs = performance.now() - begun
    if (waitedMs > CONDITION_MS_MAX) throw new Error(`gave up waiting until ${what}`)
    await wait(Math.min(Math.max(waitedMs / 10, POLL_MS_MIN), POLL_MS_MAX))
  }
}
