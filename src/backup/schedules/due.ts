/**
 * Whether a schedule is to run now. Pure.
 *
 * Owns: the decision. Knows nothing of: clocks, the state. Rules: `now` is a confirmed time, so no single clock starts a run; of all times that were missed
 * the last one runs, once; one run of a schedule at a time; a mark that lies behind `now` is first put back to it, so that a time that was set back
 * does not silence the schedule, and does not run it either.
 */
import { type Cron, lastTime, nextTime } from './cron.ts'

export interface Scheduled {
  readonly when: Cron
  /** All times up to this one are dealt with. ms since 1970 */
  readonly markAt: number
  readonly isPaused: boolean
  readonly isRunning: boolean
}

export type ScheduleDecision =
  | { readonly kind: 'run'; readonly slotAt: number }
  /** The time was set back. */
  | { readonly kind: 'align' }
  /** null: not before something else changes. ms since 1970 */
  | { readonly kind: 'wait'; readonly until: number | null }

export function decideSchedule(
  { when, markAt, isPaused, isRunning }: Scheduled,
  now: number,
): ScheduleDecision {
  if (markAt > now) return { kind: 'align' }
  if (isPaused || isRunning) return { kind: 'wait', until: null }
  const slotAt = lastTime(when, now)
  return slotAt !== null && slotAt > markAt
    ? { kind: 'run', slotAt }
    : { kind: 'wait', until: nextTime(when, now) }
}
