/** Catching up without the log: thesis chapter 5. */
import t from 'tap'
import { TestNetwork, configurationOf, logOfTerms } from './network.ts'
import { Single, appliedIndexes, sentOf, writeOf } from './single.ts'
import type { Effect, InstallSnapshot, LogBase } from '../../cluster/raft/types.ts'

const THREE = configurationOf('a', 'b', 'c')

function offer(lastIncluded: LogBase, term = 5): InstallSnapshot {
  return { type: 'InstallSnapshot', from: 'b', to: 'a', term, lastIncluded, configuration: THREE }
}

/** A log without entries, and a term that is durable. */
const EMPTY = { hardState: { currentTerm: 1, votedFor: null } } as const

function fetchesOf(effects: readonly Effect[]): readonly Effect[] {
  return effects.filter((effect) => effect.type === 'fetchSnapshot')
}

function install(single: Single, base: LogBase): readonly Effect[] {
  return single.step({ type: 'snapshotInstalled', base, configuration: THREE, configurationIndex: 0 })
}

/** c is down while the others write and compact. */
function networkWithStraggler(): TestNetwork {
  const network = new TestNetwork(THREE)
  network.elect('a')
  network.isolate('c')
  for (let i = 0; i < 10; i += 1) network.propose('a')
  network.settle()
  for (const id of ['a', 'b']) network.compact(id, 9)
  network.heal()
  return network
}

t.test('[thesis 5] a follower behind the compacted log', async (t) => {
  t.test('pulls a snapshot and continues with the log', async (t) => {
    const network = networkWithStraggler()
    network.tickAll(5)
    t.match(
      network.takeEffects('c').filter(({ type }) => type === 'fetchSnapshot'),
      [{ from: 'a' }],
    )
    t.match(network.status('c'), { base: { index: 11 }, commitIndex: 11, appliedIndex: 11 })
    network.propose('a')
    network.settle()
    t.match(network.status('c'), { commitIndex: 12, appliedIndex: 12 })
    t.match(
      network.status('a').peers.find((peer) => peer.nodeId === 'c'),
      { state: 'replicate', matchIndex: 12 },
    )
  })

  t.test('does not stop the others, which compact and commit without it', async (t) => {
    const network = networkWithStraggler()
    network.isolate('c')
    network.propose('a')
    network.tickAll(30)
    network.compact('a', 12)
    t.match(network.status('a'), { role: 'leader', commitIndex: 12, base: { index: 12 } })
  })

  t.test('is offered again when the offer, the pull or the answer is lost', async (t) => {
    const network = networkWithStraggler()
    network.cut('c', 'a')
    network.tickAll(5)
    t.equal(network.node('c').fetch, null, 'the pull failed')
    network.heal()
    network.tickAll(25)
    t.match(network.status('c'), { commitIndex: 11 })
  })

  t.test('recovers from a crash between the new state and its log', async (t) => {
    const network = networkWithStraggler()
    network.node('c').isDiskSlow = true
    network.tickAll(5)
    t.equal(network.node('c').machine.index, 11)
    t.equal(network.node('c').disk.lastIndex, 1)
    network.crash('c')
    network.restart('c')
    t.match(network.status('c'), { base: { index: 11 }, appliedIndex: 11 })
    network.node('c').isDiskSlow = false
    network.tickAll(5)
    network.propose('a')
    network.settle()
    t.match(network.status('c'), { commitIndex: 12, appliedIndex: 12 })
  })
})

t.test('the leader', async (t) => {
  t.test('offers its applied state, with the configuration in force there', async (t) => {
    const single = new Single({ terms: [1, 1, 1, 1], appliedIndex: 3 })
    single.step({ type: 'compact', index: 2 })
    single.confirm(single.becomeLeader())
    const effects = single.answer('b', { success: false, index: 4, hintIndex: 0, hintTerm: 0 })
    t.match(sentOf(effects, 'InstallSnapshot'), [
      { to: 'b', lastIncluded: { index: 3, term: 1 }, configuration: THREE },
    ])
    t.equal(single.status.peers[0]?.state, 'snapshot')
    t.strictSame(
      sentOf(single.step({ type: 'propose', proposalId: 1, data: Uint8Array.of(1) }), 'InstallSnapshot'),
      [],
    )
  })

  t.test('keeps its authority over a peer that pulls, and probes from where the snapshot ends', async (t) => {
    const single = new Single({ terms: [1, 1, 1, 1], appliedIndex: 3 })
    single.step({ type: 'compact', index: 3 })
    single.confirm(single.becomeLeader())
    single.answer('b', { success: false, index: 4, hintIndex: 0, hintTerm: 0 })
    const beats = sentOf(single.step({ type: 'tick' }), 'AppendEntries').filter(({ to }) => to === 'b')
    t.match(beats, [{ prevLogIndex: 0, prevLogTerm: 0, entries: [] }], 'at zero all logs meet')
    const term = single.status.term
    const effects = single.receive({ type: 'InstallSnapshotResponse', from: 'b', to: 'a', term, index: 4 })
    t.match(sentOf(effects, 'AppendEntries'), [{ to: 'b', prevLogIndex: 4, entries: [{ index: 5 }] }])
  })
})

t.test('an offer', async (t) => {
  t.test('is answered at once by a member that holds the prefix', async (t) => {
    const single = new Single({ terms: [1, 1, 3], hardState: { currentTerm: 5, votedFor: null } })
    const effects = single.receive(offer({ index: 3, term: 3 }))
    t.strictSame(fetchesOf(effects), [])
    t.match(sentOf(effects, 'InstallSnapshotResponse'), [{ to: 'b', index: 3 }])
  })

  t.test('starts one pull, not two, and a failed one may be repeated', async (t) => {
    const single = new Single(EMPTY)
    t.match(fetchesOf(single.receive(offer({ index: 8, term: 4 }))), [
      { from: 'b', atLeast: { index: 8, term: 4 } },
    ])
    t.strictSame(fetchesOf(single.receive(offer({ index: 9, term: 4 }))), [])
    single.step({ type: 'snapshotFailed' })
    t.match(fetchesOf(single.receive(offer({ index: 9, term: 4 }))), [{ atLeast: { index: 9 } }])
  })

  t.test('is not taken before some term is durable: the state would have a log without one', async (t) => {
    const single = new Single()
    const offered = single.receive(offer({ index: 8, term: 4 }))
    t.strictSame(fetchesOf(offered), [], 'its first write is under way')
    t.strictSame(fetchesOf(single.receive(offer({ index: 8, term: 4 }))), [])
    single.confirm(offered)
    t.match(fetchesOf(single.receive(offer({ index: 8, term: 4 }))), [{ from: 'b' }], 'the offer is repeated')
  })

  t.test('stops handing out entries until the state is replaced', async (t) => {
    const single = new Single({ terms: [1, 1] })
    single.confirm(single.receive(offer({ index: 4, term: 1 }, 2)))
    const appended = single.append({
      term: 2,
      prevLogIndex: 2,
      prevLogTerm: 1,
      entries: logOfTerms(1, 1, 1, 1, 2).slice(2),
      leaderCommit: 5,
    })
    t.strictSame(appliedIndexes([...appended, ...single.confirm(appended)]), [])
    const installed = install(single, { index: 4, term: 1 })
    t.strictSame(appliedIndexes(installed), [5], 'the entries after the snapshot, once')
    t.notOk(
      installed.some(({ type }) => type === 'appendWal'),
      'the log agreed: it stays',
    )
  })
})

t.test('an installed snapshot', async (t) => {
  t.test('replaces a log that contradicts it, whole, and is acknowledged when that is durable', async (t) => {
    const single = new Single({ terms: [1, 2, 2, 2, 2, 2, 2] })
    single.confirm(single.receive(offer({ index: 4, term: 4 })))
    const effects = install(single, { index: 4, term: 4 })
    t.match(writeOf(effects), { base: { index: 4, term: 4 }, entries: [] })
    t.match(single.status, { lastIndex: 4, commitIndex: 4, appliedIndex: 4, base: { index: 4, term: 4 } })
    t.strictSame(sentOf(effects, 'InstallSnapshotResponse'), [])
    t.match(sentOf(single.confirm(effects), 'InstallSnapshotResponse'), [{ to: 'b', index: 4 }])
  })

  t.test('may be newer than the offer, and the log continues right after it', async (t) => {
    const single = new Single(EMPTY)
    single.confirm(single.receive(offer({ index: 4, term: 4 })))
    single.confirm(install(single, { index: 9, term: 5 }))
    const entries = [{ index: 10, term: 5, kind: 'command', data: Uint8Array.of(1) } as const]
    const effects = single.append({ term: 5, prevLogIndex: 9, prevLogTerm: 5, entries, leaderCommit: 10 })
    t.match(writeOf(effects), { base: null, entries: [{ index: 10 }] })
    t.strictSame(appliedIndexes(single.confirm(effects)), [10])
  })

  t.test('keeps entries that follow it when the log agrees', async (t) => {
    const single = new Single({ terms: [1, 1] })
    single.confirm(single.receive(offer({ index: 3, term: 1 }, 1 + 1)))
    const entries = logOfTerms(1, 1, 1, 1).slice(2)
    single.confirm(single.append({ term: 2, prevLogIndex: 2, prevLogTerm: 1, entries }))
    const effects = install(single, { index: 3, term: 1 })
    t.match(single.status, { lastIndex: 4, commitIndex: 3, appliedIndex: 3 })
    t.match(sentOf(effects, 'InstallSnapshotResponse'), [{ index: 3 }])
  })

  t.test('is not durable when the write of the replaced log is confirmed', async (t) => {
    const single = new Single()
    single.confirm(single.append({ term: 5 }))
    const old = single.append({ term: 5, entries: logOfTerms(1, 1) })
    single.receive(offer({ index: 4, term: 4 }))
    const installed = install(single, { index: 4, term: 4 })
    t.strictSame(sentOf(single.confirm(old), 'InstallSnapshotResponse'), [])
    const beat = single.append({ term: 5, prevLogIndex: 4, prevLogTerm: 4 })
    t.match(sentOf(beat, 'AppendEntriesResponse'), [{ success: true, index: 0 }])
    t.match(sentOf(single.confirm(installed), 'InstallSnapshotResponse'), [{ index: 4 }])
  })

  t.test('of a later term ends the term in which it was offered', async (t) => {
    const single = new Single(EMPTY)
    single.confirm(single.receive(offer({ index: 4, term: 4 }, 5)))
    const effects = install(single, { index: 9, term: 6 })
    t.match(writeOf(effects), { hardState: { currentTerm: 6, votedFor: null }, base: { index: 9, term: 6 } })
    const past = single.append({ term: 5, entries: logOfTerms(1, 1, 1, 4, 5, 5, 5, 5, 5, 5) })
    single.confirm(effects)
    t.match(single.status, { term: 6, leaderId: null, lastIndex: 9 })
    t.strictSame(
      sentOf(past, 'AppendEntriesResponse'),
      [],
      'the old leader learns of the term when it is durable',
    )
  })

  t.test('never takes the state machine back', async (t) => {
    const single = new Single({ terms: [1, 1, 1], appliedIndex: 1 })
    t.throws(
      () => install(single, { index: 1, term: 1 }),
      { name: 'InvariantError' },
      'no snapshot was requested',
    )
    single.receive(offer({ index: 9, term: 4 }))
    t.throws(() => install(single, { index: 3, term: 1 }), { name: 'InvariantError' }, 'older than the offer')
  })

  t.test('two in a row leave one state', async (t) => {
    const single = new Single(EMPTY)
    single.confirm(single.receive(offer({ index: 4, term: 4 })))
    const first = install(single, { index: 4, term: 4 })
    single.receive(offer({ index: 9, term: 5 }))
    const second = install(single, { index: 9, term: 5 })
    single.confirm(first)
    single.confirm(second)
    t.match(single.status, { base: { index: 9, term: 5 }, commitIndex: 9, lastIndex: 9 })
  })
})

t.test('compaction', async (t) => {
  t.test('forgets applied entries only and keeps the term before the first that is left', async (t) => {
    const single = new Single({ terms: [1, 2, 3], appliedIndex: 2 })
    t.throws(() => single.step({ type: 'compact', index: 3 }), { name: 'InvariantError' })
    single.step({ type: 'compact', index: 2 })
    single.step({ type: 'compact', index: 1 })
    t.match(single.status, { base: { index: 2, term: 2 }, lastIndex: 3 })
    const late = single.append({ term: 3, entries: logOfTerms(1, 2, 3), leaderCommit: 3 })
    t.match(sentOf(late, 'AppendEntriesResponse'), [{ success: true, index: 3 }], 'an old append still meets')
  })
})
