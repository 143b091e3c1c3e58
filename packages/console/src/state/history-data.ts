/**
 * The figures of all nodes over time, and which of them are shown.
 *
 * Rule: a hidden page asks for nothing.
 */
import { signal } from '@preact/signals'
import type { ClusterHistory } from '../../../client/src/admin.ts'
import { resource } from './resource.ts'

export type Range = ClusterHistory['range']

export const range = signal<Range>('hour')
/** '': all of them. */
export const shownNode = signal('')

export const history = resource((api) => api.getClusterHistory({ range: range.peek() }))

/** A node notes a point every ten seconds; the longer ranges have one for minutes. */
const EVERY_MS: Readonly<Record<Range, number>> = {
  hour: 10_000,
  day: 60_000,
  week: 300_000,
  month: 300_000,
}

/** Loads at once and then by a timer, which the function that it returns stops. */
export function keepLoading(): () => void {
  void history.load()
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') void history.load()
  }, EVERY_MS[range.peek()])
  return () => clearInterval(timer)
}
