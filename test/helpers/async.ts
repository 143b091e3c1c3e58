/**
 * Promises and waits for tests of asynchronous code.
 */
import { setTimeout as wait } from 'node:timers/promises'

/** Generous: the machine may be busy with other work. */
const CONDITION_MS_MAX = 600_000
/** Polls often at first, then after a tenth of the wait so far: each poll costs the nodes under test something. */
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

/** A promise that the test settles: a test waits for it instead of sleeping. */
export function deferred(): Deferred {
  let settle: () => void = () => {}
  const promise = new Promise<void>((resolve) => {
    settle = resolve
  })
  return { promise, resolve: () => settle() }
}

/** Waits for a condition; the time limit only ends a test that would hang. */
export async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const started = performance.now()
  while (!(await condition())) {
    const waitedMs = performance.now() - started
    if (waitedMs > CONDITION_MS_MAX) throw new Error(`gave up waiting until ${what}`)
    await wait(Math.min(Math.max(waitedMs / 10, POLL_MS_MIN), POLL_MS_MAX))
  }
}
