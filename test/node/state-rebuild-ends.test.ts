/**
 * Failed rebuilds of a damaged state: how each ends, and that nothing acknowledged is lost or done twice.
 */
import t from 'tap'
import { StateDamagedError } from '../../cluster/base/types.ts'
import { NodeWorld } from '../helpers/node-world.ts'
import {
  appendMany,
  filledWorld,
  keepLittle,
  meetDamage,
  readAt,
  rebuilds,
  untilEveryoneIsEqual,
  untilRebuilt,
} from './damaged-world.ts'

t.test('a rebuild that is interrupted', async (t) => {
  t.test('by a power cut is completed by log repair at the next start', async (t) => {
    for (const delayMs of [0, 1, 3, 6, 10, 20, 40]) {
      const world = await filledWorld({ seed: 7 + delayMs })
      const [wrong = ''] = world.followers
      meetDamage(t, world, wrong)
      await world.clock.advance(delayMs)
      const isReplaced = world.state(wrong).damage === null
      world.crash(wrong)
      await world.start(wrong)
      if (!isReplaced) t.ok(world.node(wrong).isRepairing, `${delayMs} ms`)
      await world.clock.runUntil(() => !world.node(wrong).isRepairing, { limitMs: 60_000 })
      await untilEveryoneIsEqual(t, world)
      await world.stopAll()
    }
  })

  t.test('by a clean stop does not delay the stop', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    world.network.isolate(wrong)
    meetDamage(t, world, wrong)
    await world.clock.advance(1_000)
    const { node } = world.process(wrong)
    await world.stop(wrong)
    t.equal(await Promise.race([node.failed, Promise.resolve('has not failed')]), 'has not failed')
    world.network.heal()
    await world.start(wrong)
    t.ok(world.node(wrong).isRepairing)
    await world.clock.runUntil(() => !world.node(wrong).isRepairing, { limitMs: 60_000 })
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })
})

t.test('many rebuilds', async (t) => {
  t.test('every acknowledged write is present once, for damage at any node and time', async (t) => {
    let rebuilt = 0
    for (let seed = 1; seed <= 12; seed += 1) {
      const world = await NodeWorld.started({ seed, node: keepLittle, maxDelayMs: 10 })
      const acked: string[] = []
      for (let round = 0; round < 12; round += 1) {
        for (const nodeId of world.nodeIds) {
          const text = `${round}.${nodeId}`
          void world.append(nodeId, text).then(
            () => acked.push(text),
            () => undefined,
          )
        }
        await world.clock.advance(world.random() % 40)
        // One node at a time: if all were damaged no node could send a state.
        const isWhole = world.nodeIds.every((nodeId) => world.state(nodeId).damage === null)
        const victim = world.nodeIds[world.random() % 3] ?? ''
        if (isWhole && world.state(victim).current.record !== null)
          world.state(victim).damage = 'a bit is flipped'
        if (world.random() % 2 === 0) readAt(world, victim)
      }
      for (const nodeId of world.nodeIds) readAt(world, nodeId)
      for (const nodeId of world.nodeIds) await untilRebuilt(world, nodeId)
      await world.clock.advance(12_000)
      await untilEveryoneIsEqual(t, world)
      const texts = new Set(world.texts('n1'))
      t.strictSame(
        acked.filter((text) => !texts.has(text)),
        [],
        `seed ${seed}`,
      )
      t.ok(acked.length > 0)
      for (const nodeId of world.nodeIds) rebuilt += rebuilds(world, nodeId)
      await world.stopAll()
    }
    t.ok(rebuilt > 24, `${rebuilt} rebuilds`)
  })
})

t.test('a node stops', async (t) => {
  t.test('when no node can send it a state, after a bounded number of attempts', async (t) => {
    const world = await filledWorld({ node: { limits: { rebuildAttemptsMax: 4 } } })
    const [wrong = ''] = world.followers
    world.network.isolate(wrong)
    const { failed } = world.node(wrong)
    meetDamage(t, world, wrong)
    t.match(await world.run(failed, 300_000), { name: 'StateDamagedError', message: /is flipped/ })
    t.match(world.node(wrong).readiness().reasons, [/has failed: .* is flipped/])
    world.network.heal()
    await world.restart(wrong)
    t.ok(world.node(wrong).isRepairing)
    await world.clock.runUntil(() => !world.node(wrong).isRepairing, { limitMs: 60_000 })
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('when the received state is damaged as well', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    const { node, machine } = world.process(wrong)
    const install = machine.install.bind(machine)
    machine.install = async (source) => {
      const record = await install(source)
      world.state(wrong).damage = 'a bit of the new one'
      t.throws(() => machine.read(), StateDamagedError)
      return record
    }
    meetDamage(t, world, wrong)
    t.match(await world.run(node.failed), { name: 'StateDamagedError', message: /a bit of the new one/ })
    t.match(world.state(wrong).quarantined, /a bit of the new one/)
    await world.restart(wrong)
    await world.clock.runUntil(() => !world.node(wrong).isRepairing, { limitMs: 60_000 })
    await untilEveryoneIsEqual(t, world)
    await world.stopAll()
  })

  t.test('when all are damaged', async (t) => {
    const world = await filledWorld({ node: { limits: { rebuildAttemptsMax: 3 } } })
    const failures = world.nodeIds.map((nodeId) => world.node(nodeId).failed)
    for (const nodeId of world.nodeIds) meetDamage(t, world, nodeId)
    for (const [i, error] of (await world.run(Promise.all(failures), 300_000)).entries())
      t.match(error, { name: 'StateDamagedError', message: new RegExp(`n${i + 1} is flipped`) })
    await world.stopAll()
  })

  t.test('when it is the only member of its group, at once', async (t) => {
    const world = await NodeWorld.started({ nodeIds: ['n1'] })
    await appendMany(world, 3)
    const { failed } = world.node('n1')
    meetDamage(t, world, 'n1')
    t.match(await world.run(failed, 100), { message: /is flipped/ })
    t.match(world.state('n1').quarantined, /is flipped/)
    world.crash('n1')
    await t.rejects(world.start('n1'), { name: 'StartError', code: 'cannot_mend' })
  })

  t.test('when an apply fails for any other reason', async (t) => {
    const world = await filledWorld()
    const [wrong = ''] = world.followers
    world.state(wrong).fault = new Error('EIO')
    const { failed } = world.node(wrong)
    void world.append(world.leaderOrDie(), 'one more').catch(() => 0)
    t.match(await world.run(failed), { message: 'Cannot apply the log: EIO' })
    t.equal(world.state(wrong).quarantined, null)
    await world.stopAll()
  })
})
