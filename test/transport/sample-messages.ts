/**
 * Raft messages of every type, and a generator for any number of them.
 */
import * as fc from 'fast-check'
import type { Entry, Message, NodeId } from '../../cluster/raft/types.ts'

export const ROUTE = { from: 'a', to: 'b' } as const

export function everyMessage(route: { readonly from: NodeId; readonly to: NodeId }): Message[] {
  const envelope = { ...route, term: 7 }
  const entries: Entry[] = [
    { index: 11, term: 5, kind: 'noop', data: new Uint8Array(0) },
    { index: 12, term: 6, kind: 'command', data: Uint8Array.of(0, 127, 128, 255) },
    { index: 13, term: 7, kind: 'configuration', data: new Uint8Array(70_000).fill(9) },
  ]
  return [
    {
      type: 'AppendEntries',
      ...envelope,
      prevLogIndex: 10,
      prevLogTerm: 4,
      entries,
      leaderCommit: 9,
      readToken: 3,
    },
    {
      type: 'AppendEntries',
      ...envelope,
      prevLogIndex: 0,
      prevLogTerm: 0,
      entries: [],
      leaderCommit: 0,
      readToken: 0,
    },
    {
      type: 'AppendEntriesResponse',
      ...envelope,
      success: true,
      index: 13,
      hintIndex: 0,
      hintTerm: 0,
      readToken: 3,
    },
    {
      type: 'AppendEntriesResponse',
      ...envelope,
      success: false,
      index: 10,
      hintIndex: 8,
      hintTerm: 2,
      readToken: 0,
    },
    { type: 'RequestVote', ...envelope, preVote: true, transfer: false, lastLogIndex: 13, lastLogTerm: 7 },
    {
      type: 'RequestVote',
      ...envelope,
      preVote: true,
      transfer: false,
      lastLogIndex: 13,
      lastLogTerm: 7,
      asksCommit: true,
    },
    { type: 'RequestVoteResponse', ...envelope, preVote: false, granted: true },
    {
      type: 'RequestVoteResponse',
      ...envelope,
      preVote: true,
      granted: false,
      committed: { index: 12, term: 3 },
    },
    {
      type: 'InstallSnapshot',
      ...envelope,
      lastIncluded: { index: 2 ** 53 - 1, term: 2 ** 40 },
      configuration: { voters: ['a', 'b'], learners: ['c'], outgoing: [] },
    },
    { type: 'InstallSnapshotResponse', ...envelope, index: 2 ** 32 },
    { type: 'ReadIndex', ...envelope, requestId: 2 ** 31 },
    { type: 'ReadIndexResponse', ...envelope, requestId: 1, index: null },
    { type: 'ReadIndexResponse', ...envelope, requestId: 1, index: 12 },
    { type: 'TimeoutNow', ...envelope },
  ]
}

const number = fc.oneof(fc.nat(), fc.maxSafeNat())
const nodeIds = fc.array(fc.string({ minLength: 1, maxLength: 64 }), { maxLength: 8 })
const entry = fc.record({
  term: number,
  kind: fc.constantFrom('noop', 'command', 'configuration'),
  data: fc.uint8Array({ maxLength: 300 }),
})

const appendEntries = fc
  .record({
    type: fc.constant('AppendEntries'),
    term: number,
    prevLogIndex: fc.nat(),
    prevLogTerm: number,
    entries: fc.array(entry, { maxLength: 20 }),
    leaderCommit: number,
    readToken: number,
  })
  .map((message) => ({
    ...message,
    entries: message.entries.map((e, i) => ({ index: message.prevLogIndex + 1 + i, ...e })),
  }))

const others = [
  {
    type: 'AppendEntriesResponse',
    success: fc.boolean(),
    index: number,
    hintIndex: number,
    hintTerm: number,
    readToken: number,
  },
  {
    type: 'RequestVote',
    preVote: fc.boolean(),
    transfer: fc.boolean(),
    lastLogIndex: number,
    lastLogTerm: number,
  },
  { type: 'RequestVoteResponse', preVote: fc.boolean(), granted: fc.boolean() },
  {
    type: 'InstallSnapshot',
    lastIncluded: fc.record({ index: number, term: number }),
    configuration: fc.record({ voters: nodeIds, learners: nodeIds, outgoing: nodeIds }),
  },
  { type: 'InstallSnapshotResponse', index: number },
  { type: 'ReadIndex', requestId: number },
  { type: 'ReadIndexResponse', requestId: number, index: fc.option(number) },
  { type: 'TimeoutNow' },
].map(({ type, ...fields }) => fc.record({ type: fc.constant(type), term: number, ...fields }))

/** Any message on ROUTE. */
export const anyMessage: fc.Arbitrary<Message> = fc
  .oneof(appendEntries, ...others)
  .map((message) => ({ ...message, ...ROUTE }) as Message)

/** Decoded entry data are Buffers; compared by content. */
export function plain(messages: readonly Message[]): unknown[] {
  return messages.map((message) => {
    if (message.type !== 'AppendEntries') return { ...message }
    return { ...message, entries: message.entries.map((e) => ({ ...e, data: [...e.data] })) }
  })
}
