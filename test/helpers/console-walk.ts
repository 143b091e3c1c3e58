/**
 * A walk through the console of a person who knows none of its documents: what it takes is counted in clicks, printed, and bounded.
 *
 * Rule: what is typed into fields is no click; a bound is lowered with a console that needs less, and never raised without a look at the screen.
 */
import type { Test } from 'tap'
import type { ConsoleDriver } from './console-driver.ts'

export interface Walk {
  /** The question or task, such as `why is the cluster degraded`. */
  readonly of: string
  readonly clicksMax: number
}

/** Resolves when the steps are done. The count begins at the screen that is shown. */
export async function walks(
  t: Test,
  driver: ConsoleDriver,
  { of, clicksMax }: Walk,
  steps: () => Promise<void>,
): Promise<void> {
  const before = driver.clicks
  await steps()
  const clicks = driver.clicks - before
  t.comment(`walk: ${of}: ${clicks} clicks`)
  t.ok(clicks <= clicksMax, `${clicks} clicks of at most ${clicksMax}`)
}
