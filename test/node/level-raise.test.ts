/**
 * The feature level of the state: when it rises, and that no node of a lower level takes part afterwards.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { FEATURE_LEVEL, FIRST_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { levelToRaise } from '../../cluster/node/lifecycle/level-raise.ts'
import type { NodeOptions } from '../../cluster/node/base/options.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const levels = (world: NodeWorld): readonly number[] =>
  world.serving.map((nodeId) => world.metric(nodeId, 'feature_level'))

/** Every running node has applied a raise to `level`. */
async function untilAt(world: NodeWorld, level: number): Promise<void> {
  await world.clock.runUntil(() => levels(world).every((one) => one === level), { limitMs: 5_000 })
}

/** Longer than any leader takes. */
async function staysAt(t: Test, world: NodeWorld, level: number, why: string): Promise<void> {
  await world.clock.advance(5_000)
  t.ok(
    levels(world).every((one) => one === level),
    why,
  )
}

async function restartAs(world: NodeWorld, nodeId: string, level: number): Promise<void> {
  world.versions.set(nodeId, level)
  await world.restart(nodeId)
  await world.untilReady()
}

/** It leads, and has an answer from every running node. */
async function lead(world: NodeWorld, nodeId: string): Promise<void> {
  const leader = world.leaderOrDie()
  if (leader !== nodeId) await world.run(world.node(leader).transferLeadership(nodeId))
  await world.untilReady()
  await world.run(world.append(nodeId, `${nodeId} leads`))
  await world.untilEqual()
}

/** n3 reported level 2 and stopped while the state was at 1; the others have raised it. */
async function raisedWithoutN3(node: Partial<NodeOptions>): Promise<NodeWorld> {
  const world = await NodeWorld.started({ node, versions: { n1: 1, n2: 2, n3: 2 } })
  await lead(world, 'n2')
  world.crash('n3')
  await restartAs(world, 'n1', 2)
  await untilAt(world, 2)
  return world
}

t.test('levelToRaise', async (t) => {
  t.equal(levelToRaise({ known: 2, present: 1, others: [], size: 1 }), 2, 'a single node, to its own level')
  t.equal(levelToRaise({ known: 5, present: 1, others: [4, 3], size: 3 }), 3, 'directly to the lowest of all')
  t.equal(levelToRaise({ known: 2, present: 1, others: [3, 3], size: 3 }), 2, 'the leader counts as well')
  t.equal(
    levelToRaise({ known: 2, present: 1, others: [2, null], size: 3 }),
    null,
    'not before every member has answered',
  )
  t.equal(levelToRaise({ known: 2, present: 2, others: [3], size: 2 }), null, 'not to the present level')
  t.equal(
    levelToRaise({ known: 2, present: 1, others: [2], size: 3 }),
    2,
    'a node that never answered may never come',
  )
  t.equal(
    levelToRaise({ known: 2, present: 1, others: [], size: 3 }),
    null,
    'but a majority must have answered',
  )
  t.equal(levelToRaise({ known: 3, present: 3, others: [2], size: 2 }), null, 'never back')
})

t.test('the feature level', async (t) => {
  t.test('of a new group starts at 1 and is raised at once', async (t) => {
    const world = new NodeWorld()
    for (const nodeId of world.nodeIds) await world.start(nodeId)
    t.same(levels(world), [FIRST_LEVEL, FIRST_LEVEL, FIRST_LEVEL])
    await world.untilReady()
    const waiting = world.node('n1').reachesLevel(FEATURE_LEVEL, 1_000)
    t.ok(await world.run(waiting), 'within a second of a leader')
    await untilAt(world, FEATURE_LEVEL)
    t.ok(await world.run(world.node('n2').reachesLevel(FEATURE_LEVEL, 0)))
    await world.stopAll()
  })

  t.test('of a single node is raised at once', async () => {
    const world = await NodeWorld.started({ nodeIds: ['n1'] })
    await untilAt(world, FEATURE_LEVEL)
    await world.stopAll()
  })

  t.test('waits for the last old member, then rises directly to the lowest level of all', async (t) => {
    const world = await NodeWorld.started({ versions: { n1: 4, n2: 1, n3: 3 } })
    await staysAt(t, world, 1, 'an old member holds it')
    t.notOk(await world.run(world.node('n1').reachesLevel(2, 1_000)), 'the waiter gets its answer in time')
    t.ok(await world.run(world.node('n2').reachesLevel(1, 0)))
    await restartAs(world, 'n2', 5)
    await untilAt(world, 3)
    await staysAt(t, world, 3, 'and no further')
    await world.stopAll()
  })

  t.test('lets an old version return until it is raised', async (t) => {
    const world = await NodeWorld.started({ versions: { n1: 1, n2: 1, n3: 1 } })
    for (const nodeId of ['n1', 'n2']) await restartAs(world, nodeId, 2)
    await restartAs(world, 'n1', 1)
    await staysAt(t, world, 1, 'one is old again')
    t.equal(await world.run(world.append('n1', 'by the old version')), 1)
    for (const nodeId of ['n1', 'n3']) await restartAs(world, nodeId, 2)
    await untilAt(world, 2)
    await world.stopAll()
  })

  t.test('waits for a member that has not answered the leader in its own term', async (t) => {
    const nodeIds = ['n1', 'n2', 'n3', 'n4', 'n5']
    const world = await NodeWorld.started({ nodeIds, versions: { n1: 2, n2: 2, n3: 2, n4: 2, n5: 1 } })
    await lead(world, 'n2')
    await lead(world, 'n1')
    world.crash('n3')
    await lead(world, 'n2')
    await restartAs(world, 'n5', 2)
    await staysAt(t, world, 1, 'n3 answered n2 in an earlier term, and may come back with another version')
    await world.start('n3')
    await untilAt(world, 2)
    await world.stopAll()
  })

  t.test('waits for learners', async (t) => {
    const nodeIds = ['n1', 'n2', 'n3', 'n4']
    const world = await NodeWorld.started({
      nodeIds,
      voters: nodeIds.slice(0, 3),
      versions: { n1: 1, n2: 2, n3: 2, n4: 1 },
    })
    await world.start('n4')
    await world.run(world.changeConfiguration({ voters: ['n1', 'n2', 'n3'], learners: ['n4'] }))
    await restartAs(world, 'n1', 2)
    await staysAt(t, world, 1, 'the learner is old')
    await restartAs(world, 'n4', 2)
    await untilAt(world, 2)
    await world.stopAll()
  })

  t.test('rises under the next leader when the leader that started it is gone', async (t) => {
    const world = await NodeWorld.started({ versions: { n1: 1, n2: 1, n3: 1 } })
    for (const nodeId of world.nodeIds) {
      world.versions.set(nodeId, 2)
      world.crash(nodeId)
    }
    for (const nodeId of world.nodeIds) await world.start(nodeId)
    await world.clock.runUntil(() => world.leader !== null, { limitMs: 5_000 })
    const first = world.leaderOrDie()
    // At some moment of the raise, by the seed.
    await world.clock.advance(60)
    world.crash(first)
    await world.untilReady()
    world.versions.set(first, 2)
    await world.start(first)
    await untilAt(world, 2)
    await world.untilReady()
    await world.run(world.append(first, 'after'))
    await world.untilEqual()
    t.equal(new Set(world.nodeIds.map((nodeId) => world.texts(nodeId).join())).size, 1)
    await world.stopAll()
  })

  t.test('is sent with a snapshot', async (t) => {
    const world = await raisedWithoutN3({ logKeepEntries: 8 })
    for (let i = 0; i < 40; i += 1) await world.run(world.append('n2', `text ${i}`))
    await world.start('n3')
    await untilAt(world, 2)
    t.ok(world.metric('n3', 'snapshots_installed_total') > 0)
    await world.stopAll()
  })

  t.test('feature_level_too_high: keeps out an old version that was down during the raise', async (t) => {
    for (const node of [{}, { logKeepEntries: 8 }]) {
      const world = await raisedWithoutN3(node)
      for (let i = 0; i < 40; i += 1) await world.run(world.append('n2', `text ${i}`))
      world.versions.set('n3', 1)
      await world.start('n3')
      await world.clock.advance(5_000)
      t.notOk(world.node('n3').readiness().ready, 'it accepts no peer whose state it could not apply')
      t.equal(world.metric('n3', 'feature_level'), 1)
      t.equal(await world.run(world.append('n1', 'without it')), 42, 'and the others continue')
      await restartAs(world, 'n3', 2)
      await untilAt(world, 2)
      await world.stopAll()
    }
  })

  t.test('feature_level_too_high: an old version that lost its state installs no raised one', async (t) => {
    const world = await NodeWorld.started({ node: { logKeepEntries: 8 } })
    await untilAt(world, FEATURE_LEVEL)
    for (let i = 0; i < 40; i += 1) await world.run(world.append('n2', `text ${i}`))
    await world.untilEqual()
    world.crash('n3')
    world.host('n3').loseState()
    world.versions.set('n3', FIRST_LEVEL)
    await world.start('n3')
    await world.clock.advance(20_000)
    t.match(world.node('n3').readiness().reasons, [/^(?!.*has failed)/])
    t.ok(world.node('n3').isRepairing, 'it keeps asking until its version is new enough')
    await restartAs(world, 'n3', FEATURE_LEVEL)
    await untilAt(world, FEATURE_LEVEL)
    await world.stopAll()
  })

  t.test('feature_level_too_high: an old version does not start on a raised state', async (t) => {
    const world = await NodeWorld.started()
    await untilAt(world, FEATURE_LEVEL)
    await world.untilEqual()
    world.crash('n3')
    world.versions.set('n3', FIRST_LEVEL)
    await t.rejects(world.start('n3'), { name: 'StartError', code: 'feature_level_too_high' })
    await world.stopAll()
  })

  t.test('never falls, and is never above the level of any member', async () => {
    const step = fc.tuple(fc.constantFrom('n1', 'n2', 'n3'), fc.integer({ min: 1, max: 4 }), fc.nat(900))
    const walk = fc.array(step, { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(fc.nat(), walk, async (seed, steps) => {
        const world = await NodeWorld.started({ seed, versions: { n1: 1, n2: 1, n3: 1 } })
        const known = (): readonly number[] => world.nodeIds.map((one) => world.versions.get(one) ?? 1)
        let reached = 1
        for (const [nodeId, requested, ms] of steps) {
          if (requested < (world.versions.get(nodeId) ?? 1)) {
            // A downgrade requires a check first: no raise is in progress.
            await world.untilReady()
            await world.clock.advance(2_000)
            reached = Math.max(...levels(world))
          }
          world.versions.set(nodeId, Math.max(requested, reached))
          await world.restart(nodeId)
          await world.clock.advance(ms)
          const most = Math.max(...levels(world))
          assert(most >= reached, 'no level falls')
          assert(most <= Math.min(...known()), 'no node is left behind')
          reached = most
        }
        await world.untilReady()
        await untilAt(world, Math.min(...known()))
        await world.stopAll()
      }),
      { numRuns: 25 },
    )
  })
})
