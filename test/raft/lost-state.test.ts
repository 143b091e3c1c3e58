/**
 * A member whose state machine is damaged: its log, its term and its vote hold everything that it ever promised, so the only change is
 * that it does not campaign. The log keeps its entries after the state that replaces the damaged one. [thesis 5.1]
 */
import t from 'tap'
import { configurationOf } from './network.ts'
import { appliedIndexes, Single, sentOf, writeOf } from './single.ts'
import type { Effect, LogBase } from '../../cluster/raft/types.ts'

const THREE = configurationOf('a', 'b', 'c')

/** Six entries of term 1: four are committed and handed out, and two of the four are applied. */
function lost(): Single {
  const single = new Single({ terms: [1, 1, 1, 1, 1, 1], hardState: { currentTerm: 1, votedFor: null } })
  single.append({ term: 1, prevLogIndex: 6, prevLogTerm: 1, leaderCommit: 4 })
  single.step({ type: 'applied', index: 2 })
  single.step({ type: 'stateLost' })
  return single
}

function replaced(single: Single, base: LogBase): readonly Effect[] {
  return single.step({ type: 'stateReplaced', base, configuration: THREE, configurationIndex: 0 })
}

function ticks(single: Single, count: number): readonly Effect[] {
  return Array.from({ length: count }, () => single.step({ type: 'tick' })).flat()
}

t.test('without its state a member', async (t) => {
  t.test('does not campaign, neither by itself nor by order', async (t) => {
    const single = lost()
    t.strictSame(sentOf(ticks(single, 100), 'RequestVote'), [])
    single.append({ term: 1, prevLogIndex: 6, prevLogTerm: 1 })
    t.strictSame(
      sentOf(single.receive({ type: 'TimeoutNow', from: 'b', to: 'a', term: 1 }), 'RequestVote'),
      [],
    )
    t.match(single.status, { role: 'follower', term: 1 })
    replaced(single, { index: 4, term: 1 })
    t.ok(sentOf(ticks(single, 20), 'RequestVote').length > 0, 'with another one it does')
  })

  t.test('ends a campaign that it has started', async (t) => {
    const single = new Single({ terms: [1, 1] })
    ticks(single, 20)
    t.equal(single.status.role, 'preCandidate')
    single.step({ type: 'stateLost' })
    t.match(single.status, { role: 'follower', leaderId: null })
  })

  t.test('gives its vote, and acknowledges durable entries', async (t) => {
    const single = lost()
    const asked = single.receive({
      type: 'RequestVote',
      from: 'c',
      to: 'a',
      term: 2,
      preVote: false,
      transfer: true,
      lastLogIndex: 6,
      lastLogTerm: 1,
    })
    t.equal(writeOf(asked).hardState?.votedFor, 'c')
    t.match(sentOf(single.confirm(asked), 'RequestVoteResponse'), [{ granted: true, term: 2 }])
    const entry = { index: 7, term: 2, kind: 'command', data: Uint8Array.of(1) } as const
    const effects = single.append({ term: 2, from: 'c', prevLogIndex: 6, prevLogTerm: 1, entries: [entry] })
    t.match(sentOf(single.confirm(effects), 'AppendEntriesResponse'), [{ success: true, index: 7 }])
  })

  t.test('continues to lead where it leads, and commits', async (t) => {
    const single = new Single({ terms: [1, 1] })
    single.confirm(single.becomeLeader())
    single.step({ type: 'stateLost' })
    const effects = single.step({ type: 'propose', proposalId: 1, data: Uint8Array.of(1) })
    t.match(
      effects.filter(({ type }) => type === 'proposalAccepted'),
      [{ index: 4 }],
    )
    single.confirm(effects)
    single.answer('b', { index: 4 })
    t.match(single.status, { role: 'leader', commitIndex: 4 })
  })

  t.test('accepts no offer of a snapshot, because its driver is fetching already', async (t) => {
    const single = lost()
    const lastIncluded = { index: 9, term: 1 }
    const offer = { type: 'InstallSnapshot', from: 'b', to: 'a', term: 1, lastIncluded } as const
    const fetches = (): readonly Effect[] =>
      single.receive({ ...offer, configuration: THREE }).filter(({ type }) => type === 'fetchSnapshot')
    t.strictSame(fetches(), [])
    replaced(single, { index: 4, term: 1 })
    t.match(fetches(), [{ atLeast: lastIncluded }])
  })
})

t.test('a state in place of the lost one', async (t) => {
  t.test('leaves the log unchanged, and applies the entries right after it', async (t) => {
    const single = lost()
    const effects = replaced(single, { index: 3, term: 1 })
    t.strictSame(
      effects.filter(({ type }) => type !== 'send'),
      [],
      'nothing is written, and no entry is handed out twice',
    )
    t.match(single.status, { appliedIndex: 3, commitIndex: 4, lastIndex: 6, base: { index: 0 } })
    single.step({ type: 'applied', index: 4 })
    t.strictSame(
      appliedIndexes(single.append({ term: 1, prevLogIndex: 6, prevLogTerm: 1, leaderCommit: 6 })),
      [5, 6],
    )
  })

  t.test('proves that the entries in it are committed', async (t) => {
    const single = lost()
    replaced(single, { index: 5, term: 1 })
    t.match(single.status, { appliedIndex: 5, commitIndex: 5, lastIndex: 6 })
    t.strictSame(
      appliedIndexes(single.append({ term: 1, prevLogIndex: 6, prevLogTerm: 1, leaderCommit: 6 })),
      [6],
    )
  })

  t.test('of exactly what was applied is accepted: there may have been no write since', async (t) => {
    const single = lost()
    replaced(single, { index: 2, term: 1 })
    t.match(single.status, { appliedIndex: 2, commitIndex: 4 })
  })

  t.test('voids a log that contradicts it, or ends before it', async (t) => {
    for (const base of [
      { index: 6, term: 3 },
      { index: 9, term: 1 },
    ]) {
      const single = lost()
      t.match(writeOf(replaced(single, base)), { base, entries: [] })
      t.match(single.status, { base, appliedIndex: base.index, commitIndex: base.index })
      t.equal(single.status.term, Math.max(1, base.term))
    }
  })

  t.test('ends the leadership of a member that it contradicts', async (t) => {
    const single = new Single({ terms: [1, 1], hardState: { currentTerm: 5, votedFor: null } })
    single.becomeLeader()
    single.step({ type: 'stateLost' })
    replaced(single, { index: 3, term: 4 })
    t.match(single.status, { role: 'follower', base: { index: 3, term: 4 }, lastIndex: 3 })
  })

  t.test('never takes back applied entries, and is accepted only when one was lost', async (t) => {
    t.throws(() => replaced(lost(), { index: 1, term: 1 }), /takes the state back from 2/)
    t.throws(() => replaced(new Single({ terms: [1] }), { index: 1, term: 1 }), /replaces a lost state/)
  })
})
