/**
 * What the servers of one node stand on beside services and routes: certificates and time.
 */
import type { ListenerTls, TimeOfDay } from './listener-tls.ts'

export interface Edge {
  /** null: plain HTTP. */
  readonly tls: ListenerTls | null
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** For looking at files now and then; that of the system without it. */
  readonly clock?: TimeOfDay
}

export const PLAIN_EDGE: Edge = { tls: null, now: () => performance.now() }
