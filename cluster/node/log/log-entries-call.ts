/**
 * The `log.entries` call: a node whose log has holes asks others what was in them.
 *
 * Layout (docs/formats/peer-protocol.md): { indexes, terms } -> { baseIndex, commitIndex }, body = MessagePack [[index, term, kind, data], ...].
 * Knows nothing of: what is done with an entry. Rule: an entry leaves when it is committed, or when it is of exactly the requested
 * term: there is one entry of a term at an index [thesis 3.5], committed or not. Any other entry may still be replaced.
 */
import { Packr } from 'msgpackr'
import { assert } from '../../base/assert.ts'
import { collectBody } from '../../transport/collect-body.ts'
import type { Entry, EntryKind, LogIndex, NodeId, Term } from '../../raft/types.ts'
import { assertPlainMsgpack } from '../../transport/msgpack-guard.ts'
import { PeerRefusedError, type CallHandler, type Transport } from '../../transport/transport.ts'

export const LOG_ENTRIES_METHOD = 'log.entries'

/** Requested by one call. Count. */
export const INDEXES_MAX = 256
/** Of entries in one answer, or one entry. Bytes. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
const BODY_BYTES_MAX = 16 * 1024 * 1024
const KINDS: readonly EntryKind[] = ['noop', 'command', 'configuration']
const packr = new Packr({ useRecords: false, variableMapSize: true })

/** What the answering node knows of its log. */
export interface LogView {
  readonly baseIndex: LogIndex
  /** As far as it knows; 0 when it knows of none. */
  readonly commitIndex: LogIndex
  /** Intact; null when there is none, or not any more. */
  entry(index: LogIndex): Entry | null | Promise<Entry | null>
  /** A peer waits for an entry that does not exist yet. */
  onAskedBeyond(): void
}

/** A request: one index for each hole, with the term of the entry there where it is known. */
export interface WantedEntry {
  readonly index: LogIndex
  readonly term: Term | null
}

export interface HeldEntries {
  /** Those above `commitIndex` are of the requested term. */
  readonly entries: readonly Entry[]
  /** The peer holds entries up to this index only in its state. */
  readonly baseIndex: LogIndex
  readonly commitIndex: LogIndex
}

export function logEntriesHandler(look: () => LogView): CallHandler {
  return async ({ header }) => {
    const wanted = decodeWanted(header)
    const log = look()
    const { baseIndex, commitIndex } = log
    if (wanted.some(({ index }) => index > commitIndex)) log.onAskedBeyond()
    const rows: (readonly unknown[])[] = []
    let bytes = 0
    for (const { index, term } of wanted) {
      const entry = await log.entry(index)
      if (entry === null || (index > commitIndex && entry.term !== term)) continue
      bytes += entry.data.length
      if (rows.length > 0 && bytes > ANSWER_BYTES_MAX) break
      rows.push([entry.index, entry.term, entry.kind, entry.data])
    }
    return { header: { baseIndex, commitIndex }, body: Uint8Array.from(packr.pack(rows)) }
  }
}

/** Of the requested entries those that the peer has, as many as one answer may carry. */
export async function callLogEntries(
  transport: Transport,
  peer: NodeId,
  { wanted, signal, timeoutMs }: { wanted: readonly WantedEntry[]; signal: AbortSignal; timeoutMs: number },
): Promise<HeldEntries> {
  const asked = wanted.slice(0, INDEXES_MAX)
  const header = { indexes: asked.map(({ index }) => index), terms: asked.map(({ term }) => term) }
  const answer = await transport.call(peer, LOG_ENTRIES_METHOD, { header, signal, timeoutMs })
  const body = await collectBody(answer.body, BODY_BYTES_MAX)
  assertPlainMsgpack(body)
  const rows: unknown = packr.unpack(body)
  assert(Array.isArray(rows) && rows.length <= INDEXES_MAX, 'entries come as a list')
  const entries = rows.map(toEntry)
  assert(
    entries.every((entry) => asked.some(({ index }) => index === entry.index)),
    'only entries that were asked for come back',
  )
  return { ...boundsOf(answer.header), entries }
}

function decodeWanted(header: unknown): readonly WantedEntry[] {
  const { indexes, terms = [] } = (typeof header === 'object' && header !== null ? header : {}) as {
    readonly indexes?: unknown
    readonly terms?: unknown
  }
  if (
    !Array.isArray(indexes) ||
    indexes.length > INDEXES_MAX ||
    !indexes.every(isIndex) ||
    !Array.isArray(terms)
  )
    throw new PeerRefusedError('bad_request', `Entries are asked for by at most ${INDEXES_MAX} indexes`)
  return indexes.map((index, i) => {
    const term: unknown = terms[i]
    return { index, term: isIndex(term) ? term : null }
  })
}

function boundsOf(header: unknown): { baseIndex: LogIndex; commitIndex: LogIndex } {
  assert(typeof header === 'object' && header !== null, 'an answer with entries has a header')
  assert('baseIndex' in header && isIndex(header.baseIndex), 'the answer states where the log begins')
  assert('commitIndex' in header && isIndex(header.commitIndex), 'the answer states what is committed')
  return { baseIndex: header.baseIndex, commitIndex: header.commitIndex }
}

function toEntry(row: unknown): Entry {
  assert(Array.isArray(row) && row.length === 4, 'an entry is a list of four')
  const [index, term, kind, data]: unknown[] = row
  assert(isIndex(index) && isIndex(term), 'an entry has an index and a term')
  const known = KINDS.find((name) => name === kind)
  assert(known !== undefined && data instanceof Uint8Array, 'an entry has a kind and bytes')
  return { index, term, kind: known, data: Uint8Array.from(data) }
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
