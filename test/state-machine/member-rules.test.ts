/** Membership rules from feature level 3 on; below it every member decides like those that are not upgraded. */
import t from 'tap'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { DEPARTED_MAX, type DepartedRecord, REMEMBERED_MAX } from '../../src/state-machine/members/records.ts'
import { mayHold } from '../../src/state-machine/members/members.ts'
import { fresh, type MapWorld, putChunks, worldWithBucket } from './map-world.ts'
import { foundedWorld, members, phases, start, step, walk } from './member-commands.ts'

const OLDER = 2

/** Adds this number of names to the departed members, oldest first. */
function departed(world: MapWorld, count: number, how: DepartedRecord['how']): void {
  const present = members(world)
  const names = Array.from({ length: count }, (_, n) => `old-${present.departed.length + n}`)
  const gone = names.map((nodeId) => ({ nodeId, incarnation: null, how, reason: null, at: 1, index: 1 }))
  world.rows.set(memberKeys.members(), { ...present, departed: [...present.departed, ...gone] })
}

function removed(world: MapWorld, nodeId: string): void {
  world.do(start('demote', nodeId))
  walk(world, `op-demote-${nodeId}`, ['demote', 'drain', 'verify', 'done'])
  world.do(start('remove', nodeId))
  world.do(step(`op-remove-${nodeId}`, 'exclude', 'done'))
}

t.test('a lost member can be replaced', (t) => {
  const world = foundedWorld(['n1', 'n2', 'n3', 'n4'])
  world.do(start('lost', 'n4'))
  t.match(world.run(start('replace', 'n4', { newcomer: 'n5' })), {
    code: 'membership_change_in_progress',
  })
  world.do(step('op-lost-n4', 'exclude', 'repair'))
  world.featureLevel = OLDER
  t.match(world.run(start('replace', 'n4', { newcomer: 'n5' })), { ok: false, blocker: 'not_demoted' })
  world.featureLevel = FEATURE_LEVEL
  world.do(start('replace', 'n4', { newcomer: 'n5' }))
  const way = ['catchUp', 'promote', 'drain', 'verify', 'exclude', 'done'] as const
  for (const [n, to] of way.entries()) {
    const from = way[n - 1]
    if (from !== undefined) world.do(step('op-replace-n4', from, to))
    if (to === 'drain') t.match(phases(world), { n4: 'lost', n5: 'active' })
  }
  t.same(phases(world), { n1: 'active', n2: 'active', n3: 'active', n5: 'active' })
  t.match(members(world).departed, [{ nodeId: 'n4', how: 'lost' }])
  t.match(world.run(step('op-lost-n4', 'repair', 'done')), { ok: true }, 'the repair ends as well')
  t.end()
})

t.test('departures', (t) => {
  t.test('at a lower level end at 1,024', (t) => {
    const world = foundedWorld()
    world.featureLevel = OLDER
    departed(world, DEPARTED_MAX, 'removed')
    t.match(world.run(start('join', 'n4')), { ok: false, code: 'precondition_failed' })
    t.end()
  })

  t.test('forget the oldest removed member, and its name is free', (t) => {
    const world = foundedWorld(['n1', 'n2', 'n3', 'n4'])
    departed(world, REMEMBERED_MAX, 'removed')
    t.match(world.run(start('join', 'old-0')), { ok: false, code: 'member_tombstoned' })
    removed(world, 'n4')
    const names = members(world).departed.map(({ nodeId }) => nodeId)
    t.same([names.length, names[0], names.at(-1)], [REMEMBERED_MAX, 'old-1', 'n4'])
    t.ok(mayHold(world, 'old-0') && !mayHold(world, 'old-1'), 'no copy is listed on the remembered ones')
    t.match(world.run(start('join', 'old-1')), { ok: false, code: 'member_tombstoned' })
    t.match(world.run(start('join', 'old-0')), { ok: true })
    t.end()
  })

  t.test('a lost member is never forgotten', (t) => {
    const world = foundedWorld(['n1', 'n2', 'n3', 'n4'])
    departed(world, 1, 'lost')
    departed(world, REMEMBERED_MAX - 1, 'removed')
    removed(world, 'n4')
    t.match(members(world).departed[0], { nodeId: 'old-0', how: 'lost' })
    t.equal(members(world).departed.length, REMEMBERED_MAX)
    departed(world, REMEMBERED_MAX, 'lost')
    t.match(world.run(start('join', 'n9')), { ok: false, message: /members have left/ })
    t.end()
  })
  t.end()
})

t.test('an operation records from its start how much there is to move, and how much is done', (t) => {
  const world = foundedWorld(['n1', 'n2', 'n3'], worldWithBucket())
  world.do(putChunks('k', [fresh('c1')]))
  const size = world.get(chunkKeys.chunk('acme', 'c1'))?.sealedSize ?? 0
  const toMove = { copies: 2, bytes: size + 100 }
  const started = world.do(start('demote', 'n2', { more: { toMove, dueInMs: 60_000 } }))
  const total = { blobsTotal: 2, bytesTotal: size + 100 }
  t.match(started.operation, { progress: { ...total, blobsDone: 0 }, dueAt: Number })
  t.equal((started.operation?.dueAt ?? 0) - (started.operation?.startedAt ?? 0), 60_000)
  world.do(step('op-demote-n2', 'demote', 'drain'))
  const items = [{ tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1', target: null, copiesKept: 1 }] as const
  world.do({ type: 'evacuateCopies', operation: 'op-demote-n2', items })
  t.match(world.get(longOperationKeys.operation('op-demote-n2'))?.progress, { skipped: 1, bytesTotal: 100 })
  const older = foundedWorld()
  older.featureLevel = OLDER
  older.do(start('join', 'n4', { more: { toMove, dueInMs: 5 } }))
  t.match(older.get(longOperationKeys.operation('op-join-n4')), {
    progress: { blobsTotal: 0 },
    dueAt: undefined,
  })
  t.end()
})
