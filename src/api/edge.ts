/**
 * What the servers of one node stand on beside services and routes: certificates and time.
 */
import type { Server } from 'node:http'
import type { Config } from '../config/types.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { ClientAddresses } from './admission/client-address.ts'
import type { HeldRefusals } from './admission/held-refusals.ts'
import type { UnprovedCallers } from './admission/unproved-callers.ts'
import type { ListenerOptions, TimeOfDay } from './listener-server.ts'
import type { ListenerTls } from './listener-tls.ts'
import type { Relay } from './relay.ts'

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
  /** Of the connections that requests come by; without it the server makes its own. */
  readonly addresses?: ClientAddresses
  /** Traces requests; without it none is traced. */
  readonly tracer?: Tracer
  /** What another server answers on the same listener. */
  readonly relay?: Relay
  /** Makes the server of the listener where its connections are on threads of their own; without it they are on this one. */
  readonly threads?: (listening: ThreadsOptions) => Server
}

export interface ThreadsOptions extends ListenerOptions {
  readonly trustedProxies: Config['listeners']['trustedProxies']
}

export const PLAIN_EDGE: Edge = { tls: null, now: () => performance.now() }
