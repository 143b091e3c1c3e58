/**
 * Encodes one Raft message as a positional array, and decodes it.
 *
 * Owns: the order of the fields (docs/formats/peer-protocol.md). Knows nothing of: bytes, sockets, batches.
 * Rule: `from` and `to` are never written; they come from the verified identity of the connection, so a message cannot
 * claim another sender. Entry indexes are never written either: they follow `prevLogIndex` without a gap.
 */
import assert from 'node:assert/strict'
import type {
  AppendEntries,
  DiskDoubt,
  Entry,
  EntryKind,
  InstallSnapshot,
  Message,
  NodeId,
  RequestVote,
  RequestVoteResponse,
} from '../raft/types.ts'
import { MalformedFrameError } from './msgpack-guard.ts'
import { TupleReader } from './tuple-reader.ts'

export interface Route {
  readonly from: NodeId
  readonly to: NodeId
}

/** The most entries of one AppendEntries. */
const ENTRIES_MAX = 65_536

const TYPE_CODES = {
  AppendEntries: 1,
  AppendEntriesResponse: 2,
  RequestVote: 3,
  RequestVoteResponse: 4,
  InstallSnapshot: 5,
  InstallSnapshotResponse: 6,
  ReadIndex: 7,
  ReadIndexResponse: 8,
  TimeoutNow: 9,
} as const satisfies Record<Message['type'], number>

/** Added to the code of the type when the disk of the sender is in doubt; no sender is before all nodes know feature level 3. */
const DOUBT_CODES = { suspect: 64, rolledBack: 128 } as const satisfies Record<DiskDoubt, number>

const TYPE_NAMES = new Map<number, Message['type']>(
  (Object.keys(TYPE_CODES) as Message['type'][]).map((type) => [TYPE_CODES[type], type]),
)

const ENTRY_KINDS = ['noop', 'command', 'configuration'] as const satisfies readonly EntryKind[]

export function messageToTuple(message: Message): unknown[] {
  const code = TYPE_CODES[message.type] + (message.doubt === undefined ? 0 : DOUBT_CODES[message.doubt])
  return [code, message.term, ...fieldsOf(message)]
}

export function messageFromTuple(value: unknown, route: Route): Message {
  const reader = new TupleReader(value, 'message')
  const code = reader.integer('type')
  const doubt = doubtIn(code)
  const type = TYPE_NAMES.get(doubt === null ? code : code - DOUBT_CODES[doubt])
  if (type === undefined) throw new MalformedFrameError(`Message type ${code} is unknown`)
  const envelope = { ...route, term: reader.integer('term'), ...(doubt === null ? {} : { doubt }) }
  const message = readFields(type, envelope, reader)
  reader.end()
  return message
}

function doubtIn(code: number): DiskDoubt | null {
  if (code > DOUBT_CODES.rolledBack) return 'rolledBack'
  return code > DOUBT_CODES.suspect ? 'suspect' : null
}

function fieldsOf(message: Message): unknown[] {
  switch (message.type) {
    case 'AppendEntries':
      return appendEntriesFields(message)
    case 'AppendEntriesResponse':
      return [message.success, message.index, message.hintIndex, message.hintTerm, message.readToken]
    case 'RequestVote':
      return requestVoteFields(message)
    case 'RequestVoteResponse':
      return requestVoteResponseFields(message)
    case 'InstallSnapshot':
      return installSnapshotFields(message)
    case 'InstallSnapshotResponse':
      return [message.index]
    case 'ReadIndex':
      return [message.requestId]
    case 'ReadIndexResponse':
      return [message.requestId, message.index]
    case 'TimeoutNow':
      return []
  }
}

type Envelope = Route & { readonly term: number; readonly doubt?: DiskDoubt }

/** Object literals are evaluated from top to bottom, which is the order of the fields on the wire. */
function readFields(type: Message['type'], envelope: Envelope, reader: TupleReader): Message {
  switch (type) {
    case 'AppendEntries':
      return readAppendEntries(envelope, reader)
    case 'AppendEntriesResponse':
      return {
        type,
        ...envelope,
        success: reader.boolean('success'),
        index: reader.integer('index'),
        hintIndex: reader.integer('hintIndex'),
        hintTerm: reader.integer('hintTerm'),
        readToken: reader.integer('readToken'),
      }
    case 'RequestVote':
      return readRequestVote(envelope, reader)
    case 'RequestVoteResponse':
      return readRequestVoteResponse(envelope, reader)
    case 'InstallSnapshot':
      return readInstallSnapshot(envelope, reader)
    case 'InstallSnapshotResponse':
      return { type, ...envelope, index: reader.integer('index') }
    case 'ReadIndex':
      return { type, ...envelope, requestId: reader.integer('requestId') }
    case 'ReadIndexResponse':
      return {
        type,
        ...envelope,
        requestId: reader.integer('requestId'),
        index: reader.integerOrNull('index'),
      }
    case 'TimeoutNow':
      return { type, ...envelope }
  }
}

/** The last field is present only when it is set: older nodes do not know it. */
function requestVoteFields(message: RequestVote): unknown[] {
  const { preVote, transfer, lastLogIndex, lastLogTerm, asksCommit } = message
  return [preVote, transfer, lastLogIndex, lastLogTerm, ...(asksCommit === undefined ? [] : [asksCommit])]
}

function readRequestVote(envelope: Envelope, reader: TupleReader): RequestVote {
  const request = {
    type: 'RequestVote',
    ...envelope,
    preVote: reader.boolean('preVote'),
    transfer: reader.boolean('transfer'),
    lastLogIndex: reader.integer('lastLogIndex'),
    lastLogTerm: reader.integer('lastLogTerm'),
  } as const
  return reader.hasMore && reader.boolean('asksCommit') ? { ...request, asksCommit: true } : request
}

function requestVoteResponseFields({ preVote, granted, committed }: RequestVoteResponse): unknown[] {
  return [preVote, granted, ...(committed === undefined ? [] : [committed.index, committed.term])]
}

function readRequestVoteResponse(envelope: Envelope, reader: TupleReader): RequestVoteResponse {
  const response = {
    type: 'RequestVoteResponse',
    ...envelope,
    preVote: reader.boolean('preVote'),
    granted: reader.boolean('granted'),
  } as const
  if (!reader.hasMore) return response
  const committed = { index: reader.integer('committed.index'), term: reader.integer('committed.term') }
  return { ...response, committed }
}

function appendEntriesFields(message: AppendEntries): unknown[] {
  const { prevLogIndex, prevLogTerm, leaderCommit, readToken, entries } = message
  assert(entries.length <= ENTRIES_MAX, `an AppendEntries carries at most ${ENTRIES_MAX} entries`)
  return [
    prevLogIndex,
    prevLogTerm,
    leaderCommit,
    readToken,
    entries.map((entry, i) => entryToTuple(entry, prevLogIndex + 1 + i)),
  ]
}

function readAppendEntries(envelope: Envelope, reader: TupleReader): AppendEntries {
  const prevLogIndex = reader.integer('prevLogIndex')
  const prevLogTerm = reader.integer('prevLogTerm')
  const leaderCommit = reader.integer('leaderCommit')
  const readToken = reader.integer('readToken')
  const tuples = reader.array('entries', ENTRIES_MAX)
  if (prevLogIndex + tuples.length > Number.MAX_SAFE_INTEGER)
    throw new MalformedFrameError('Entry indexes exceed 2^53 - 1')
  const entries = tuples.map((tuple, i) => entryFromTuple(tuple, prevLogIndex + 1 + i))
  return { type: 'AppendEntries', ...envelope, prevLogIndex, prevLogTerm, entries, leaderCommit, readToken }
}

function entryToTuple(entry: Entry, index: number): unknown[] {
  assert(entry.index === index, 'entries follow prevLogIndex without a gap')
  return [entry.term, ENTRY_KINDS.indexOf(entry.kind), entry.data]
}

function entryFromTuple(value: unknown, index: number): Entry {
  const reader = new TupleReader(value, 'entry')
  const term = reader.integer('term')
  const kind = ENTRY_KINDS[reader.integer('kind')]
  if (kind === undefined) throw new MalformedFrameError('entry.kind is unknown')
  const data = reader.bytes('data')
  reader.end()
  return { index, term, kind, data }
}

function installSnapshotFields(message: InstallSnapshot): unknown[] {
  const { lastIncluded, configuration } = message
  return [
    lastIncluded.index,
    lastIncluded.term,
    configuration.voters,
    configuration.learners,
    configuration.outgoing,
  ]
}

function readInstallSnapshot(envelope: Envelope, reader: TupleReader): InstallSnapshot {
  return {
    type: 'InstallSnapshot',
    ...envelope,
    lastIncluded: { index: reader.integer('lastIncluded.index'), term: reader.integer('lastIncluded.term') },
    configuration: {
      voters: reader.nodeIds('voters'),
      learners: reader.nodeIds('learners'),
      outgoing: reader.nodeIds('outgoing'),
    },
  }
}
