/**
 * The entries that a start leaves in the segments: their indexes and terms, without their bytes.
 *
 * Owns: spans of entries of one term, and the configurations among them. Knows nothing of: files, later reads of the entries.
 * Rule: spans follow each other without a gap. Memory: one span for SPAN_ENTRIES_MAX entries or SPAN_BYTES_MAX bytes.
 */
import assert from 'node:assert/strict'
import type { Entry, EntrySpan, LogBase, LogIndex, Term } from '../raft/types.ts'

const SPAN_ENTRIES_MAX = 256
const SPAN_BYTES_MAX = 256 * 1024

export class EntrySpans {
  #spans: EntrySpan[] = []

  get list(): readonly EntrySpan[] {
    return this.#spans
  }

  get count(): number {
    const [first, last] = [this.#spans[0], this.#spans.at(-1)]
    return first === undefined || last === undefined ? 0 : last.last - first.first + 1
  }

  add(entry: Entry): void {
    const open = this.#spans.at(-1)
    assert(
      open === undefined || open.last === entry.index - 1,
      `entry ${entry.index} does not follow its span`,
    )
    const isNext =
      open !== undefined &&
      open.term === entry.term &&
      open.last - open.first + 1 < SPAN_ENTRIES_MAX &&
      open.bytes < SPAN_BYTES_MAX
    if (isNext) this.#spans[this.#spans.length - 1] = joined(open, entry)
    else this.#spans.push(spanOf(entry))
  }

  truncateFrom(index: LogIndex): void {
    this.#keep({ from: 0, through: index - 1 })
  }

  forgetTo(index: LogIndex): void {
    this.#keep({ from: index + 1, through: Number.POSITIVE_INFINITY })
  }

  #keep({ from, through }: { readonly from: LogIndex; readonly through: LogIndex }): void {
    const kept = this.#spans.filter(({ first, last }) => last >= from && first <= through)
    this.#spans = kept.map((span) => {
      const [first, last] = [Math.max(span.first, from), Math.min(span.last, through)]
      if (first === span.first && last === span.last) return span
      const share = (last - first + 1) / (span.last - span.first + 1)
      const configurations = span.configurations.filter(({ index }) => index >= first && index <= last)
      return { ...span, first, last, bytes: Math.round(span.bytes * share), configurations }
    })
  }
}

/** A log that a start has found. */
interface FoundLog {
  readonly base: LogBase
  readonly older?: readonly EntrySpan[]
  readonly entries: readonly Entry[]
}

/** Index and term of the last entry; the base of a log without one. */
export function endOf({ base, older = [], entries }: FoundLog): LogBase {
  const entry = entries.at(-1)
  if (entry !== undefined) return { index: entry.index, term: entry.term }
  const span = older.at(-1)
  return span === undefined ? base : { index: span.last, term: span.term }
}

/** Null when the log does not hold the entry. */
export function termIn({ base, older = [], entries }: FoundLog, index: LogIndex): Term | null {
  if (index === base.index) return base.term
  const span = older.find(({ first, last }) => first <= index && index <= last)
  if (span !== undefined) return span.term
  const [first] = entries
  return (first && entries[index - first.index]?.term) ?? null
}

function spanOf(entry: Entry): EntrySpan {
  const { index, term, data } = entry
  return { first: index, last: index, term, bytes: data.length, configurations: configurationIn(entry) }
}

function joined(span: EntrySpan, entry: Entry): EntrySpan {
  const added = configurationIn(entry)
  const configurations = added.length === 0 ? span.configurations : [...span.configurations, ...added]
  return { ...span, last: entry.index, bytes: span.bytes + entry.data.length, configurations }
}

/** Copied, so that the bytes of the segment around it can be freed. */
function configurationIn(entry: Entry): readonly Entry[] {
  return entry.kind === 'configuration' ? [{ ...entry, data: Uint8Array.from(entry.data) }] : []
}
