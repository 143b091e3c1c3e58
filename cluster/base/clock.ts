/**
 * The port of time: the only source of time in cluster/.
 *
 * Adapters: SystemClock here, VirtualClock in test/programs/simulator. Rule: nothing in cluster/ calls Date, performance,
 * setTimeout or Math.random except SystemClock.
 */
/** Rounds of work that repeats begin at multiples of it. ms */
export const ROUND_BEAT_MS = 100

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): number
  /**
   * Milliseconds since 1970 UTC. It has three uses in cluster/: proposals are stamped with it, the scrub keeps its pace by it over
   * restarts, and a new certificate is checked for its end.
   */
  wallTime(): number
  /**
   * One shot. The callback runs outside of the caller's turn. `isRound`: it is a round of work that repeats, and may begin earlier, by less
   * than ROUND_BEAT_MS, so that a process with nothing to do is woken once for all such rounds.
   */
  after(ms: number, callback: () => void, isRound?: boolean): Timer
}
