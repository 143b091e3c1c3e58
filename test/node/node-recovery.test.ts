/**
 * A node that comes back: with its own disk after a power cut, or to peers whose logs start too late for it.
 */
import t from 'tap'
import { NodeWorld } from '../helpers/node-world.ts'

t.test('restart', async (t) => {
  t.test(
    'keeps everything acknowledged when all nodes lose power at once, unflushed writes included',
    async (t) => {
      const world = await NodeWorld.started()
      const acked: string[] = []
      for (let round = 0; round < 4; round += 1) {
        const under = world.nodeIds.flatMap((nodeId) =>
          Array.from({ length: 20 }, (_, i) => {
            const text = `${round}.${nodeId}.${i}`
            return world.append(nodeId, text).then(
              () => acked.push(text),
              () => undefined,
            )
          }),
        )
        // At a random moment of the writes.
        await world.clock.advance(2 + 3 * round)
        for (const nodeId of world.nodeIds) world.crash(nodeId, world.random() % 3)
        await Promise.all(under)
        for (const nodeId of world.nodeIds) await world.start(nodeId)
        await world.untilReady()
      }
      await world.run(world.append('n1', 'end'))
      await world.untilEqual()
      t.ok(acked.length > 0, 'something was acknowledged')
      for (const nodeId of world.nodeIds) {
        const texts = world.texts(nodeId)
        t.equal(new Set(texts).size, texts.length, 'nothing took effect twice')
        t.strictSame(
          acked.filter((text) => !texts.includes(text)),
          [],
        )
        t.strictSame(texts, world.texts('n1'))
      }
      await world.stopAll()
    },
  )

  t.test('starts sequences again in a new process without being taken for a repeat', async (t) => {
    const world = await NodeWorld.started()
    t.equal(await world.run(world.append('n2', 'first life')), 1)
    await world.restart('n2')
    await world.untilReady()
    t.equal(await world.run(world.append('n2', 'second life')), 2)
    await world.stopAll()
  })
})

t.test('power cut', async (t) => {
  t.test('takes no batch that the log does not hold, however short the log is kept', async (t) => {
    const node = { logKeepEntries: 8, logKeepBytes: 1024 * 1024 }
    const world = await NodeWorld.started({ nodeIds: ['n1'], node })
    let least = Infinity
    for (let i = 0; i < 120; i += 1) {
      await world.run(world.append('n1', `text ${i}`))
      // More than the log keeps: the registration of each process is durable in the state, and what comes after it need not be.
      if (i % 30 !== 29) continue
      world.crash('n1')
      const held = world.state('n1').current.texts.length
      world.state('n1').loseUnflushed()
      least = Math.min(least, world.state('n1').current.texts.length - held)
      await world.start('n1')
      await world.untilReady()
      await world.clock.runUntil(() => world.texts('n1').length === i + 1, { limitMs: 10_000 })
    }
    t.equal(world.texts('n1').length, 120, 'all texts are there again')
    t.ok(least < 0, 'the state had lost batches')
    t.ok(world.node('n1').status().base.index > 40, 'and the log did not hold all of them')
    await world.stopAll()
  })
})

t.test('snapshot', async (t) => {
  const keepLittle = { logKeepEntries: 8, logKeepBytes: 1024 * 1024 }

  t.test('restores a node that was down longer than the log reaches', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    const [away = ''] = world.followers
    world.crash(away)
    for (let i = 0; i < 60; i += 1) await world.run(world.append(world.leaderOrDie(), `text ${i}`))
    const { base, lastIndex } = world.node(world.leaderOrDie()).status()
    t.ok(base.index > 40 && lastIndex - base.index <= 10, 'the log was compacted to the entries to keep')
    await world.start(away)
    await world.untilEqual()
    t.strictSame(world.texts(away), world.texts(world.leaderOrDie()))
    const installed = world
      .node(away)
      .metrics()
      .find(({ name }) => name === 'holdfast_raft_snapshots_installed_total')
    t.equal(installed?.value, 1)
    t.equal(await world.run(world.append(away, 'back again')), 61)
    await world.restart(away)
    await world.untilEqual()
    t.equal(world.texts(away).length, 61, 'and it survives a restart')
    await world.stopAll()
  })

  t.test('starts the log again when the crash came between the install and the log', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle })
    const [away = ''] = world.followers
    world.crash(away)
    for (let i = 0; i < 40; i += 1) await world.run(world.append(world.leaderOrDie(), `text ${i}`))
    await world.start(away)
    const record = world.state(away).current.record
    await world.clock.runUntil(
      () => world.texts(away).length >= 32 && world.state(away).current.record !== record,
      {
        limitMs: 10_000,
      },
    )
    // The state has switched; the write that moves the base of the log is still waiting for its flush.
    world.crash(away)
    t.ok(world.disk(away).image.content.base.index < 32, 'the log on disk knows nothing of it')
    await world.start(away)
    await world.untilEqual()
    t.strictSame(world.texts(away), world.texts(world.leaderOrDie()))
    t.equal(await world.run(world.append(away, 'end')), 41)
    await world.stopAll()
  })

  t.test('is refused whole when the stream breaks, and pulled again', async (t) => {
    const world = await NodeWorld.started({ node: keepLittle, maxDelayMs: 5 })
    const [away = ''] = world.followers
    world.crash(away)
    for (let i = 0; i < 40; i += 1) await world.run(world.append(world.leaderOrDie(), `text ${i}`))
    const leader = world.leaderOrDie()
    const snapshots = (nodeId: string, what: string): number =>
      world
        .node(nodeId)
        .metrics()
        .find(({ name }) => name === `holdfast_raft_snapshots_${what}_total`)?.value ?? 0
    await world.start(away)
    await world.clock.runUntil(() => snapshots(leader, 'served') > 0, { limitMs: 10_000 })
    world.network.isolate(away)
    await world.clock.runUntil(() => snapshots(away, 'failed') > 0, { limitMs: 60_000 })
    t.strictSame(world.texts(away), [], 'the old state stays')
    world.network.heal()
    await world.untilEqual()
    t.strictSame(world.texts(away), world.texts(leader))
    await world.stopAll()
  })
})
