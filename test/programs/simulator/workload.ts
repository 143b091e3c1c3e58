/**
 * What simulated clients ask for, apart from how they ask and what becomes of it.
 *
 * Owns: the shape. Rule: it draws from the stream that it was given and from nothing else.
 */
import type { Call } from './sim-clients.ts'
import type { SimRows } from './sim-rows.ts'

export interface Workload {
  /** What a client asks for next; null: nothing just now. */
  next(): Requested | null
  /** A write that a healthy group acknowledges. */
  last(): Write
  /** An answer came. `output` is what `told` or `see` made of it. */
  learned(call: Call, output: string): void
}

type About = Pick<Call, 'kind' | 'key' | 'expected'>

export interface Write extends About {
  readonly type: 'write'
  command(id: string): Uint8Array
  /** What a reply says to the checker of histories; null: that nothing happened. */
  told(reply: string): string | null
}

export interface Look extends About {
  readonly type: 'look'
  see(rows: SimRows): string
}

export type Requested = Write | Look
