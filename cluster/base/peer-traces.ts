/**
 * What nodes say to each other of a traced request, and what each of them measures for it.
 *
 * Owns: the port to the tracer of this node, and the shapes. Rule: a node that traces nothing has no such port, and then no call, no frame and no
 * record is other than without traces. [docs/adr/0082]
 */
import type { LogIndex } from '../raft/types.ts'

/** A span of another node, as the header `traceparent` writes it. [W3C Trace Context 3.2] */
export type Traceparent = string

const FORM = /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

export const isTraceparent = (value: unknown): value is Traceparent =>
  typeof value === 'string' && FORM.test(value)

/** A piece of work that has ended. */
export interface TracedPiece {
  readonly name: string
  /** Ms before now. */
  readonly startAgoMs: number
  readonly endAgoMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** The tracer of this node. */
export interface PeerTraces {
  /** The span whose work runs now; null: it is for no traced request. */
  present(): Traceparent | null
  /** Runs the work as a piece of a span of another node, and settles as it does. */
  within<T>(
    parent: Traceparent,
    piece: Pick<TracedPiece, 'name' | 'attributes'>,
    work: () => Promise<T>,
  ): Promise<T>
  note(parent: Traceparent, piece: TracedPiece): void
}

/** What one node measured of one entry of the log. */
export interface EntryReport {
  readonly index: LogIndex
  /** Nothing is added to it later. */
  readonly isWhole: boolean
  readonly pieces: readonly TracedPiece[]
}

/** By its index, or by the span that proposed it at this node. */
export type EntryWanted = { readonly index: LogIndex } | { readonly proposedBy: Traceparent }
