/** The effect of a quorum recovery on the rows: the members, the operations that end, and its permanent record. */
import t from 'tap'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import {
  CLUSTER_RECOVERIES_MAX,
  clusterRecoveries,
} from '../../src/state-machine/members/cluster-recoveries.ts'
import type { MembershipCommand } from '../../src/state-machine/members/commands.ts'
import { MapWorld } from './map-world.ts'
import { foundedWorld, members, phases, start, walk } from './member-commands.ts'

const FIVE = ['n1', 'n2', 'n3', 'n4', 'n5']

const recover = (
  changes: Partial<Extract<MembershipCommand, { type: 'recoverCluster' }>> = {},
): Extract<MembershipCommand, { type: 'recoverCluster' }> => ({
  type: 'recoverCluster',
  planId: 'rp_1',
  epoch: 1,
  plannedAt: 5,
  winner: 'n1',
  survivors: ['n1', 'n2'],
  voters: ['n1', 'n2'],
  dead: ['n3', 'n4', 'n5'],
  certainThrough: 7,
  mayMissAfter: 9,
  loss: { chunks: 1, versions: 2 },
  isRestored: false,
  ...changes,
})

t.test(
  'the dead leave permanently, and their copies are made again like those of any lost member',
  async (t) => {
    const world = foundedWorld(FIVE)
    world.do(recover())
    t.same(phases(world), { n1: 'active', n2: 'active', n3: 'lost', n4: 'lost', n5: 'lost' })
    t.match(members(world), {
      change: null,
      departed: ['n3', 'n4', 'n5'].map((nodeId) => ({ nodeId, how: 'lost', reason: 'recovery rp_1' })),
    })
    t.same(world.get(memberKeys.leavingNodes()), { nodes: ['n3', 'n4', 'n5'] }, 'nothing new is listed there')
    for (const n of [0, 1, 2])
      t.match(world.get(longOperationKeys.operation(`op_1${n}`)), {
        kind: 'lost',
        status: 'running',
        cursor: 'repair',
      })
    t.match(world.run(start('join', 'n4')), { code: 'member_tombstoned' })
  },
)

t.test('it is recorded with time and index, once for each plan', async (t) => {
  const world = foundedWorld(FIVE)
  const done = world.do(recover())
  t.match(clusterRecoveries(world), [
    { planId: 'rp_1', epoch: 1, index: done.index, at: done.at, mayMissAfter: 9 },
  ])
  t.same(world.do(recover({ dead: [] })), done, 'the same plan again changes nothing')
  world.do(recover({ planId: 'rp_2', epoch: 2, dead: ['n2'], survivors: ['n1'], voters: ['n1'] }))
  t.same(
    clusterRecoveries(world).map(({ planId }) => planId),
    ['rp_1', 'rp_2'],
  )
  t.same(phases(world), { n1: 'active', n2: 'lost', n3: 'lost', n4: 'lost', n5: 'lost' })
})

t.test('the list is bounded, and a plan for one more is refused', async (t) => {
  const world = foundedWorld(FIVE)
  for (let n = 0; n < CLUSTER_RECOVERIES_MAX; n++) world.do(recover({ planId: `rp_${n}`, dead: [] }))
  t.match(world.run(recover({ planId: 'rp_last' })), {
    code: 'precondition_failed',
    message: /too many recoveries/,
  })
})

t.test('a change that relied on votes that are gone ends, and another one may start', async (t) => {
  const world = foundedWorld(FIVE)
  world.do(start('demote', 'n2'))
  world.do(recover())
  t.match(world.get(longOperationKeys.operation('op-demote-n2')), {
    status: 'failed',
    error: /Ended by the recovery rp_1/,
  })
  t.match(phases(world), { n2: 'active' }, 'its vote stays where the recovery puts it')
  t.match(world.run(start('demote', 'n2')), { ok: true })
})

t.test('a joining node that survived continues to join; one that no plan names may join again', async (t) => {
  const joining = foundedWorld(FIVE)
  joining.do(start('join', 'n6'))
  joining.do(recover({ survivors: ['n1', 'n2', 'n6'] }))
  t.match(phases(joining), { n6: 'joining' })
  t.equal(members(joining).change, 'op-join-n6')
  const away = foundedWorld(FIVE)
  away.do(start('join', 'n6'))
  away.do(recover())
  t.notOk('n6' in phases(away))
  t.match(away.get(longOperationKeys.operation('op-join-n6')), { status: 'failed' })
  t.match(away.run(start('join', 'n6', { id: 'again' })), { ok: true })
})

t.test('draining of a survivor without a vote continues', async (t) => {
  const world = foundedWorld(FIVE)
  world.do(start('demote', 'n2'))
  walk(world, 'op-demote-n2', ['demote', 'drain'])
  world.do(recover({ voters: ['n1'] }))
  t.match(phases(world), { n1: 'active', n2: 'draining' })
  t.match(world.get(longOperationKeys.operation('op-demote-n2')), { status: 'running', cursor: 'drain' })
})

t.test('the repair of a member that was lost before continues after the removal of its vote', async (t) => {
  const world = foundedWorld(FIVE)
  world.do(start('lost', 'n5'))
  world.do(recover())
  t.match(world.get(longOperationKeys.operation('op-lost-n5')), { status: 'running', cursor: 'repair' })
  t.equal(world.get(longOperationKeys.operation('op_12')), undefined, 'and is not started a second time')
})

t.test('a cluster that was never founded is recovered as well', async (t) => {
  const world = new MapWorld()
  world.do(recover())
  t.equal(clusterRecoveries(world).length, 1)
  t.equal(world.get(memberKeys.members()), undefined, 'its leader founds its members as usual')
})
