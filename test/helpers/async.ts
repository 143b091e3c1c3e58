/**
 * Small things that tests of asynchronous code keep needing.
 */
import { setTimeout as wait } from 'node:timers/promises'

const CONDITION_MS_MAX = 60_000
const POLL_MS = 20

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
  const giveUpAt = performance.now() + CONDITION_MS_MAX
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`gave up waiting until ${what}`)
    await wait(POLL_MS)
  }
}
