/** A peer whose disk has lost entries that it acknowledged, and claims of peers that cannot be true. */
import t from 'tap'
import { LogImage } from './test-node.ts'
import { TestNetwork, configurationOf, logOfTerms } from './network.ts'
import { Single, sentOf } from './single.ts'

const THREE = configurationOf('a', 'b', 'c')

/** A leader of term 1 with four entries, all acknowledged by b. */
function leaderOfFour(): Single {
  const single = new Single()
  single.confirm(single.becomeLeader())
  for (let i = 0; i < 3; i += 1)
    single.confirm(single.step({ type: 'propose', proposalId: i, data: new Uint8Array(4) }))
  single.answer('b', { index: 4 })
  return single
}

t.test('a rejection below what was acknowledged', async (t) => {
  t.test('is proof when it answers a later append: the missing entries are sent', async (t) => {
    const single = leaderOfFour()
    t.equal(single.status.commitIndex, 4)
    const early = single.answer('b', { success: false, index: 4, hintIndex: 2, hintTerm: 1 })
    t.strictSame(early, [], 'it may be older than the acknowledgement')
    const [question] = sentOf(single.step({ type: 'tick' }), 'AppendEntries')
    t.match(question, { to: 'b', prevLogIndex: 4, readToken: 1 })
    const proof = { success: false, index: 4, hintIndex: 2, hintTerm: 1, readToken: 1 }
    const effects = single.answer('b', proof)
    t.match(effects, [{ type: 'peerForgot', peer: 'b', acknowledged: 4 }, { type: 'send' }])
    t.match(sentOf(effects, 'AppendEntries'), [{ to: 'b', prevLogIndex: 2 }])
    t.equal(sentOf(effects, 'AppendEntries')[0]?.entries.length, 2)
    t.match(single.status.peers[0], { nodeId: 'b', matchIndex: 0, hasForgotten: true })
    t.same(single.status.suspects, [{ nodeId: 'b', doubt: 'rolledBack' }])
    t.equal(single.status.commitIndex, 4, 'committed entries stay committed')
    single.answer('b', { index: 4, readToken: 1 })
    t.match(single.status.peers[0], { matchIndex: 4, hasForgotten: false })
    t.same(single.status.suspects, [])
  })

  t.test('changes nothing when it is late, duplicated or overtaken by an acknowledgement', async (t) => {
    const single = leaderOfFour()
    const late = { success: false, index: 4, hintIndex: 2, hintTerm: 1 } as const
    for (let i = 0; i < 3; i += 1) single.answer('b', late)
    single.step({ type: 'tick' })
    single.answer('b', late)
    t.match(single.status.peers[0], { matchIndex: 4, hasForgotten: false })
    single.confirm(single.step({ type: 'propose', proposalId: 9, data: new Uint8Array(4) }))
    single.answer('b', { index: 5, readToken: 1 })
    single.answer('b', { ...late, readToken: 1 })
    t.match(single.status.peers[0], { matchIndex: 5, hasForgotten: false }, 'the question is closed by news')
  })

  t.test('of a process on a rolled-back disk ends with equal logs under the same leader', async (t) => {
    const network = new TestNetwork(THREE, { disksForget: true })
    network.elect('a')
    const b = network.node('b')
    network.propose('a')
    network.settle()
    const [disk, machine] = [b.disk.copy(), { ...b.machine, keys: [...b.machine.keys] }]
    for (let i = 0; i < 5; i += 1) network.propose('a')
    network.settle()
    network.crash('b')
    b.disk = disk
    b.machine = machine
    network.restart('b')
    network.tickAll(20)
    t.match(network.status('a'), { role: 'leader', term: 1, commitIndex: 7 })
    t.match(network.status('b'), { lastIndex: 7, appliedIndex: 7 })
    network.checker.compareLogs()
  })

  t.test('of a peer whose log ends below the base of the leader ends with a snapshot', async (t) => {
    const network = new TestNetwork(THREE, { disksForget: true })
    network.elect('a')
    for (let i = 0; i < 5; i += 1) network.propose('a')
    network.settle()
    const b = network.node('b')
    network.crash('b')
    b.disk = new LogImage()
    b.disk.hardState = { currentTerm: 1, votedFor: 'a' }
    b.machine = { index: 0, term: 0, configuration: THREE, configurationIndex: 0, keys: [] }
    network.restart('b')
    network.compact('a', 6)
    network.tickAll(40)
    t.match(network.status('b'), { lastIndex: 6, appliedIndex: 6 })
  })
})

t.test(
  'two voters in doubt elect a leader although the third, made a learner, holds more than they',
  async (t) => {
    const network = new TestNetwork(THREE, { disksForget: true })
    network.elect('a')
    network.settle()
    /** Everything but apply, which only c does. */
    const spread = (): void => {
      for (let rounds = 0; rounds < 8; rounds += 1) {
        for (const message of network.messages.splice(0)) network.deliver(message)
        for (const { id, walQueue } of network.nodes.values())
          while (walQueue.length > 0) network.confirmWal(id)
      }
      while (network.node('c').applyQueue.length > 0) network.apply('c')
    }
    network.configure('a', { voters: ['a', 'b'], learners: ['c'] })
    spread()
    const a = network.node('a')
    const image = a.image()
    network.cut('a', 'b')
    network.propose('a')
    spread()
    t.match(network.status('c'), { commitIndex: 2, lastIndex: 3 })
    network.crash('a')
    network.crash('b')
    a.restore(image)
    network.checker.restored(a)
    for (const id of ['a', 'b']) {
      network.node(id).trust = 'suspect'
      network.restart(id)
      t.equal(network.status(id).commitIndex, 1, 'that the change is committed is not on its disk')
    }
    network.heal()
    network.tickAll(60)
    t.equal(network.leaders().length, 1)
    network.checker.compareLogs()
  },
)

t.test('a commit that a voter reports counts where the own log holds that entry', async (t) => {
  const single = new Single()
  single.append({ term: 1, entries: logOfTerms(1, 1, 1) })
  const answer = { type: 'RequestVoteResponse', from: 'c', to: 'a', preVote: true, granted: false } as const
  single.receive({ ...answer, term: 1, committed: { index: 2, term: 7 } })
  t.equal(single.status.commitIndex, 0, 'another entry')
  single.receive({ ...answer, term: 1, committed: { index: 4, term: 1 } })
  t.equal(single.status.commitIndex, 0, 'beyond the log')
  single.receive({ ...answer, term: 0, committed: { index: 2, term: 1 } })
  t.equal(single.status.commitIndex, 2, 'in any term of the voter')
  single.receive({ ...answer, term: 1, committed: { index: 1, term: 1 } })
  t.equal(single.status.commitIndex, 2)
})

t.test('a claim of a peer that cannot be true', async (t) => {
  t.test('does not end the leader: an acknowledgement beyond its log', async (t) => {
    const single = leaderOfFour()
    const effects = single.answer('c', { index: 9 })
    t.match(effects, [{ type: 'peerDoubted', peer: 'c', claim: 'acknowledges_beyond_log' }])
    t.match(single.status.peers[1], { nodeId: 'c', matchIndex: 0 })
  })

  t.test('does not end the leader: a read token that it never made', async (t) => {
    const single = leaderOfFour()
    const effects = single.answer('c', { index: 1, readToken: 7 })
    t.match(effects, [{ type: 'peerDoubted', peer: 'c', claim: 'echoes_unknown_token' }])
  })

  t.test('does not end a follower: entries with a gap', async (t) => {
    const single = new Single()
    const effects = single.append({ term: 1, entries: logOfTerms(1, 1, 1).slice(1) })
    t.match(effects.at(-1), { type: 'peerDoubted', peer: 'b', claim: 'entries_with_gap' })
    t.equal(single.status.lastIndex, 0)
  })
})

t.test('a peer whose disk is in doubt', async (t) => {
  t.test('does not commit with only the leader', async (t) => {
    const single = new Single()
    single.confirm(single.becomeLeader())
    single.answer('b', { index: 1, doubt: 'suspect' })
    t.equal(single.status.commitIndex, 0)
    single.answer('c', { index: 1 })
    t.equal(single.status.commitIndex, 1, 'two that are proved do')
  })

  t.test('commits together with all others', async (t) => {
    const single = new Single()
    single.confirm(single.becomeLeader())
    single.answer('b', { index: 1, doubt: 'rolledBack' })
    single.answer('c', { index: 1, doubt: 'suspect' })
    t.equal(single.status.commitIndex, 1)
  })

  t.test('commits with the others what follows a new configuration, without a further answer', async (t) => {
    const single = new Single({ configuration: configurationOf('a', 'b', 'c', 'd') })
    single.confirm(single.becomeLeader())
    for (const from of ['b', 'c', 'd']) single.answer(from, { index: 1 })
    const change = { configuration: { voters: ['a', 'b', 'c'], learners: [] }, expectedIndex: null }
    single.confirm(single.step({ type: 'changeConfiguration', proposalId: 1, ...change }))
    single.confirm(single.step({ type: 'propose', proposalId: 2, data: new Uint8Array(4) }))
    single.answer('b', { index: 3, doubt: 'suspect' })
    single.answer('c', { index: 3, doubt: 'rolledBack' })
    t.equal(single.status.commitIndex, 1, 'd has not agreed to the configuration without it')
    single.answer('d', { index: 2 })
    t.equal(single.status.commitIndex, 3)
  })

  t.test('counts again when it reports that its disk is proved', async (t) => {
    const single = new Single()
    single.confirm(single.becomeLeader())
    single.answer('b', { index: 1, doubt: 'suspect' })
    single.answer('b', { index: 1 })
    t.equal(single.status.commitIndex, 1)
  })

  t.test('confirms no read with only the leader', async (t) => {
    const single = leaderOfFour()
    single.step({ type: 'read', readId: 7 })
    const withSuspect = single.answer('b', { index: 4, readToken: 1, doubt: 'suspect' })
    t.notOk(withSuspect.some(({ type }) => type === 'readReady'))
    const asked = single.receive({
      type: 'ReadIndex',
      from: 'b',
      to: 'a',
      term: 1,
      requestId: 3,
      doubt: 'suspect',
    })
    t.strictSame(sentOf(asked, 'ReadIndexResponse'), [])
    const confirmed = single.answer('c', { index: 4, readToken: 1 })
    t.ok(confirmed.some(({ type }) => type === 'readReady'))
  })
})
