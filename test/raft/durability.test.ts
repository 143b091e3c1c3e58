/** What may be sent before the disk has answered, and what a crash may lose: thesis 3.8 and 10.2.1. */
import t from 'tap'
import { TestNetwork, configurationOf, logOfTerms } from './network.ts'
import { Single, appliedIndexes, sentOf, writeOf } from './single.ts'

const THREE = configurationOf('a', 'b', 'c')

t.test('[thesis 10.2.1] the leader writes in parallel with its followers', async (t) => {
  t.test('and its own copy counts only when its disk has it', async (t) => {
    const single = new Single()
    const opened = single.becomeLeader()
    t.equal(sentOf(opened, 'AppendEntries').length, 2, 'sent in the step that writes')
    single.answer('b', { index: 1 })
    t.equal(single.status.commitIndex, 0, 'one copy of three is durable')
    const effects = single.confirm(opened)
    t.equal(single.status.commitIndex, 1)
    t.strictSame(appliedIndexes(effects), [1])
  })

  t.test('and others may commit without it, but it applies no entry that it could lose', async (t) => {
    const single = new Single()
    const opened = single.becomeLeader()
    single.answer('b', { index: 1 })
    const effects = single.answer('c', { index: 1 })
    t.equal(single.status.commitIndex, 1)
    t.strictSame(appliedIndexes(effects), [])
    t.strictSame(appliedIndexes(single.confirm(opened)), [1])
  })

  t.test('and a crash that loses its copy loses no committed entry', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    network.node('a').isDiskSlow = true
    network.propose('a')
    network.settle()
    t.equal(network.checker.committedIndex, 2)
    t.equal(network.node('a').machine.index, 1)
    network.crash('a')
    network.restart('a')
    network.node('a').isDiskSlow = false
    network.tickAll(40)
    for (const id of THREE.voters) t.ok(network.node(id).machine.index >= 3)
  })
})

t.test('a follower', async (t) => {
  t.test('acknowledges entries when they are durable', async (t) => {
    const single = new Single()
    const effects = single.append({ term: 1, entries: logOfTerms(1, 1) })
    t.strictSame(sentOf(effects, 'AppendEntriesResponse'), [])
    t.match(sentOf(single.confirm(effects), 'AppendEntriesResponse'), [{ success: true, index: 2 }])
  })

  t.test('answers heartbeats while its disk is slow, with its durable index', async (t) => {
    const single = new Single({ terms: [1] })
    const slow = single.append({
      term: 1,
      prevLogIndex: 1,
      prevLogTerm: 1,
      entries: logOfTerms(1, 1).slice(1),
    })
    const beat = single.append({ term: 1, prevLogIndex: 2, prevLogTerm: 1, readToken: 5 })
    t.match(sentOf(beat, 'AppendEntriesResponse'), [{ success: true, index: 1, readToken: 5 }])
    const doubled = single.append({
      term: 1,
      prevLogIndex: 1,
      prevLogTerm: 1,
      entries: logOfTerms(1, 1).slice(1),
    })
    t.strictSame(sentOf(doubled, 'AppendEntriesResponse'), [], 'entries are acknowledged as entries')
    t.match(sentOf(single.confirm(slow), 'AppendEntriesResponse'), [{ index: 2 }, { index: 2 }])
  })

  t.test('answers nothing in a term that it could forget', async (t) => {
    const single = new Single()
    const effects = single.append({ term: 4 })
    t.strictSame(writeOf(effects).hardState, { currentTerm: 4, votedFor: null })
    t.strictSame(sentOf(effects, 'AppendEntriesResponse'), [])
    t.match(sentOf(single.confirm(effects), 'AppendEntriesResponse'), [{ term: 4, success: true }])
  })

  t.test('applies no entry before it is durable', async (t) => {
    const single = new Single()
    const effects = single.append({ term: 1, entries: logOfTerms(1), leaderCommit: 1 })
    t.equal(single.status.commitIndex, 1)
    t.strictSame(appliedIndexes(effects), [])
    t.strictSame(appliedIndexes(single.confirm(effects)), [1])
  })
})

t.test('a late confirmation', async (t) => {
  t.test('does not make the entries durable that replaced the confirmed ones (the ABA race)', async (t) => {
    const single = new Single()
    const old = single.append({ term: 1, entries: logOfTerms(1, 1, 1) })
    const entries = logOfTerms(1, 2, 2).slice(1)
    const replaced = single.append({
      term: 2,
      from: 'c',
      prevLogIndex: 1,
      prevLogTerm: 1,
      entries,
      leaderCommit: 3,
    })
    t.equal(writeOf(replaced).entries[0]?.index, 2)
    const confirmed = single.confirm(old)
    t.strictSame(sentOf(confirmed, 'AppendEntriesResponse'), [], 'the promise of term 1 is void')
    t.strictSame(appliedIndexes(confirmed), [1], 'entry 1 is the same in both')
    const beat = single.append({ term: 2, from: 'c', prevLogIndex: 3, prevLogTerm: 2, leaderCommit: 3 })
    t.strictSame(sentOf(beat, 'AppendEntriesResponse'), [], 'the term itself is not durable yet')
    const done = single.confirm(replaced)
    t.strictSame(appliedIndexes(done), [2, 3])
    t.match(sentOf(done, 'AppendEntriesResponse'), [
      { index: 3, term: 2 },
      { index: 1, term: 2 },
    ])
  })

  t.test('must come in the order of the writes', async (t) => {
    const single = new Single()
    const first = single.append({ term: 1, entries: logOfTerms(1) })
    single.append({ term: 1, prevLogIndex: 1, prevLogTerm: 1, entries: logOfTerms(1, 1).slice(1) })
    const sequence = writeOf(first).sequence + 1
    t.throws(() => single.step({ type: 'walDone', sequence }), { name: 'InvariantError' })
  })

  t.test('releases no promise of an older term', async (t) => {
    const single = new Single()
    const old = single.append({ term: 1, entries: logOfTerms(1) })
    const next = single.append({ term: 2, from: 'c', prevLogIndex: 1, prevLogTerm: 1 })
    t.strictSame(sentOf(single.confirm(old), 'AppendEntriesResponse'), [])
    t.match(sentOf(single.confirm(next), 'AppendEntriesResponse'), [{ to: 'c', term: 2 }])
  })
})

t.test('[thesis 3.8] a restart', async (t) => {
  t.test('continues with term, vote, log and applied index, and hands out no entry twice', async (t) => {
    const single = new Single({
      terms: [1, 2, 2],
      hardState: { currentTerm: 5, votedFor: 'c' },
      appliedIndex: 2,
    })
    t.match(single.status, { role: 'follower', term: 5, commitIndex: 2, appliedIndex: 2, lastIndex: 3 })
    const effects = single.append({ term: 5, from: 'c', prevLogIndex: 3, prevLogTerm: 2, leaderCommit: 3 })
    t.strictSame(appliedIndexes(effects), [3])
  })

  t.test('refuses a state machine that is ahead of the log', async (t) => {
    t.throws(() => new Single({ terms: [1], appliedIndex: 2 }), { name: 'InvariantError' })
  })

  t.test('of all members at once keeps everything that was committed', async (t) => {
    const network = new TestNetwork(configurationOf('a', 'b', 'c', 'd', 'e'))
    network.elect('a')
    for (let i = 0; i < 20; i += 1) network.propose('a')
    network.settle()
    for (const id of network.nodes.keys()) network.crash(id)
    for (const id of network.nodes.keys()) network.restart(id)
    network.tickAll(50)
    t.ok(network.checker.committedIndex >= 22)
    for (const id of network.nodes.keys())
      t.equal(network.node(id).machine.index, network.checker.committedIndex)
  })
})
