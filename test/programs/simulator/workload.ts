/**
 * The requests of simulated clients, without their delivery and outcome.
 *
 * Owns: the shape. Rule: it draws from the stream that it was given and from nothing else.
 */
import type { Call } from './sim-clients.ts'
import type { SimRows } from './sim-rows.ts'

export interface Workload {
  /** The next request of a client; null: none now. */
  next(): Requested | null
  /** A write that a healthy group acknowledges. */
  last(): Write
  /** An answer came. `output` is the result of `reported` or `see`. */
  learned(call: Call, output: string): void
}

type About = Pick<Call, 'kind' | 'key' | 'expected'>

export interface Write extends About {
  readonly type: 'write'
  command(id: string): Uint8Array
  /** The meaning of a reply for the checker of histories; null: no effect. */
  reported(reply: string): string | null
}

export interface Look extends About {
  readonly type: 'look'
  see(rows: SimRows): string
}

export type Requested = Write | Look
