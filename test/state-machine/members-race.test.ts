/** Two operators who read and change the members in any order, with and without the index that they read. [decisions 12] */
import fc from 'fast-check'
import t from 'tap'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { STEPS_BY_KIND } from '../../src/state-machine/members/membership.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'
import { MEMBERSHIP_KINDS, type MembershipStep } from '../../src/state-machine/long-operations/records.ts'
import type { MapWorld } from './map-world.ts'
import { foundedWorld, members, start, step } from './member-commands.ts'

const MOVES_VOTES: readonly MembershipStep[] = ['catchUp', 'promote', 'demote', 'exclude']
const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5'] as const

const who = fc.constantFrom('anna', 'bert')
const name = fc.constantFrom(...NAMES)
const turn = fc.oneof(
  fc.record({ what: fc.constant('look' as const), who }),
  fc.record({
    what: fc.constant('ask' as const),
    who,
    kind: fc.constantFrom(...MEMBERSHIP_KINDS),
    name,
    other: name,
    isCareful: fc.boolean(),
  }),
  // The driver takes a step of an unfinished operation.
  fc.record({ what: fc.constant('drive' as const), at: fc.nat(5) }),
)

function drive(world: MapWorld, at: number): void {
  const going = unfinishedOperations(world)
  const operation = going[at % Math.max(1, going.length)]
  if (operation === undefined) return
  const way = STEPS_BY_KIND[operation.kind as keyof typeof STEPS_BY_KIND]
  const cursor = operation.cursor as MembershipStep
  world.run(step(operation.operationId, cursor, way[way.indexOf(cursor) + 1] ?? 'done'))
}

t.test(
  'two operators race: a change with an expected index applies only to that index [membership.race]',
  (t) => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
        const world = foundedWorld()
        const indexSeen = new Map<string, number>()
        /** By expected index: how many operations started on it. */
        const started = new Map<number, number>()
        for (const [n, turn] of turns.entries()) {
          if (turn.what === 'look') {
            indexSeen.set(turn.who, members(world).configIndex)
            continue
          }
          if (turn.what === 'drive') {
            drive(world, turn.at)
            continue
          }
          const { kind, name: nodeId, other, isCareful } = turn
          const newcomer = kind === 'join' ? nodeId : kind === 'replace' ? other : null
          const expected = isCareful ? (indexSeen.get(turn.who) ?? 0) : null
          const before = members(world)
          const reply = world.run(start(kind, nodeId, { id: `op${n}`, newcomer, expected }))
          const isStarted = world.get(longOperationKeys.operation(`op${n}`)) !== undefined
          if (!isStarted && JSON.stringify(members(world)) !== JSON.stringify(before))
            throw new Error(`${kind} ${nodeId} started nothing and changed the members`)
          if (reply.ok && isStarted && before.change !== null) throw new Error('two changes at a time')
          if (!isStarted || expected === null) continue
          if (expected !== before.configIndex) throw new Error(`${turn.who} was surprised`)
          started.set(expected, (started.get(expected) ?? 0) + 1)
        }
        if ([...started.values()].some((count) => count > 1))
          throw new Error('both started on the same index')
        const moving = unfinishedOperations(world).filter(({ cursor }) =>
          MOVES_VOTES.includes(cursor as MembershipStep),
        )
        if (moving.length > 1) throw new Error('votes move for two operations')
      }),
      { numRuns: 500 },
    )
    t.end()
  },
)

t.test('of two with the same index the second is refused, also when the first has ended', (t) => {
  const world = foundedWorld()
  const expected = members(world).configIndex
  world.do(start('demote', 'n3', { expected }))
  t.match(world.run(start('demote', 'n2', { expected })), { code: 'membership_change_in_progress' })
  world.do(step('op-demote-n3', 'demote', 'drain'))
  t.match(world.run(start('demote', 'n2', { expected })), { code: 'stale_config_index' })
  t.match(world.run(start('demote', 'n2')), { ok: true }, 'without an expected index it is accepted')
  t.end()
})
