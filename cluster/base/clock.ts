/**
 * The port of time and chance. The only way by which cluster/ learns what time it is.
 *
 * Adapters: SystemClock here, VirtualClock in test/programs/simulator. Rule: nothing in cluster/ calls Date, performance,
 * setTimeout or Math.random except SystemClock.
 */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): number
  /** Milliseconds since 1970 UTC; stamped into proposals; the scrub paces itself by it over restarts; a new certificate is asked whether it ended; no other decision in cluster/. */
  wallTime(): number
  /** One shot. The callback runs outside of the caller's turn. */
  after(ms: number, callback: () => void): Timer
}
