/**
 * Nodes whose state turns out to be damaged while they run: they install the state of a peer and continue, in the same process, with
 * the same log and the same votes. Rebuilds that stop the node: state-rebuild-ends.test.ts.
 */
import t from 'tap'
import { NodeWorld } from '../helpers/node-world.ts'
import {
  appendMany,
  filledWorld,
  keepLittle,
  meetDamage,
  rebuilds,
  untilEveryoneIsEqual,
  untilRebuilt,
  withhold,
} from './damaged-world.ts'

t.test('a damaged state is replaced in the running process', async (t) => {
  t.test('when a reader finds it, while writes continue, and the log stays', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    const { node, wal } = world.process(wrong)
    const { base } = node.status()
    meetDamage(t, world, wrong)
    t.match(node.readiness(), { ready: false, reasons: [/is damaged and is being replaced .* is flipped/] })
    await world.clock.runUntil(() => world.state(wrong).quarantined !== null, { limitMs: 100 })
    const acked: string[] = []
    for (let i = 0; i < 10; i += 1)
      void world.append(world.leaderOrDie(), `meanwhile ${i}`).then(() => acked.push(`meanwhile ${i}`))
    await untilRebuilt(world, wrong)
    await untilEveryoneIsEqual(t, world)
    t.equal(acked.length, 10)
    t.strictSame(
      acked.filter((text) => !world.texts(wrong).includes(text)),
      [],
    )
    t.equal(world.process(wrong).node, node, 'the process is the same one')
    t.equal(world.process(wrong).wal, wal)
    t.strictSame(node.status().base, base)
    t.equal(
      world.disk(wrong).image.content.entries[0]?.index,
      1,
      'the log on the disk reaches back as before',
    )
    t.equal(rebuilds(world, wrong), 1)
    t.equal(world.metric(wrong, 'snapshots_installed_total'), 0, 'the core ordered none')
    await world.restart(wrong)
    t.notOk(world.node(wrong).isRepairing)
    await world.untilEqual()
    await world.stopAll()
  })

  t.test('when a batch finds it: its entries wait, and take effect once', async (t) => {
    const world = await filledWorld({ node: { limits: { applyEntriesMax: 3 } } })
    const [wrong = ''] = world.followers
    world.state(wrong).damage = 'a bit of a row is flipped'
    const replies = Array.from({ length: 12 }, (_, i) => world.append(wrong, `own ${i}`).catch(() => 0))
    await world.run(Promise.all(replies))
    await untilRebuilt(world, wrong)
    await untilEveryoneIsEqual(t, world)
    t.equal(world.texts(wrong).filter((text) => text.startsWith('own')).length, 12)
    t.equal(rebuilds(world, wrong), 1)
    await world.stopAll()
  })

  t.test('when a verification finds it, and when the others outvote it', async (t) => {
    const limits = { verifyEveryMs: 10_000, checksumEvery: 8 }
    const world = await filledWorld({ node: { limits } })
    const [one = '', other = ''] = world.followers
    const nodes = [world.node(one), world.node(other)]
    world.host(one).damageState()
    await world.clock.runUntil(() => rebuilds(world, one) === 1, { limitMs: 11_000 })
    await untilRebuilt(world, one)
    world.host(other).divergeState()
    await appendMany(world, 8, 'more')
    await world.clock.runUntil(() => rebuilds(world, other) === 1, { limitMs: 60_000 })
    await untilRebuilt(world, other)
    await untilEveryoneIsEqual(t, world)
    t.strictSame([world.node(one), world.node(other)], nodes)
    await world.stopAll()
  })

  t.test('repeatedly', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    for (let round = 1; round <= 3; round += 1) {
      meetDamage(t, world, wrong)
      await untilRebuilt(world, wrong)
      t.equal(rebuilds(world, wrong), round)
      await appendMany(world, 3, `round ${round}`)
    }
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('of a leader, which hands over, does not campaign, and votes', async (t) => {
    const world = await filledWorld()
    const wrong = world.leaderOrDie()
    const [away = '', heir = ''] = world.followers
    const { node } = world.process(wrong)
    meetDamage(t, world, wrong)
    await world.clock.runUntil(() => world.leader !== wrong && world.leader !== null, { limitMs: 2_000 })
    t.match(node.status(), { role: 'follower' })
    await untilRebuilt(world, wrong)
    // Now a follower without a source for its state: it votes for another leader, and never leads itself.
    const leader = world.leaderOrDie()
    const third = [away, heir].find((nodeId) => nodeId !== leader) ?? ''
    world.crash(leader)
    const give = withhold(world, wrong)
    meetDamage(t, world, wrong)
    await world.clock.runUntil(() => node.status().leaderId === third, { limitMs: 10_000 })
    t.match(node.status(), { role: 'follower' }, 'without its vote no node could lead')
    give()
    await world.start(leader)
    await untilRebuilt(world, wrong)
    await untilEveryoneIsEqual(t, world)
    t.equal(world.node(wrong), node)
    await world.stopAll()
  })

  t.test(
    'of a leader without a possible successor keeps the leader, and delays only its readers',
    async (t) => {
      const nodeIds = ['n1', 'n2']
      const world = new NodeWorld({ nodeIds, voters: ['n1'] })
      await world.start('n1')
      await world.untilReady()
      await world.start('n2')
      await appendMany(world, 1, 'first')
      await world.run(world.changeConfiguration({ voters: ['n1'], learners: ['n2'] }))
      await appendMany(world, 8)
      await world.untilEqual()
      world.network.block('n1', 'n2')
      meetDamage(t, world, 'n1')
      await world.clock.advance(1_000)
      t.match(world.node('n1').status(), { role: 'leader' })
      world.network.heal()
      await untilRebuilt(world, 'n1')
      await untilEveryoneIsEqual(t, world)
      await world.stopAll()
    },
  )

  t.test('after the pull that the core had ordered', async (t) => {
    const world = await filledWorld({ node: keepLittle, maxDelayMs: 5 })
    const [away = ''] = world.followers
    world.network.isolate(away)
    await appendMany(world, 300, 'missed')
    world.network.heal()
    await world.clock.runUntil(
      () =>
        world
          .node(away)
          .readiness()
          .reasons.some((one) => /copied/.test(one)),
      {
        limitMs: 10_000,
      },
    )
    meetDamage(t, world, away)
    await untilRebuilt(world, away)
    await untilEveryoneIsEqual(t, world)
    t.equal(world.metric(away, 'snapshots_installed_total'), 1)
    t.equal(rebuilds(world, away), 1)
    await world.stopAll()
  })

  t.test('also where the log of the others has moved on without this node', async (t) => {
    const world = await filledWorld({ node: keepLittle })
    const [away = ''] = world.followers
    world.network.isolate(away)
    await appendMany(world, 60, 'missed')
    meetDamage(t, world, away)
    await world.clock.advance(500)
    world.network.heal()
    await untilRebuilt(world, away)
    await untilEveryoneIsEqual(t, world)
    t.equal(world.texts(away).length, 81)
    await world.stopAll()
  })
})

t.test('meanwhile', async (t) => {
  t.test('a read waits for the new state, and is never answered by the old one', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    const give = withhold(world, wrong)
    meetDamage(t, world, wrong)
    let isRead = false
    const read = world
      .node(wrong)
      .readBarrier()
      .then(() => (isRead = true))
    await world.clock.advance(1_000)
    t.notOk(isRead, 'although its index was applied')
    give()
    await world.run(read)
    t.equal(world.state(wrong).damage, null)
    t.strictSame(world.process(wrong).machine.read(), world.texts(world.leaderOrDie()))
    await world.stopAll()
  })

  t.test(
    'leader_not_ready: reads and writes that wait too long for the rebuild name the reason',
    async (t) => {
      const world = await filledWorld()
      const [wrong = ''] = world.followers
      const give = withhold(world, wrong)
      meetDamage(t, world, wrong)
      const why = { name: 'Condition', code: 'leader_not_ready', message: /is being replaced/ }
      const [read, write] = [world.node(wrong).readBarrier(), world.append(wrong, 'never')]
      await t.rejects(world.run(read), why)
      await t.rejects(world.run(write), why)
      give()
      await untilRebuilt(world, wrong)
      await untilEveryoneIsEqual(t, world)
      t.notOk(world.texts(wrong).includes('never'), 'a write refused for certain does not take effect')
      await world.stopAll()
    },
  )

  t.test('a write is held back and then answered; one already sent is applied or unknown', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    world.host(wrong).applyMs = 50
    const left = world.append(wrong, 'left before').catch((error: unknown) => error)
    await world.clock.advance(20)
    meetDamage(t, world, wrong)
    t.type(await world.run(world.append(wrong, 'held back')), 'number')
    t.match(await world.run(left), { code: 'commit_unknown', message: /arrived within a snapshot/ })
    await untilEveryoneIsEqual(t, world)
    t.ok(['left before', 'held back'].every((text) => world.texts(wrong).includes(text)))
    await world.stopAll()
  })

  t.test('peers get neither its state nor its checksums', async (t) => {
    const world = await filledWorld({ node: { limits: { checksumEvery: 4 } } })
    const [wrong = '', other = ''] = world.followers
    const { transport } = world.process(other)
    const { header } = await world.run(transport.call(wrong, 'snapshot.open', { header: null }))
    withhold(world, wrong)
    meetDamage(t, world, wrong)
    await world.clock.advance(50)
    const { id } = header as { id: string }
    const request = { id, after: new Uint8Array(0), held: null }
    await t.rejects(world.run(transport.call(wrong, 'snapshot.block', { header: request })), {
      code: 'unknown_snapshot',
    })
    await t.rejects(world.run(transport.call(wrong, 'snapshot.open', { header: null })), {
      code: 'state_damaged',
    })
    t.match(await world.run(transport.call(wrong, 'state.checksums', { header: null })), { header: [] })
    await world.stopAll()
  })
})
