/**
 * Nodes do not trust their own states: they compare checksums at common indexes and verify all rows from time to time.
 */
import t, { type Test } from 'tap'
import {
  type ChecksumPoint,
  ChecksumPoints,
  compareChecksums,
  POINTS_MAX,
} from '../../cluster/node/state/checksum-points.ts'
import type { Process } from '../helpers/node-host.ts'
import { NodeWorld } from '../helpers/node-world.ts'
import { rebuilds } from './damaged-world.ts'

const often = { limits: { checksumEvery: 8 } }

async function appendMany(world: NodeWorld, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await world.run(world.append(world.leaderOrDie(), `text ${i}`))
}

const APPENDS_MAX = 1_000

/** Appends entries until a node has passed a checksum point and compared; replies do not matter. */
async function appendUntilFound(world: NodeWorld, wrong: string): Promise<void> {
  const leader = world.leaderOrDie()
  for (let i = 0; rebuilds(world, wrong) === 0; i += 1) {
    if (i === APPENDS_MAX) throw new Error(`${wrong} has not found itself wrong after ${i} entries`)
    void world.append(leader, `more ${i}`).catch(() => 0)
    await world.clock.advance(5)
  }
}

/** `wrong` finds itself wrong, and installs the state of another node without a restart. */
async function untilReplaced(t: Test, world: NodeWorld, wrong: Process, why: RegExp): Promise<void> {
  const { nodeId } = wrong.node
  await world.clock.runUntil(() => rebuilds(world, nodeId) === 1, { limitMs: 60_000 })
  t.match(world.node(nodeId).readiness().reasons, [why])
  await world.clock.runUntil(() => world.node(nodeId).readiness().ready, { limitMs: 60_000 })
  t.equal(world.process(nodeId), wrong)
  // Another node doubts this one until its next comparison.
  await world.untilReady(120_000)
  await world.untilEqual()
  for (const other of world.nodeIds) t.strictSame(world.texts(other), world.texts(nodeId))
  await world.stopAll()
}

t.test('ChecksumPoints', async (t) => {
  t.test('keeps the last few, and starts again before a repeated index', async (t) => {
    const points = new ChecksumPoints()
    for (let i = 1; i <= POINTS_MAX + 3; i += 1) points.add(i * 8, Uint8Array.of(i))
    t.equal(points.points.length, POINTS_MAX)
    t.strictSame(points.points.at(-1), [152, '13'])
    points.add(144, Uint8Array.of(1))
    t.strictSame(points.points.at(-1), [144, '01'])
  })
})

t.test('compareChecksums', async (t) => {
  const at = (...rows: ChecksumPoint[]): readonly ChecksumPoint[] => rows
  const own = at([8, 'a'], [16, 'b'])
  const cases: readonly [string, (readonly ChecksumPoint[])[], number, string, number][] = [
    ['unknown without any other node', [], 3, 'unknown', 0],
    ['unknown without a common index', [at([24, 'c'])], 3, 'unknown', 0],
    ['agreed with one of two others', [at([16, 'b'])], 3, 'agreed', 16],
    ['agreed against one of two others', [at([16, 'b']), at([16, 'x'])], 3, 'agreed', 16],
    ['outvoted by two others', [at([16, 'x']), at([16, 'x'])], 3, 'outvoted', 16],
    ['undecided against one of two others', [at([16, 'x'])], 3, 'undecided', 16],
    ['undecided when all differ', [at([16, 'x']), at([16, 'y'])], 3, 'undecided', 16],
    ['undecided between two', [at([16, 'x'])], 2, 'undecided', 16],
    [
      'outvoted at an older index that all nodes have reached',
      [at([8, 'x'], [16, 'x']), at([8, 'x'])],
      3,
      'outvoted',
      8,
    ],
    ['not outvoted by half of four', [at([16, 'x']), at([16, 'x']), at([16, 'b'])], 4, 'undecided', 16],
    ['agreed without a majority when no node differs', [at([16, 'b'])], 5, 'agreed', 16],
  ]
  for (const [name, others, members, outcome, index] of cases)
    t.strictSame(compareChecksums(own, others, members), { outcome, index }, name)
})

t.test('a node', async (t) => {
  t.test('whose state differs from the majority installs theirs and is equal', async (t) => {
    const world = await NodeWorld.started({ node: often })
    await appendMany(world, 20)
    await world.untilEqual()
    const [wrong = ''] = world.followers
    world.host(wrong).divergeState()
    await appendUntilFound(world, wrong)
    await untilReplaced(t, world, world.process(wrong), /differs at index \d+ from what a majority/)
  })

  t.test('that leads is no exception', async (t) => {
    const world = await NodeWorld.started({ node: often })
    await appendMany(world, 20)
    await world.untilEqual()
    const wrong = world.leaderOrDie()
    world.host(wrong).divergeState()
    const was = world.process(wrong)
    await appendUntilFound(world, wrong)
    await untilReplaced(t, world, was, /differs at index \d+ from what a majority/)
  })

  t.test('compares at the same indexes as the others, however entries are batched', async (t) => {
    const world = await NodeWorld.started({ node: often, maxDelayMs: 20 })
    const replies = world.nodeIds.flatMap((nodeId) =>
      Array.from({ length: 40 }, async (_, i) => {
        await world.clock.settle()
        return world.append(nodeId, `${nodeId}.${i}`)
      }),
    )
    await world.run(Promise.all(replies))
    for (let i = 0; i < 30; i += 1) void world.append(world.leaderOrDie(), `more ${i}`).catch(() => 0)
    await world.clock.advance(100_000)
    for (const nodeId of world.nodeIds) {
      t.ok(world.metric(nodeId, 'state_comparisons_total') >= 3)
      t.equal(world.metric(nodeId, 'state_undecided_total'), 0)
      const ends = world
        .process(nodeId)
        .machine.batches.map(({ entries }) => entries.map(({ index }) => index))
      for (const indexes of ends)
        t.ok(
          indexes.slice(0, -1).every((index) => index % 8 !== 0),
          'no batch crosses a point',
        )
    }
    await world.stopAll()
  })

  t.test(
    'of two that differ reports it, verifies its state, and replaces it if that is damaged',
    async (t) => {
      const world = await NodeWorld.started({ nodeIds: ['n1', 'n2'], node: often })
      await appendMany(world, 20)
      await world.untilEqual()
      const [wrong = ''] = world.followers
      const right = world.leaderOrDie()
      world.host(wrong).divergeState()
      await appendMany(world, 8)
      await world.clock.runUntil(() => !world.node(right).readiness().ready, { limitMs: 60_000 })
      t.match(world.node(right).readiness().reasons, [/differ at index \d+, and no majority/])
      t.equal(world.metric(right, 'state_undecided_total'), 1)
      const verified = (): boolean => world.metric(right, 'state_verifications_total') === 1
      await world.clock.runUntil(verified, { limitMs: 1_000 })
      await world.untilEqual()
      world.host(wrong).damageState()
      await appendUntilFound(world, wrong)
      await untilReplaced(t, world, world.process(wrong), /the rows are not those of the checksum/)
    },
  )

  t.test('verifies its state from time to time, regardless of the others', async (t) => {
    const world = await NodeWorld.started({ node: { limits: { verifyEveryMs: 10_000 } } })
    await appendMany(world, 4)
    await world.untilEqual()
    const [wrong = ''] = world.followers
    await world.clock.advance(11_000)
    for (const nodeId of world.nodeIds) t.ok(world.metric(nodeId, 'state_verifications_total') >= 1)
    world.host(wrong).damageState()
    await untilReplaced(t, world, world.process(wrong), /the rows are not those of the checksum/)
  })
})
