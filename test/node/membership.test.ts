/**
 * Changing the members of a running group, from the request to the configuration in the state of every node.
 */
import t from 'tap'
import { decodeMachineRecord } from '../../cluster/node/base/machine-record.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const four = { nodeIds: ['n1', 'n2', 'n3', 'n4', 'n5'], voters: ['n1', 'n2', 'n3'] }

async function appendMany(world: NodeWorld, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await world.run(world.append(world.leaderOrDie(), `text ${i}`))
}

t.test('changeConfiguration', async (t) => {
  t.test('lets a node catch up as a learner and then makes it a voter that counts', async (t) => {
    const world = await NodeWorld.started({ ...four, node: { logKeepEntries: 8 } })
    await appendMany(world, 40)
    await world.start('n4')
    await world.run(world.changeConfiguration({ voters: ['n1', 'n2', 'n3'], learners: ['n4'] }))
    await world.untilEqual()
    t.strictSame(world.texts('n4'), world.texts('n1'))
    const seen = world.node(world.leaderOrDie()).status().configurationIndex
    await world.run(world.changeConfiguration({ voters: ['n1', 'n2', 'n3', 'n4'] }, seen))
    const [a = '', b = ''] = world.followers.filter((nodeId) => nodeId !== 'n4')
    world.crash(a)
    await world.run(world.append(world.leaderOrDie(), 'three of four'))
    world.crash(b)
    const outcome = world.append('n4', 'two of four')
    await t.rejects(world.run(outcome), { name: 'Condition' })
    await world.start(a)
    await world.start(b)
    await world.untilReady()
    await world.untilRegistered()
    await world.stopAll()
  })

  t.test(
    'replaces several members at once through a joint configuration that it leaves by itself',
    async (t) => {
      const world = await NodeWorld.started(four)
      await appendMany(world, 5)
      const leader = world.leaderOrDie()
      await world.start('n4')
      await world.start('n5')
      await world.run(world.changeConfiguration({ voters: [leader, 'n4', 'n5'] }))
      const { configuration, configurationIndex, commitIndex } = world.node(leader).status()
      t.ok(commitIndex >= configurationIndex, 'the change is done when the last step is committed')
      t.strictSame(configuration, { voters: [leader, 'n4', 'n5'], learners: [], outgoing: [] })
      for (const nodeId of four.voters) if (nodeId !== leader) world.crash(nodeId)
      await world.run(world.append('n5', 'by the new ones'))
      await world.clock.runUntil(() => world.texts('n4').length === 6, { limitMs: 5_000 })
      for (const nodeId of ['n4', 'n5']) {
        await world.restart(nodeId)
        await world.untilReady()
        t.match(world.node(nodeId).status(), {
          configuration: { voters: [leader, 'n4', 'n5'] },
          configurationIndex,
        })
      }
      await world.stopAll()
    },
  )

  t.test('removes the leader itself, which learns that the change is done and hands over', async (t) => {
    const world = await NodeWorld.started()
    await appendMany(world, 3)
    const old = world.leaderOrDie()
    const voters = world.followers
    await world.run(world.changeConfiguration({ voters }))
    await world.clock.runUntil(() => world.leader !== null && world.leader !== old, { limitMs: 10_000 })
    world.crash(old)
    t.equal(await world.run(world.append(voters[0] ?? '', 'without it')), 4)
    await world.stopAll()
  })

  t.test(
    'refuses the present configuration, an impossible one, and one based on an outdated index',
    async (t) => {
      const world = await NodeWorld.started()
      const { voters } = world
      const order = (target: readonly string[], seen: number | null = null) =>
        world.run(world.changeConfiguration({ voters: target }, seen))
      const refused = (reason: string) => ({ name: 'MembershipRefusedError', reason })
      await t.rejects(order(voters), refused('configurationUnchanged'))
      await t.rejects(order([]), refused('configurationInvalid'))
      await t.rejects(order(['n1', 'n1']), refused('configurationInvalid'))
      await t.rejects(order(['n1', 'n2'], 77), refused('configurationChanged'))
      const [elsewhere = ''] = world.followers
      const asked = world.node(elsewhere).changeConfiguration({ voters: ['n1'], learners: [] }, null)
      await t.rejects(world.run(asked), { code: 'no_leader', message: /n\d leads, ask there/ })
      await world.stopAll()
    },
  )

  t.test(
    'configurationPending: refuses a second change while the first waits for its majority',
    async (t) => {
      const world = await NodeWorld.started()
      for (const nodeId of world.followers) world.network.isolate(nodeId)
      const first = world.changeConfiguration({ voters: ['n1', 'n2'] }).then(
        () => 'done',
        (error: { code: string }) => error.code,
      )
      await t.rejects(world.changeConfiguration({ voters: ['n1', 'n3'] }), {
        name: 'MembershipRefusedError',
        reason: 'configurationPending',
      })
      t.equal(await world.run(first, 70_000), 'commit_unknown')
      world.network.heal()
      // No member notifies a node that is removed while it is isolated; the members continue.
      const isReady = (): boolean => {
        const { leader } = world
        if (leader === null) return false
        return world
          .node(leader)
          .status()
          .configuration.voters.every((voter) => world.node(voter).readiness().ready)
      }
      await world.clock.runUntil(isReady, { limitMs: 30_000 })
      await world.stopAll()
    },
  )

  t.test('shutting_down: ends with the node', async (t) => {
    const world = await NodeWorld.started()
    const node = world.node(world.leaderOrDie())
    await world.stop(node.nodeId)
    await t.rejects(node.changeConfiguration({ voters: ['n1'], learners: [] }, null), {
      code: 'shutting_down',
    })
    await world.stopAll()
  })

  t.test('is in no record of the state before it is committed', async (t) => {
    const world = await NodeWorld.started({ node: { limits: { applyEntriesMax: 1 } } })
    await world.untilEqual()
    const leader = world.leaderOrDie()
    world.host(leader).applyMs = 1_000
    const outcomes: Promise<unknown>[] = []
    for (let i = 0; i < 3; i += 1) {
      outcomes.push(world.append(leader, `text ${i}`).catch((error: unknown) => error))
      const { commitIndex } = world.node(leader).status()
      await world.clock.runUntil(() => world.node(leader).status().commitIndex > commitIndex, {
        limitMs: 1_000,
      })
    }
    // Committed entries are still being applied while the change reaches no node.
    world.network.dropRate = 1
    const { commitIndex } = world.node(leader).status()
    outcomes.push(world.changeConfiguration({ voters: ['n1', 'n2'] }).catch((error: unknown) => error))
    await world.clock.runUntil(() => world.node(leader).status().appliedIndex === commitIndex, {
      limitMs: 10_000,
    })
    const status = world.node(leader).status()
    t.ok(status.configurationIndex > status.commitIndex, 'the change is in the log, and not committed')
    const { record } = world.state(leader).current
    t.ok(record)
    if (record) t.strictSame(decodeMachineRecord(record).configuration.voters, world.voters)
    await world.stopAll()
    await Promise.all(outcomes)
  })

  t.test('survives in a snapshot, with its index', async (t) => {
    const world = await NodeWorld.started({ ...four, node: { logKeepEntries: 8 } })
    const [away = '', other = ''] = world.followers
    world.crash(away)
    await world.start('n4')
    await world.run(world.changeConfiguration({ voters: world.voters, learners: ['n4'] }))
    const { configurationIndex } = world.node(world.leaderOrDie()).status()
    await world.untilEqual()
    world.crash('n4')
    world.host('n4').loseState()
    await appendMany(world, 40)
    for (const nodeId of [away, 'n4']) await world.start(nodeId)
    await world.clock.runUntil(() => world.serving.length === 4, { limitMs: 10_000 })
    await world.untilEqual()
    // The record that is written next must still know where its configuration came from.
    await world.run(world.append(other, 'after'))
    await world.untilEqual()
    t.equal(world.metric(away, 'snapshots_installed_total'), 1)
    for (const nodeId of [away, 'n4']) {
      await world.restart(nodeId)
      t.equal(world.node(nodeId).status().configurationIndex, configurationIndex)
    }
    await world.stopAll()
  })
})
