/**
 * What the servers of one node stand on beside services and routes: certificates and time.
 */
import type { HeldRefusals } from './admission/held-refusals.ts'
import type { UnprovedCallers } from './admission/unproved-callers.ts'
import type { ListenerTls, TimeOfDay } from './listener-tls.ts'

export interface Edge {
  /** null: plain HTTP. */
  readonly tls: ListenerTls | null
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** For looking at files now and then; that of the system without it. */
  readonly clock?: TimeOfDay
  /** Shared by the listeners of a node; without it each listener has its own. */
  readonly unproved?: UnprovedCallers
  /** The same. */
  readonly refusals?: HeldRefusals
}

export const PLAIN_EDGE: Edge = { tls: null, now: () => performance.now() }
