/** The driver of membership operations over a real store and a group that follows orders: any leader continues where the last one was. */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { longOperationView } from '../../src/api/admin/operation-view.ts'
import { commonChecksum, isCaughtUp } from '../../src/workers/readiness.ts'
import { Bench } from '../helpers/membership-bench.ts'
import { fresh, putChunks } from '../state-machine/map-world.ts'
import { start } from '../state-machine/member-commands.ts'

t.test(
  'a newcomer gets its vote after it has kept up for a while, without a gap [membership.join.ready]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('join', 'n4'))
    bench.lag = 10_000
    for (let n = 0; n < 70; n++) await bench.round()
    t.match(bench.operation('op-join-n4'), { cursor: 'catchUp', phase: 'stalled: it cannot catch up' })
    bench.lag = 3
    for (let n = 0; n < 8; n++) await bench.round()
    bench.lag = 300
    await bench.round()
    bench.lag = 0
    for (let n = 0; n < 10; n++) await bench.round()
    t.same(bench.orders, ['n1 n2 n3 | n4'], 'a gap restarts the wait')
    await bench.round()
    t.same(bench.orders, ['n1 n2 n3 | n4', 'n1 n2 n3 n4 | '])
    t.match(bench.operation('op-join-n4'), { status: 'succeeded' })
    t.equal(bench.phase('n4'), 'active')
  },
)

t.test(
  'state_checksum_mismatch: a state that differs never gets a vote, and may be sent away [membership.join.stalled]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('join', 'n4'))
    bench.checksum = 'another'
    for (let n = 0; n < 30; n++) await bench.round()
    const stalled = bench.operation('op-join-n4')
    t.match(stalled, { cursor: 'catchUp', phase: 'stalled: state_checksum_mismatch' })
    t.same(bench.voters, ['n1', 'n2', 'n3'])
    const reported = longOperationView(stalled, 0)
    t.match(reported, {
      status: 'running',
      blockers: [{ code: 'state_checksum_mismatch', message: /"n4" gets no vote.*cancel this operation/ }],
      error: /its state differs/,
    })
    const cancel = { type: 'setOperationStatus', action: 'cancel', error: null } as const
    await bench.world.do({ ...cancel, operationId: 'op-join-n4' })
    await bench.round()
    t.same([bench.learners, bench.phase('n4')], [[], undefined])
    t.match(longOperationView(bench.operation('op-join-n4'), 0), { status: 'cancelled', error: /differs/ })
    bench.checksum = 'equal'
    await bench.world.do(start('join', 'n4', { id: 'again' }))
    for (let n = 0; n < 30; n++) await bench.round()
    t.match(longOperationView(bench.operation('again'), 0), {
      status: 'succeeded',
      blockers: [],
      error: null,
    })
  },
)

t.test('a blocker goes with what it was about', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.lag = 10_000
  for (let n = 0; n < 70; n++) await bench.round()
  t.match(longOperationView(bench.operation('op-join-n4'), 0), {
    blockers: [{ code: 'learner_not_ready', message: /"n4" gets no vote: for 60 s.*256 entries and 1 MiB/ }],
  })
  bench.lag = 0
  await bench.round()
  t.match(longOperationView(bench.operation('op-join-n4'), 0), {
    phase: 'keeping up',
    blockers: [],
    error: null,
  })
  bench.isSilent = true
  for (let n = 0; n < 15; n++) await bench.round()
  t.match(longOperationView(bench.operation('op-join-n4'), 0), {
    blockers: [{ code: 'learner_not_ready', message: /does not report its state/ }],
  })
})

t.test(
  'a newcomer that was emptied after it was asked to join never gets the vote of the other',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('join', 'n4'))
    bench.life = 'second life'
    for (let n = 0; n < 30; n++) await bench.round()
    t.match(bench.operation('op-join-n4'), { cursor: 'catchUp', phase: /not the data directory/ })
    t.same(bench.voters, ['n1', 'n2', 'n3'])
  },
)

t.test('a cancelled newcomer leaves the configuration before its row goes', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  await bench.round()
  t.same(bench.learners, ['n4'])
  const cancel = {
    type: 'setOperationStatus',
    operationId: 'op-join-n4',
    action: 'cancel',
    error: null,
  } as const
  await bench.world.do(cancel)
  await bench.round()
  t.same([bench.learners, bench.phase('n4')], [[], undefined])
})

t.test(
  'a leader that is demoted hands over first, and the next one continues [membership.demote]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('demote', 'n1'))
    await bench.round()
    t.same(bench.orders, ['transfer'])
    t.match(bench.operation('op-demote-n1'), { cursor: 'demote' })
    bench.jobRunner = true
    bench.nextLeader('n2')
    await bench.round()
    t.same([bench.voters, bench.learners], [['n2', 'n3'], ['n1']])
    t.match(bench.operation('op-demote-n1'), { status: 'succeeded' })
    t.equal(bench.phase('n1'), 'drained')
  },
)

t.test(
  'a replacement is one change of votes, and each leader of its way knows what is done already [membership.resume]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('replace', 'n3', { newcomer: 'n4' }))
    for (let n = 0; n < 40 && bench.operation('op-replace-n3').status === 'running'; n++) {
      bench.nextLeader(n % 2 === 0 ? 'n1' : 'n2')
      for (let rounds = 0; rounds < 12; rounds++) await bench.round()
    }
    t.same(bench.orders, ['n1 n2 n3 | n4', 'n1 n2 n4 | n3', 'n1 n2 n4 | '])
    t.match(bench.operation('op-replace-n3'), { status: 'succeeded' })
    t.equal(bench.phase('n3'), undefined)
  },
)

t.test(
  'what is owed to who is replaced is owed to who came, also by a leader that has not followed',
  async (t) => {
    const bench = await Bench.start(t)
    const { world } = bench
    await world.do(putChunks('k', [fresh('c1', { missing: ['n3'] })]))
    await world.do(start('replace', 'n3', { newcomer: 'n4' }))
    bench.followed = ['n1', 'n2', 'n3']
    for (let n = 0; n < 20; n++) await bench.round()
    t.match(world.store.reader.get(chunkKeys.chunk('acme', 'c1')), {
      replicas: ['n1', 'n2'],
      owed: ['n4'],
    })
  },
)

t.test('lost: the configuration continues without it, and its name never comes back', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('lost', 'n3'))
  await bench.round()
  t.same(bench.orders, ['n1 n2 | '])
  t.match(bench.operation('op-lost-n3'), { status: 'succeeded' })
  await bench.world.do(start('remove', 'n3'))
  await bench.round()
  t.equal(bench.phase('n3'), undefined)
  t.same(bench.orders, ['n1 n2 | '], 'it was outside already')
})

t.test('a member that leaves is known until the downloads that it serves have ended', async (t) => {
  const leaving = async (): Promise<Bench> => {
    const bench = await Bench.start(t)
    await bench.world.do(start('demote', 'n3'))
    for (let n = 0; n < 6; n++) await bench.round()
    t.equal(bench.phase('n3'), 'drained')
    await bench.world.do(start('remove', 'n3'))
    return bench
  }

  await t.test('it begins no more of them, and no member refuses it', async (t) => {
    const bench = await leaving()
    bench.downloads = 2
    for (let n = 0; n < 5; n++) await bench.round()
    t.same([bench.voters, bench.learners], [['n1', 'n2'], []])
    t.match(bench.operation('op-remove-n3'), { cursor: 'exclude', phase: 'waiting for its downloads' })
    t.equal(bench.phase('n3'), 'drained')
    bench.downloads = 0
    await bench.round()
    t.match(bench.operation('op-remove-n3'), { status: 'succeeded' })
    t.equal(bench.phase('n3'), undefined)
  })

  await t.test('not while it may begin another one', async (t) => {
    const bench = await leaving()
    bench.lingering = ['n3']
    await bench.round()
    t.match(bench.operation('op-remove-n3'), { cursor: 'exclude' })
    bench.lingering = []
    await bench.round()
    t.match(bench.operation('op-remove-n3'), { status: 'succeeded' })
  })

  await t.test('not for longer than 30 s, and not when it does not answer', async (t) => {
    const bench = await leaving()
    bench.downloads = 1
    for (let n = 0; n < 30; n++) await bench.round()
    t.match(bench.operation('op-remove-n3'), { status: 'running' })
    await bench.round()
    t.match(bench.operation('op-remove-n3'), { status: 'succeeded' })
    const dead = await leaving()
    dead.downloads = 1
    dead.isSilent = true
    await dead.round()
    t.match(dead.operation('op-remove-n3'), { status: 'succeeded' })
  })
})

t.test('the only voter is replaced, although it has no node to hand over to', async (t) => {
  const bench = await Bench.start(t, ['n1'])
  await bench.world.do(start('replace', 'n1', { newcomer: 'n4' }))
  for (let n = 0; n < 14; n++) await bench.round()
  t.same(bench.orders.slice(0, 2), ['n1 | n4', 'n4 | n1'])
  bench.nextLeader('n4')
  bench.jobRunner = true
  await bench.round()
  t.match(bench.operation('op-replace-n1'), { status: 'succeeded' })
})

t.test('nothing is reported of a configuration that is joint, or not committed', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('demote', 'n3'))
  ;[bench.voters, bench.learners] = [['n1', 'n2'], ['n3']]
  for (const pending of [{ outgoing: ['n1', 'n2', 'n3'] }, { configurationIndex: 9, appliedIndex: 8 }]) {
    bench.pending = pending
    await bench.round()
    t.match(bench.operation('op-demote-n3'), { cursor: 'demote' }, Object.keys(pending).join())
  }
  bench.pending = { configurationIndex: 9, appliedIndex: 9 }
  await bench.round()
  t.match(bench.operation('op-demote-n3'), { status: 'succeeded' })
})

t.test('a member is drained although a chunk has more copies than are wanted', async (t) => {
  const bench = await Bench.start(t, ['n1', 'n2', 'n3', 'n4', 'n5'])
  bench.copiesWanted = 2
  await bench.world.do(putChunks('k', [fresh('c1', { replicas: ['n1', 'n2', 'n3'] })]))
  await bench.world.do(start('demote', 'n3'))
  for (let n = 0; n < 6; n++) await bench.round()
  t.match(bench.operation('op-demote-n3'), { status: 'succeeded' })
  t.same(bench.world.store.reader.get(chunkKeys.chunk('acme', 'c1'))?.replicas, ['n1', 'n2'])
})

t.test('copies whose holders are all lost are given up, and the operations end', async (t) => {
  const bench = await Bench.start(t, ['n1', 'n2', 'n3', 'n4', 'n5'])
  await bench.world.do(putChunks('k', [fresh('c1', { replicas: ['n4', 'n5'] })]))
  await bench.world.do(start('lost', 'n4'))
  await bench.round()
  t.match(bench.operation('op-lost-n4'), { cursor: 'repair', progress: { tasksOpen: 1 } })
  await bench.world.do(start('lost', 'n5'))
  for (let n = 0; n < 5; n++) await bench.round()
  t.match(bench.operation('op-lost-n4'), { status: 'succeeded', progress: { tasksOpen: 0 } })
  t.match(bench.operation('op-lost-n5'), { status: 'failed', error: /every listed copy/ })
  t.same(bench.world.store.reader.get(chunkKeys.chunk('acme', 'c1'))?.replicas, ['n5'])
})

t.test('a new leader drives nothing before it holds what was committed before it', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.behind = async () => {
    const given = { operationId: 'op-join-n4', error: null } as const
    await bench.world.apply([
      { type: 'setOperationStatus', action: 'cancel', ...given },
      { type: 'undoMembership', operationId: 'op-join-n4' },
    ])
  }
  await bench.round()
  t.same(bench.orders, [], 'no round takes a removed node in')
})

t.test('what is given up, or driven by somebody else meanwhile, changes no configuration', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.meanwhile = async () => bench.term++
  await bench.round()
  t.same(bench.orders, [], 'another leader has led in between')
  bench.meanwhile = () =>
    bench.world.do({ type: 'setOperationStatus', operationId: 'op-join-n4', action: 'cancel', error: null })
  await bench.round()
  await bench.round()
  t.same([bench.orders, bench.phase('n4')], [[], undefined], 'it goes without having come')
})

t.test(
  'votes wait for nodes without which there is no majority, and may be left where they are',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('demote', 'n3'))
    bench.silent = ['n2']
    for (let n = 0; n < 3; n++) await bench.round()
    t.match(bench.operation('op-demote-n3'), { status: 'running', phase: /waiting: without n2/ })
    await bench.world.do({
      type: 'setOperationStatus',
      operationId: 'op-demote-n3',
      action: 'cancel',
      error: null,
    })
    await bench.round()
    t.match(bench.operation('op-demote-n3'), { status: 'cancelled' })
    t.same([bench.orders, bench.phase('n3')], [[], 'active'])
  },
)

t.test('only the leader drives', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.jobRunner = false
  await bench.round()
  t.same(bench.orders, [])
})

t.test('readiness', (t) => {
  const peer = { nodeId: 'n4', matchIndex: 5, silentMs: 0, lagEntries: 256, lagBytes: 1_048_576 }
  const ready = (change: Partial<typeof peer>): boolean =>
    isCaughtUp({ peers: [{ ...peer, ...change }] }, 'n4')
  t.ok(ready({}))
  for (const change of [{ lagEntries: 257 }, { lagBytes: 1_048_577 }, { silentMs: 1_001 }, { matchIndex: 0 }])
    t.notOk(ready(change), JSON.stringify(change))
  t.notOk(isCaughtUp({ peers: [] }, 'n4'))
  const sums = (...checksums: [number, string][]) => ({ checksums })
  t.equal(commonChecksum(sums([1, 'a'], [2, 'b']), sums([2, 'b'])), 'equal')
  t.equal(commonChecksum(sums([1, 'a']), sums([1, 'b'])), 'different')
  t.equal(commonChecksum(sums([1, 'a']), sums([2, 'a'])), 'unknown')
  t.end()
})

t.test('a newcomer that is off is called silent soon, and its disk is not blamed', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.lag = 10_000
  bench.silent = ['n4']
  for (let n = 0; n < 12; n++) await bench.round()
  t.match(longOperationView(bench.operation('op-join-n4'), 0), {
    phase: 'stalled: it does not answer',
    blockers: [{ code: 'learner_not_ready', message: /check its log/ }],
  })
  bench.silent = []
  bench.lag = 0
  await bench.round()
  t.match(bench.operation('op-join-n4'), { phase: 'keeping up' })
})

t.test('copies of a member that leaves do not wait for another one that is silent', async (t) => {
  const bench = await Bench.start(t, ['n1', 'n2', 'n3', 'n4'])
  bench.copiesWanted = 2
  await bench.world.do(putChunks('k', [fresh('c1')]))
  await bench.world.do(start('demote', 'n2'))
  bench.silent = ['n3']
  for (let n = 0; n < 3; n++) await bench.round()
  const owed = () => bench.world.store.reader.get(chunkKeys.chunk('acme', 'c1'))?.owed
  t.same(owed(), ['n4'], 'n3 is where it should be, and does not answer')
  bench.silent = ['n4']
  await bench.round()
  await bench.round()
  t.same(owed(), ['n3'], 'nor for one that falls silent later')
})
