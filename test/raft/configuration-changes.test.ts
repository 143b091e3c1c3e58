/** Changing the members: thesis chapter 4, from the operator's request to the last committed entry. */
import t from 'tap'
import { TestNetwork, configurationOf } from './network.ts'
import { Single, sentOf } from './single.ts'
import { encodeConfiguration } from '../../cluster/raft/configuration.ts'
import type { Effect, Entry } from '../../cluster/raft/types.ts'

const THREE = configurationOf('a', 'b', 'c')

function refusalsOf(effects: readonly Effect[]): readonly string[] {
  return effects.flatMap((effect) => (effect.type === 'proposalRefused' ? [effect.reason] : []))
}

function elected(spares: readonly string[] = [], voters = THREE): TestNetwork {
  const network = new TestNetwork(voters, { spares })
  network.elect('a')
  return network
}

t.test('changeConfiguration', async (t) => {
  t.test('[thesis 4.1] moves one vote in one step, in force as soon as it is appended', async (t) => {
    const network = elected(['d'])
    network.configure('a', { voters: ['a', 'b', 'c', 'd'] })
    t.match(network.status('a'), {
      configuration: { voters: ['a', 'b', 'c', 'd'], outgoing: [] },
      configurationIndex: 2,
      commitIndex: 1,
    })
    network.settle()
    t.match(network.status('d'), { appliedIndex: 2, leaderId: 'a' })
  })

  t.test('[thesis 4.3] goes through a joint configuration when more votes move, and leaves it', async (t) => {
    const network = elected(['d', 'e'])
    network.configure('a', { voters: ['a', 'd', 'e'], learners: ['b'] })
    t.match(network.status('a').configuration, {
      voters: ['a', 'd', 'e'],
      outgoing: ['a', 'b', 'c'],
      learners: ['b'],
    })
    network.settle()
    t.match(network.status('e'), {
      configuration: { voters: ['a', 'd', 'e'], outgoing: [], learners: ['b'] },
      configurationIndex: 3,
      appliedIndex: 3,
    })
  })

  t.test('is refused by a member that does not lead, or cannot know yet what is committed', async (t) => {
    const input = {
      type: 'changeConfiguration',
      proposalId: 1,
      configuration: configurationOf('a'),
      expectedIndex: null,
    } as const
    t.strictSame(refusalsOf(new Single().step(input)), ['notLeader'])
    const fresh = new Single()
    fresh.confirm(fresh.becomeLeader())
    t.strictSame(
      refusalsOf(fresh.step(input)),
      ['leaderNotReady'],
      '[raft-dev 2015] before the own-term commit',
    )
    fresh.answer('b', { index: 1 })
    fresh.step({ type: 'transferLeadership', target: 'c' })
    t.strictSame(refusalsOf(fresh.step(input)), ['transferring'])
  })

  t.test('is refused while the previous change is under way', async (t) => {
    const network = elected(['d', 'e'])
    network.configure('a', { voters: ['a', 'b', 'c', 'd'] })
    t.strictSame(refusalsOf(network.configure('a', { voters: ['a', 'b'] })), ['configurationPending'])
    network.settle()
    network.configure('a', { voters: ['a', 'b', 'e'] })
    t.strictSame(refusalsOf(network.configure('a', { voters: ['a', 'b'] })), ['configurationPending'])
  })

  t.test(
    'is refused when nothing would change, when no member would vote, and when names are wrong',
    async (t) => {
      const network = elected()
      const reason = (voters: readonly string[], learners: readonly string[] = []) =>
        refusalsOf(network.configure('a', { voters, learners }))
      t.strictSame(reason(['c', 'b', 'a']), ['configurationUnchanged'])
      t.strictSame(reason([]), ['configurationInvalid'])
      t.strictSame(reason(['a', 'a', 'b']), ['configurationInvalid'])
      t.strictSame(reason(['a', 'b', 'c'], ['c']), ['configurationInvalid'])
      t.strictSame(reason(['a', 'b', '']), ['configurationInvalid'])
      const crowd = Array.from({ length: 62 }, (_, i) => `l${i}`)
      t.strictSame(reason(['a', 'b', 'c'], crowd), ['configurationInvalid'])
      t.equal(network.status('a').lastIndex, 1, 'a refusal appends nothing')
    },
  )

  t.test('is refused when it was meant for another configuration', async (t) => {
    const network = elected(['d'])
    t.strictSame(refusalsOf(network.configure('a', { voters: ['a', 'b', 'c', 'd'] }, 0)), [])
    network.settle()
    t.strictSame(refusalsOf(network.configure('a', { voters: ['a', 'b', 'c'] }, 0)), ['configurationChanged'])
    t.strictSame(refusalsOf(network.configure('a', { voters: ['a', 'b', 'c'] }, 2)), [])
  })
})

t.test('[thesis 4.2.2] a leader outside of the new configuration', async (t) => {
  t.test(
    'leads until that is committed, without counting itself, and has its successor elected',
    async (t) => {
      const network = elected()
      network.isolate('c')
      network.configure('a', { voters: ['b', 'c'] })
      network.settle()
      t.match(network.status('a'), { role: 'leader', commitIndex: 1 }, 'b is not a majority of b and c')
      network.heal()
      network.tickAll(3)
      t.equal(network.status('a').role, 'follower')
      t.equal(network.leaders().length, 1)
      t.match(network.status(network.leaders()[0] ?? ''), { term: 2, configuration: { voters: ['b', 'c'] } })
    },
  )

  t.test('stays a follower that never campaigns', async (t) => {
    const network = elected()
    network.configure('a', { voters: ['b', 'c'] })
    network.settle()
    network.tickAll(3)
    const { term } = network.status('a')
    network.isolate('a')
    for (let i = 0; i < 100; i += 1) network.input('a', { type: 'tick' })
    t.match(network.status('a'), { role: 'follower', term })
  })
})

t.test('[thesis 4.2.2] a voter outside of its latest configuration', async (t) => {
  const removal: readonly Entry[] = [
    { index: 1, term: 1, kind: 'noop', data: new Uint8Array(0) },
    { index: 2, term: 1, kind: 'configuration', data: encodeConfiguration(configurationOf('b', 'c')) },
  ]

  t.test('still campaigns while that is uncommitted: it may hold the only log that can win', async (t) => {
    const single = new Single({ entries: removal, appliedIndex: 1 })
    single.confirm(single.becomeLeader())
    single.answer('b', { index: 3 })
    t.equal(single.status.commitIndex, 1, 'its own vote and its own copy do not count')
    single.answer('c', { index: 3 })
    t.match(
      single.status,
      { role: 'follower', commitIndex: 3 },
      'it steps down as soon as its removal is committed',
    )
  })

  t.test('campaigns no more once it knows that to be committed', async (t) => {
    const single = new Single({ entries: removal })
    single.append({ term: 1, prevLogIndex: 2, prevLogTerm: 1, leaderCommit: 2 })
    for (let i = 0; i < 100; i += 1) single.step({ type: 'tick' })
    t.equal(single.status.role, 'follower')
  })
})

t.test('a removed peer', async (t) => {
  t.test('is sent the log until it knows that it was removed, and then no more', async (t) => {
    const network = elected()
    network.configure('a', { voters: ['a', 'b'] })
    network.settle()
    t.match(network.status('c'), { configuration: { voters: ['a', 'b'] }, commitIndex: 2 })
    network.tickAll()
    t.strictSame(
      network.status('a').peers.map(({ nodeId }) => nodeId),
      ['b'],
    )
  })

  t.test('is dropped after an election time-out when it cannot be reached', async (t) => {
    const network = elected()
    network.isolate('c')
    network.configure('a', { voters: ['a', 'b'] })
    network.settle()
    network.tickAll(9)
    t.equal(network.status('a').peers.length, 2)
    network.tickAll(1)
    t.equal(network.status('a').peers.length, 1)
  })

  t.test('does not disturb the group when it returns without knowing', async (t) => {
    const network = elected()
    network.isolate('c')
    network.configure('a', { voters: ['a', 'b'] })
    network.tickAll(40)
    network.heal()
    network.tickAll(40)
    t.match(network.status('a'), { role: 'leader', term: 1 })
  })
})

t.test('[thesis 4.3] a joint configuration', async (t) => {
  t.test('is left by a leader that did not start it', async (t) => {
    const network = elected(['d', 'e'])
    for (const id of ['b', 'd', 'e']) network.cut(id, 'a')
    network.configure('a', { voters: ['c', 'd', 'e'] })
    network.settle()
    t.match(network.status('c').configuration, { outgoing: ['a', 'b', 'c'] })
    network.crash('a')
    network.heal()
    network.elect('c')
    network.tickAll(3)
    t.match(network.status('c').configuration, { voters: ['c', 'd', 'e'], outgoing: [] })
    t.match(network.status('e').configuration, { voters: ['c', 'd', 'e'], outgoing: [] })
  })

  t.test('is not left during a transfer of leadership: the log must not grow then', async (t) => {
    const single = new Single()
    single.confirm(single.becomeLeader())
    single.answer('b', { index: 1 })
    const configuration = { voters: ['a', 'd', 'e'], learners: [] }
    single.confirm(
      single.step({ type: 'changeConfiguration', proposalId: 1, configuration, expectedIndex: null }),
    )
    single.step({ type: 'transferLeadership', target: 'd' })
    for (const from of ['b', 'd']) single.answer(from, { index: 2 })
    t.match(single.status, { commitIndex: 2, lastIndex: 2, configuration: { outgoing: ['a', 'b', 'c'] } })
    let effects: readonly Effect[] = []
    for (let i = 0; i < 10; i += 1) {
      for (const from of ['b', 'd']) single.answer(from, { index: 2 })
      effects = single.step({ type: 'tick' })
    }
    t.match(
      single.status,
      { lastIndex: 3, configuration: { outgoing: [] } },
      'it continues after the transfer is cancelled',
    )
    t.ok(sentOf(effects, 'AppendEntries').length > 0)
  })
})
