/**
 * More time than the runner gives a file by itself. For files that compute for minutes, and longer where they share the cores.
 */
import type { Test } from 'tap'

export function allowMinutes(t: Pick<Test, 'setTimeout'>, minutes: number): void {
  t.setTimeout(minutes * 60_000)
}
