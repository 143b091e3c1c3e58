/**
 * When the last entries of the log were flushed, committed and applied at this node, for traces of single requests.
 *
 * Owns: the records and their bounds. Knows nothing of: traces, what is in an entry. Rules: it exists only in a node that traces; it remembers a bounded
 * number of flushes, batches and proposals, and what it has forgotten is not reported.
 */
import type { Clock } from '../../base/clock.ts'
import type { EntryReport, EntryWanted, TracedPiece, Traceparent } from '../../base/peer-traces.ts'
import type { Entry, LogIndex } from '../../raft/types.ts'

const RECORDS_MAX = 2048
const PROPOSED_MAX = 1024

/** Entries that went through one step together. Times of the clock; `end` null: not yet. */
interface Step {
  readonly first: LogIndex
  readonly last: LogIndex
  readonly start: number
  end: number | null
}

interface Flush extends Step {
  readonly sequence: number
  readonly isLeader: boolean
  committedAt: number | null
}

export class EntryTimes {
  readonly #clock: Clock
  /** In the order of their writes. */
  readonly #flushes: Flush[] = []
  readonly #applies: Step[] = []
  readonly #proposed = new Map<Traceparent, LogIndex>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  onAppend(sequence: number, entries: readonly Entry[], isLeader: boolean): void {
    const [first, last] = [entries[0]?.index, entries.at(-1)?.index]
    if (first === undefined || last === undefined) return
    const start = this.#clock.now()
    keep(this.#flushes, { sequence, first, last, start, end: null, isLeader, committedAt: null })
  }

  onDurable(sequence: number): void {
    const flush = this.#flushes.findLast((each) => each.sequence === sequence)
    if (flush !== undefined) flush.end = this.#clock.now()
  }

  onCommitted(last: LogIndex): void {
    const now = this.#clock.now()
    for (let n = this.#flushes.length - 1; n >= 0; n--) {
      const flush = this.#flushes[n]
      if (flush === undefined || flush.committedAt !== null) return
      if (flush.last <= last) flush.committedAt = now
    }
  }

  /** `start`: when the state machine got them. */
  onApplied(first: LogIndex, last: LogIndex, start: number): void {
    keep(this.#applies, { first, last, start, end: this.#clock.now() })
  }

  onProposed(by: Traceparent, index: LogIndex): void {
    this.#proposed.set(by, index)
    for (const oldest of this.#proposed.keys()) {
      if (this.#proposed.size <= PROPOSED_MAX) return
      this.#proposed.delete(oldest)
    }
  }

  /** Null: this node knows nothing of it. */
  of(wanted: EntryWanted): EntryReport | null {
    const index = 'index' in wanted ? wanted.index : this.#proposed.get(wanted.proposedBy)
    if (index === undefined) return null
    const has = ({ first, last }: Step): boolean => first <= index && index <= last
    // The last one: what a later leader wrote at that index replaced what was there.
    const flush = this.#flushes.findLast(has)
    const apply = this.#applies.findLast(has)
    const pieces = [
      ...(flush?.isLeader === true ? this.#piece('commit', index, flush.start, flush.committedAt) : []),
      ...(flush === undefined ? [] : this.#piece('flush log', index, flush.start, flush.end)),
      ...(apply === undefined ? [] : this.#piece('apply', index, apply.start, apply.end)),
    ]
    return { index, isWhole: apply !== undefined && flush !== undefined && flush.end !== null, pieces }
  }

  #piece(name: string, index: LogIndex, start: number, end: number | null): readonly TracedPiece[] {
    if (end === null) return []
    const now = this.#clock.now()
    return [
      { name, startAgoMs: now - start, endAgoMs: now - end, attributes: { 'holdfast.log_index': index } },
    ]
  }
}

function keep<T>(records: T[], record: T): void {
  records.push(record)
  // Seldom, so that it costs little for each record.
  if (records.length >= 2 * RECORDS_MAX) records.splice(0, records.length - RECORDS_MAX)
}
