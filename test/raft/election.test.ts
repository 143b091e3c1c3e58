/** Which member may lead or vote, and when: thesis chapters 3.4, 3.6.1, 4.2.3 and 9.6. */
import t from 'tap'
import { TestNetwork, configurationOf, plantLog } from './network.ts'
import { Single, sentOf, writeOf } from './single.ts'
import type { Message, RequestVote, Term } from '../../cluster/raft/types.ts'

const THREE = configurationOf('a', 'b', 'c')

function voteRequest(fields: Partial<RequestVote> & { readonly term: Term }): Message {
  const message: RequestVote = {
    type: 'RequestVote',
    from: 'b',
    to: 'a',
    preVote: false,
    transfer: false,
    lastLogIndex: 0,
    lastLogTerm: 0,
    ...fields,
  }
  return message
}

t.test('[thesis 3.4] election', async (t) => {
  t.test('gives the group one leader that every member follows', async (t) => {
    const network = new TestNetwork(THREE)
    network.tickAll(30)
    const [leader] = network.leaders()
    t.equal(network.leaders().length, 1)
    for (const id of network.nodes.keys()) t.equal(network.status(id).leaderId, leader)
  })

  t.test('makes a single voter leader only when its own vote is durable', async (t) => {
    const single = new Single({ configuration: configurationOf('a') })
    let effects = single.step({ type: 'tick' })
    while (single.status.role === 'follower') effects = single.step({ type: 'tick' })
    t.equal(single.status.role, 'candidate')
    t.strictSame(writeOf(effects).hardState, { currentTerm: 1, votedFor: 'a' })
    single.confirm(effects)
    t.equal(single.status.role, 'leader')
  })

  t.test('counts the own vote only when durable, and asks for votes only then', async (t) => {
    const single = new Single()
    while (single.status.role === 'follower') single.step({ type: 'tick' })
    const response = { type: 'RequestVoteResponse', from: 'b', to: 'a', term: 1, granted: true } as const
    const campaign = single.receive({ ...response, preVote: true })
    t.equal(single.status.role, 'candidate')
    t.strictSame(sentOf(campaign, 'RequestVote'), [], 'no vote is requested for a term that may be lost')
    single.receive({ ...response, preVote: false })
    t.equal(single.status.role, 'candidate', 'one durable vote of three')
    const confirmed = single.confirm(campaign)
    t.equal(single.status.role, 'leader')
    t.ok(sentOf(confirmed, 'AppendEntries').length === 2, 'the term is opened at once')
  })

  t.test('does not count the own vote by the confirmation of an older write', async (t) => {
    const single = new Single()
    const older = single.append({ term: 1 })
    for (let i = 0; i < 40 && single.status.role === 'follower'; i += 1) single.step({ type: 'tick' })
    const response = { type: 'RequestVoteResponse', from: 'b', to: 'a', term: 2, granted: true } as const
    const campaign = single.receive({ ...response, preVote: true })
    single.receive({ ...response, preVote: false })
    single.confirm(older)
    t.equal(single.status.role, 'candidate')
    single.confirm(campaign)
    t.equal(single.status.role, 'leader')
  })

  t.test('ignores votes from nodes that are not voters', async (t) => {
    const single = new Single({ configuration: { voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] } })
    while (single.status.role === 'follower') single.step({ type: 'tick' })
    for (const from of ['l', 'unknown']) {
      single.receive({ type: 'RequestVoteResponse', from, to: 'a', term: 1, preVote: true, granted: true })
    }
    t.equal(single.status.role, 'preCandidate')
  })
})

t.test('[thesis 3.6.1] a vote', async (t) => {
  t.test('goes only to a log that is at least as complete', async (t) => {
    const cases = [
      { lastLogIndex: 3, lastLogTerm: 2, granted: true },
      { lastLogIndex: 1, lastLogTerm: 3, granted: true },
      { lastLogIndex: 2, lastLogTerm: 2, granted: false },
      { lastLogIndex: 9, lastLogTerm: 1, granted: false },
    ]
    for (const { granted, ...log } of cases) {
      const single = new Single({ terms: [1, 2, 2] })
      const effects = single.confirm(single.receive(voteRequest({ term: 5, ...log })))
      t.equal(sentOf(effects, 'RequestVoteResponse')[0]?.granted, granted, JSON.stringify(log))
    }
  })

  t.test('is given once per term, again to the same candidate, and survives a restart', async (t) => {
    const single = new Single()
    const effects = single.receive(voteRequest({ term: 1, from: 'b' }))
    t.strictSame(sentOf(effects, 'RequestVoteResponse'), [], 'not before it is durable')
    const hardState = writeOf(effects).hardState
    t.strictSame(hardState, { currentTerm: 1, votedFor: 'b' })
    t.equal(sentOf(single.confirm(effects), 'RequestVoteResponse')[0]?.granted, true)
    for (const life of [single, new Single({ hardState: { currentTerm: 1, votedFor: 'b' } })]) {
      const other = life.receive(voteRequest({ term: 1, from: 'c' }))
      t.equal(sentOf(other, 'RequestVoteResponse')[0]?.granted, false, 'not to another')
      const same = life.receive(voteRequest({ term: 1, from: 'b' }))
      t.equal(sentOf(same, 'RequestVoteResponse')[0]?.granted, true, 'at once: nothing has to become durable')
    }
  })

  t.test('is kept when a leader steps down within its term', async (t) => {
    const single = new Single()
    single.becomeLeader()
    single.step({ type: 'tickGap' })
    t.equal(single.status.role, 'follower')
    const effects = single.receive(voteRequest({ term: 1, from: 'c', lastLogIndex: 9, lastLogTerm: 1 }))
    t.match(sentOf(effects, 'RequestVoteResponse'), [{ granted: false }])
  })

  t.test('restarts the election timer of the member that granted it', async (t) => {
    const single = new Single({ seed: 4 })
    for (let i = 0; i < 9; i += 1) single.step({ type: 'tick' })
    single.receive(voteRequest({ term: 1 }))
    for (let i = 0; i < 8; i += 1) single.step({ type: 'tick' })
    single.receive(voteRequest({ term: 1 }))
    for (let i = 0; i < 9; i += 1) single.step({ type: 'tick' })
    t.equal(single.status.role, 'follower')
  })

  t.test('never leaves when the term moved on before the disk confirmed it', async (t) => {
    const single = new Single()
    const first = single.receive(voteRequest({ term: 1, from: 'b' }))
    const second = single.receive(voteRequest({ term: 2, from: 'c' }))
    t.strictSame(sentOf(single.confirm(first), 'RequestVoteResponse'), [])
    const [vote] = sentOf(single.confirm(second), 'RequestVoteResponse')
    t.match(vote, { to: 'c', term: 2, granted: true })
  })
})

t.test('[thesis 9.6] pre-vote', async (t) => {
  t.test('keeps the term of an isolated member, which then disturbs no leader when it returns', async (t) => {
    const network = new TestNetwork(THREE)
    const term = network.elect('a')
    network.isolate('c')
    network.tickAll(100)
    t.match(network.status('c'), { role: 'preCandidate', term })
    network.propose('a')
    network.heal()
    network.tickAll(30)
    t.match(network.status('a'), { role: 'leader', term })
    t.match(network.status('c'), { role: 'follower', term, leaderId: 'a', commitIndex: 2 })
  })

  t.test('is answered at the term of the question and changes nothing', async (t) => {
    const single = new Single({ terms: [1, 1] })
    const before = single.status
    const granted = single.receive(voteRequest({ term: 2, preVote: true, lastLogIndex: 2, lastLogTerm: 1 }))
    t.match(sentOf(granted, 'RequestVoteResponse'), [{ term: 2, granted: true, preVote: true }])
    const refused = single.receive(voteRequest({ term: 7, preVote: true, lastLogIndex: 1, lastLogTerm: 1 }))
    t.match(sentOf(refused, 'RequestVoteResponse'), [{ term: 1, granted: false, preVote: true }])
    t.strictSame(single.status, before)
    t.notOk([...granted, ...refused].some((effect) => effect.type === 'appendWal'))
  })

  t.test('granted for an older campaign counts for nothing', async (t) => {
    const single = new Single({ hardState: { currentTerm: 4, votedFor: null } })
    while (single.status.role === 'follower') single.step({ type: 'tick' })
    single.receive({ type: 'RequestVoteResponse', from: 'b', to: 'a', term: 4, preVote: true, granted: true })
    t.equal(single.status.role, 'preCandidate')
  })

  t.test('ends when a majority refuses', async (t) => {
    const single = new Single()
    while (single.status.role === 'follower') single.step({ type: 'tick' })
    for (const from of ['b', 'c']) {
      single.receive({ type: 'RequestVoteResponse', from, to: 'a', term: 0, preVote: true, granted: false })
    }
    t.equal(single.status.role, 'follower')
  })
})

t.test('[thesis 4.2.3] a living leader', async (t) => {
  t.test(
    'is protected from candidates while its messages arrive, unless it ordered the election',
    async (t) => {
      const single = new Single()
      single.confirm(single.append({ term: 1 }))
      for (const preVote of [true, false]) {
        t.strictSame(single.receive(voteRequest({ term: 9, from: 'c', preVote })), [], 'not even answered')
      }
      t.equal(single.status.term, 1)
      single.receive(voteRequest({ term: 2, from: 'c', transfer: true }))
      t.equal(single.status.term, 2)
    },
  )

  t.test('protects itself while it leads, however long it had to wait for its votes', async (t) => {
    const single = new Single({ seed: 5 })
    while (single.status.role === 'follower') single.step({ type: 'tick' })
    const response = { type: 'RequestVoteResponse', from: 'b', to: 'a', term: 1, granted: true } as const
    const campaign = single.receive({ ...response, preVote: true })
    for (let i = 0; i < 11; i += 1) single.step({ type: 'tick' })
    single.confirm(campaign)
    single.receive({ ...response, preVote: false })
    t.equal(single.status.role, 'leader')
    t.strictSame(single.receive(voteRequest({ term: 9, from: 'c', lastLogIndex: 99, lastLogTerm: 8 })), [])
    t.equal(single.status.role, 'leader')
  })

  t.test('may be replaced when none of its messages arrived within the shortest time-out', async (t) => {
    const single = new Single({ seed: 3 })
    single.confirm(single.append({ term: 1 }))
    for (let i = 0; i < 10 && single.status.role === 'follower'; i += 1) single.step({ type: 'tick' })
    const effects = single.receive(voteRequest({ term: 2, from: 'c' }))
    t.match(sentOf(single.confirm(effects), 'RequestVoteResponse'), [{ term: 2, granted: true }])
  })

  t.test('steps down when no member answers it, though all receive its messages', async (t) => {
    const network = new TestNetwork(THREE)
    const term = network.elect('a')
    network.cut('b', 'a')
    network.cut('c', 'a')
    network.tickAll(9)
    t.equal(network.status('a').role, 'leader')
    network.tickAll(40)
    t.not(network.status('a').role, 'leader')
    const leader = network.leaders().at(-1)
    t.ok(leader === 'b' || leader === 'c', 'the others elect one of them')
    t.ok(network.status('b').term > term)
  })

  t.test('stays when one of three receives nothing from it but can send', async (t) => {
    const network = new TestNetwork(THREE)
    const term = network.elect('a')
    network.cut('a', 'c')
    network.tickAll(100)
    t.match(network.status('a'), { role: 'leader', term })
    t.equal(network.status('c').term, term)
  })

  t.test('keeps a group stable in which some members see only one other', async (t) => {
    const network = new TestNetwork(configurationOf('1', '2', '3', '4', '5'))
    const links = ['12', '13', '23', '24', '35']
    for (const a of network.nodes.keys()) {
      for (const b of network.nodes.keys()) {
        if (!links.includes(a + b) && !links.includes(b + a)) network.cut(a, b)
      }
    }
    network.tickAll(100)
    const before = [...network.leaders()].map((id) => network.status(id).term)
    network.tickAll(200)
    t.strictSame(
      [...network.leaders()].map((id) => network.status(id).term),
      before,
    )
    const [leader = ''] = network.leaders()
    network.propose(leader)
    network.tickAll(2)
    t.equal(network.checker.committedIndex, network.status(leader).lastIndex)
  })

  t.test('learns from a member of a later term that its own term is over', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    plantLog(network, 'c', [], 7)
    network.tickAll(60)
    t.ok(network.status('a').term > 7)
    const [leader] = network.leaders()
    for (const id of network.nodes.keys()) t.equal(network.status(id).leaderId, leader)
  })

  t.test('steps down after a pause, unless it is a quorum by itself', async (t) => {
    const ofThree = new Single()
    ofThree.becomeLeader()
    ofThree.step({ type: 'tickGap' })
    t.match(ofThree.status, { role: 'follower', leaderId: null })
    const alone = new Single({ configuration: configurationOf('a') })
    alone.becomeLeader()
    alone.step({ type: 'tickGap' })
    t.equal(alone.status.role, 'leader')
  })
})

t.test('[thesis 3.10] leadership transfer', async (t) => {
  t.test('makes the target lead at once, without a time-out', async (t) => {
    const network = new TestNetwork(THREE)
    const term = network.elect('a')
    network.input('a', { type: 'transferLeadership', target: 'c' })
    network.settle()
    t.match(network.status('c'), { role: 'leader', term: term + 1 })
    t.match(network.status('a'), { role: 'follower', leaderId: 'c' })
  })

  t.test('waits until the target has the whole log and refuses proposals meanwhile', async (t) => {
    const single = new Single()
    single.confirm(single.becomeLeader())
    t.strictSame(sentOf(single.step({ type: 'transferLeadership', target: 'b' }), 'TimeoutNow'), [])
    const effects = single.step({ type: 'propose', proposalId: 7, data: Uint8Array.of(1) })
    t.match(effects, [{ type: 'proposalRefused', proposalId: 7, reason: 'transferring' }])
    t.match(sentOf(single.answer('b', { index: 1 }), 'TimeoutNow'), [{ to: 'b' }])
    t.match(sentOf(single.step({ type: 'tick' }), 'TimeoutNow'), [{ to: 'b' }], 'the order may be lost')
  })

  t.test('is cancelled after one election time-out', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    network.isolate('c')
    network.input('a', { type: 'transferLeadership', target: 'c' })
    network.tickAll(9)
    t.match(network.propose('a'), [{ type: 'proposalRefused', reason: 'transferring' }])
    network.tickAll(1)
    t.equal(
      network.propose('a').some((effect) => effect.type === 'proposalAccepted'),
      true,
    )
    t.equal(network.status('a').role, 'leader')
  })

  t.test('chooses the most complete living voter when no target is named', async (t) => {
    const network = new TestNetwork({ voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] })
    network.elect('a')
    network.isolate('b')
    network.propose('a')
    network.settle()
    network.heal()
    network.input('a', { type: 'transferLeadership', target: null })
    network.settle()
    t.equal(network.status('c').role, 'leader')
  })

  t.test('is refused for learners, unknown nodes and the leader itself', async (t) => {
    const network = new TestNetwork({ voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] })
    network.elect('a')
    for (const target of ['l', 'unknown', 'a']) {
      network.input('a', { type: 'transferLeadership', target })
      t.match(
        network.propose('a').find((effect) => effect.type !== 'appendWal'),
        { type: 'proposalAccepted' },
      )
    }
  })

  t.test('is obeyed only when the order comes from the leader of the term', async (t) => {
    const single = new Single()
    single.confirm(single.append({ term: 3 }))
    single.receive({ type: 'TimeoutNow', from: 'c', to: 'a', term: 3 })
    single.receive({ type: 'TimeoutNow', from: 'b', to: 'a', term: 2 })
    t.equal(single.status.role, 'follower')
    const effects = single.receive({ type: 'TimeoutNow', from: 'b', to: 'a', term: 3 })
    t.match(sentOf(single.confirm(effects), 'RequestVote'), [{ term: 4, transfer: true, preVote: false }, {}])
  })
})
