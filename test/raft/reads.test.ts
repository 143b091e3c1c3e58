/** Linearizable reads without clocks: thesis 6.4, and known mistakes of other implementations. */
import t from 'tap'
import { TestNetwork, configurationOf } from './network.ts'
import { Single, sentOf } from './single.ts'
import type { Effect } from '../../cluster/raft/types.ts'

const THREE = configurationOf('a', 'b', 'c')

/** A leader of term 1 with its no-op committed. */
function readyLeader(): Single {
  const single = new Single()
  single.confirm(single.becomeLeader())
  single.answer('b', { index: 1 })
  return single
}

function readsOf(effects: readonly Effect[]): readonly Effect[] {
  return effects.filter((effect) => effect.type === 'readReady' || effect.type === 'readRefused')
}

function tokenOf(effects: readonly Effect[]): number {
  return sentOf(effects, 'AppendEntries').at(-1)?.readToken ?? 0
}

t.test('[thesis 6.4] a read at the leader', async (t) => {
  t.test('waits for a quorum that answered after it began', async (t) => {
    const single = readyLeader()
    const effects = single.step({ type: 'read', readId: 1 })
    t.equal(sentOf(effects, 'AppendEntries').length, 2, 'the round begins at once')
    t.strictSame(readsOf(effects), [])
    const ready = single.answer('c', { readToken: tokenOf(effects) })
    t.strictSame(readsOf(ready), [{ type: 'readReady', readId: 1, index: 1 }])
  })

  t.test('is not confirmed by an answer to something sent before it began', async (t) => {
    const single = readyLeader()
    const first = single.step({ type: 'read', readId: 1 })
    single.answer('b', { readToken: tokenOf(first) })
    const second = single.step({ type: 'read', readId: 2 })
    t.ok(tokenOf(second) > tokenOf(first), 'a token is never used again')
    t.strictSame(readsOf(single.answer('c', { readToken: tokenOf(first) })), [])
    t.strictSame(readsOf(single.answer('b', { readToken: tokenOf(first) })), [])
    t.match(readsOf(single.answer('b', { readToken: tokenOf(second) })), [{ readId: 2 }])
  })

  t.test('shares its round only with reads that began before the round', async (t) => {
    const single = readyLeader()
    const first = single.step({ type: 'read', readId: 1 })
    for (const readId of [2, 3])
      t.strictSame(sentOf(single.step({ type: 'read', readId }), 'AppendEntries'), [])
    const confirmed = single.answer('b', { readToken: tokenOf(first) })
    t.match(readsOf(confirmed), [{ type: 'readReady', readId: 1 }])
    t.match(readsOf(single.answer('b', { readToken: tokenOf(confirmed) })), [{ readId: 2 }, { readId: 3 }])
  })

  t.test('sees every commit known when its round began', async (t) => {
    const single = readyLeader()
    single.confirm(single.step({ type: 'propose', proposalId: 1, data: Uint8Array.of(1) }))
    single.answer('b', { index: 2 })
    const effects = single.step({ type: 'read', readId: 1 })
    t.match(readsOf(single.answer('b', { readToken: tokenOf(effects) })), [{ readId: 1, index: 2 }])
  })

  t.test("waits until an entry of the leader's own term is committed", async (t) => {
    const single = new Single({ terms: [1, 1], appliedIndex: 1 })
    single.confirm(single.becomeLeader())
    const early = single.step({ type: 'read', readId: 1 })
    t.strictSame(readsOf(early), [])
    t.strictSame(readsOf(single.answer('b', { index: 2, readToken: 0 })), [])
    const committed = single.answer('b', { index: 3 })
    t.match(readsOf(single.answer('c', { readToken: tokenOf(committed) })), [{ readId: 1, index: 3 }])
  })

  t.test('is refused when the leader steps down, and when too many wait', async (t) => {
    const single = readyLeader()
    for (let readId = 1; readId <= 3; readId += 1) single.step({ type: 'read', readId })
    t.match(
      readsOf(single.step({ type: 'tickGap' })),
      [1, 2, 3].map((readId) => ({ type: 'readRefused', readId })),
    )
    const flooded = readyLeader()
    let refused = 0
    for (let readId = 0; readId < 6000; readId += 1)
      refused += readsOf(flooded.step({ type: 'read', readId })).length
    t.ok(refused > 0)
  })

  t.test('needs no other member when the leader is a quorum by itself', async (t) => {
    const single = new Single({ configuration: { voters: ['a'], learners: ['l'], outgoing: [] } })
    const opened = single.becomeLeader()
    t.strictSame(readsOf(single.step({ type: 'read', readId: 1 })), [], 'not before its no-op is committed')
    t.match(readsOf(single.confirm(opened)), [{ type: 'readReady', readId: 1, index: 1 }])
    t.match(readsOf(single.step({ type: 'read', readId: 2 })), [{ type: 'readReady', readId: 2, index: 1 }])
  })

  t.test('is not confirmed by learners', async (t) => {
    const single = new Single({ configuration: { voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] } })
    single.confirm(single.becomeLeader())
    single.answer('b', { index: 1 })
    const effects = single.step({ type: 'read', readId: 1 })
    t.strictSame(readsOf(single.answer('l', { readToken: tokenOf(effects) })), [])
    t.match(readsOf(single.answer('c', { readToken: tokenOf(effects) })), [{ readId: 1 }])
  })

  t.test('at a deposed leader is never answered', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    network.isolate('a')
    network.tickAll(5)
    network.takeEffects('a')
    network.read('a')
    network.elect('b')
    network.propose('b')
    network.settle()
    network.heal()
    network.tickAll(30)
    t.match(readsOf(network.takeEffects('a')), [{ type: 'readRefused' }])
  })
})

t.test('[thesis 6.4] a question of a follower', async (t) => {
  const ask = (single: Single, from: string): readonly Effect[] =>
    single.receive({ type: 'ReadIndex', from, to: 'a', term: single.status.term, requestId: 9 })
  const FIVE = configurationOf('a', 'b', 'c', 'd', 'e')

  t.test('is answered at once where leader and requester are a quorum, without a round', async (t) => {
    const single = readyLeader()
    const effects = ask(single, 'c')
    t.match(sentOf(effects, 'ReadIndexResponse'), [{ to: 'c', requestId: 9, index: 1 }])
    t.strictSame(sentOf(effects, 'AppendEntries'), [], 'no other member is asked')
  })

  t.test("waits until an entry of the leader's own term is committed", async (t) => {
    const single = new Single({ terms: [1, 1], appliedIndex: 1 })
    single.confirm(single.becomeLeader())
    t.strictSame(sentOf(ask(single, 'b'), 'ReadIndexResponse'), [])
    const committed = single.answer('b', { index: 3 })
    const reported = single.answer('c', { readToken: tokenOf(committed) })
    t.match(sentOf(reported, 'ReadIndexResponse'), [{ to: 'b', requestId: 9, index: 3 }])
  })

  t.test('waits for a round where more members are needed for a quorum', async (t) => {
    const single = new Single({ configuration: FIVE })
    single.confirm(single.becomeLeader())
    for (const from of ['b', 'c']) single.answer(from, { index: 1 })
    const effects = ask(single, 'b')
    t.strictSame(sentOf(effects, 'ReadIndexResponse'), [])
    single.answer('c', { readToken: tokenOf(effects) })
    const reported = single.answer('d', { readToken: tokenOf(effects) })
    t.match(sentOf(reported, 'ReadIndexResponse'), [{ to: 'b', index: 1 }])
  })

  t.test('at the small side of a partition gets no index while the large side commits', async (t) => {
    const network = new TestNetwork(FIVE)
    network.elect('a')
    for (const small of ['a', 'b']) {
      for (const large of ['c', 'd', 'e']) {
        network.cut(small, large)
        network.cut(large, small)
      }
    }
    // The clocks of the small side have stopped: its members have noticed nothing.
    for (let i = 0; i < 200 && network.leaders().length < 2; i += 1) {
      for (const id of i % 4 === 0 ? ['c', 'd', 'e'] : ['c']) network.input(id, { type: 'tick' })
      network.settle()
    }
    const [old, next = ''] = network.leaders()
    t.equal(old, 'a', 'the old leader believes that it still leads')
    network.propose(next)
    network.settle()
    network.takeEffects('b')
    network.read('b')
    network.settle()
    t.strictSame(readsOf(network.takeEffects('b')), [])
  })

  t.test(
    'does not count for a quorum when it comes from a learner, or from one half of a joint change',
    async (t) => {
      const withLearner = new Single({
        configuration: { voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] },
      })
      withLearner.confirm(withLearner.becomeLeader())
      withLearner.answer('b', { index: 1 })
      t.strictSame(sentOf(ask(withLearner, 'l'), 'ReadIndexResponse'), [])
      const joint = new Single({ configuration: { voters: ['a', 'd', 'e'], learners: [], outgoing: [] } })
      joint.confirm(joint.becomeLeader())
      joint.answer('d', { index: 1 })
      const configuration = { voters: ['a', 'b', 'c'], learners: [] }
      joint.step({ type: 'changeConfiguration', proposalId: 1, configuration, expectedIndex: 0 })
      t.strictSame(joint.status.configuration.outgoing, ['a', 'd', 'e'])
      t.strictSame(sentOf(ask(joint, 'b'), 'ReadIndexResponse'), [])
    },
  )
})

t.test('[thesis 6.4] a read at a follower', async (t) => {
  t.test('gets its index from the leader', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    network.propose('a')
    network.settle()
    const readId = network.read('b')
    network.settle()
    t.match(readsOf(network.takeEffects('b')), [{ type: 'readReady', readId, index: 2 }])
  })

  t.test('is refused without a leader, and when the leader changes', async (t) => {
    const single = new Single()
    t.match(readsOf(single.step({ type: 'read', readId: 1 })), [{ type: 'readRefused', readId: 1 }])
    single.confirm(single.append({ term: 1 }))
    t.match(sentOf(single.step({ type: 'read', readId: 2 }), 'ReadIndex'), [{ to: 'b' }])
    t.match(readsOf(single.append({ term: 2, from: 'c' })), [{ type: 'readRefused', readId: 2 }])
  })

  t.test('is asked for again when no answer comes, and refused after an election time-out', async (t) => {
    const single = new Single({ seed: 5 })
    single.confirm(single.append({ term: 1 }))
    const [question] = sentOf(single.step({ type: 'read', readId: 1 }), 'ReadIndex')
    const again: unknown[] = []
    const answers: Effect[] = []
    for (let i = 0; i < 12; i += 1) {
      const effects = [...single.step({ type: 'tick' }), ...single.append({ term: 1 })]
      again.push(...sentOf(effects, 'ReadIndex'))
      answers.push(...readsOf(effects))
    }
    t.ok(again.length >= 2)
    for (const message of again) t.strictSame(message, question)
    t.match(answers, [{ type: 'readRefused', readId: 1 }])
  })

  t.test(
    'takes no answer to another question: neither the next one, nor one of an earlier process',
    async (t) => {
      const requestIds = [1, 2].map((seed) => {
        const single = new Single({ seed })
        single.confirm(single.append({ term: 1 }))
        const [first] = sentOf(single.step({ type: 'read', readId: 1 }), 'ReadIndex')
        single.step({ type: 'read', readId: 2 })
        const response = { type: 'ReadIndexResponse', from: 'b', to: 'a', term: 1, index: 1 } as const
        t.strictSame(readsOf(single.receive({ ...response, requestId: 77 })), [])
        const answered = single.receive({ ...response, requestId: first?.requestId ?? -1 })
        t.match(readsOf(answered), [{ type: 'readReady', readId: 1, index: 1 }])
        t.not(
          sentOf(answered, 'ReadIndex')[0]?.requestId,
          first?.requestId,
          'the next question has another id',
        )
        t.strictSame(readsOf(single.receive({ ...response, requestId: first?.requestId ?? -1 })), [])
        return first?.requestId
      })
      t.not(requestIds[0], requestIds[1], 'another process begins with another id')
    },
  )

  t.test('is refused when the leader cannot answer now', async (t) => {
    const single = new Single()
    single.confirm(single.append({ term: 1 }))
    const [question] = sentOf(single.step({ type: 'read', readId: 1 }), 'ReadIndex')
    const requestId = question?.requestId ?? -1
    const refused = {
      type: 'ReadIndexResponse',
      from: 'b',
      to: 'a',
      term: 1,
      requestId,
      index: null,
    } as const
    t.match(readsOf(single.receive(refused)), [{ type: 'readRefused', readId: 1 }])
    const asked = single.receive({ type: 'ReadIndex', from: 'c', to: 'a', term: 1, requestId: 9 })
    t.match(sentOf(asked, 'ReadIndexResponse'), [{ to: 'c', requestId: 9, index: null }])
  })
})
