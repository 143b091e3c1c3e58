/** Two operators who look and ask, in whatever order, with and without the index that they saw. [decisions 12] */
import fc from 'fast-check'
import t from 'tap'
import { operationKeys } from '../../src/state-machine/operations/keys.ts'
import { STEPS_BY_KIND } from '../../src/state-machine/members/membership.ts'
import { unfinishedOperations } from '../../src/state-machine/operations/operations.ts'
import { MEMBERSHIP_KINDS, type MembershipStep } from '../../src/state-machine/operations/records.ts'
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
  // The driver takes a step of whatever goes on.
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

t.test('two operators race: who says what they saw is never surprised [membership.race]', (t) => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
      const world = foundedWorld()
      const seen = new Map<string, number>()
      /** By the index that was seen: how often something began on it. */
      const begun = new Map<number, number>()
      for (const [n, asked] of turns.entries()) {
        if (asked.what === 'look') {
          seen.set(asked.who, members(world).configIndex)
          continue
        }
        if (asked.what === 'drive') {
          drive(world, asked.at)
          continue
        }
        const { kind, name: nodeId, other, isCareful } = asked
        const newcomer = kind === 'join' ? nodeId : kind === 'replace' ? other : null
        const expected = isCareful ? (seen.get(asked.who) ?? 0) : null
        const before = members(world)
        const reply = world.run(start(kind, nodeId, { id: `op${n}`, newcomer, expected }))
        const isBegun = world.get(operationKeys.operation(`op${n}`)) !== undefined
        if (!isBegun && JSON.stringify(members(world)) !== JSON.stringify(before))
          throw new Error(`${kind} ${nodeId} began nothing and changed the members`)
        if (reply.ok && isBegun && before.change !== null) throw new Error('two changes at a time')
        if (!isBegun || expected === null) continue
        if (expected !== before.configIndex) throw new Error(`${asked.who} was surprised`)
        begun.set(expected, (begun.get(expected) ?? 0) + 1)
      }
      if ([...begun.values()].some((count) => count > 1)) throw new Error('both began on what they saw')
      const moving = unfinishedOperations(world).filter(({ cursor }) =>
        MOVES_VOTES.includes(cursor as MembershipStep),
      )
      if (moving.length > 1) throw new Error('votes move for two operations')
    }),
    { numRuns: 500 },
  )
  t.end()
})

t.test('of two who saw the same, the second is refused, also when the first has ended', (t) => {
  const world = foundedWorld()
  const expected = members(world).configIndex
  world.do(start('demote', 'n3', { expected }))
  t.match(world.run(start('demote', 'n2', { expected })), { code: 'membership_change_in_progress' })
  world.do(step('op-demote-n3', 'demote', 'drain'))
  t.match(world.run(start('demote', 'n2', { expected })), { code: 'stale_config_index' })
  t.match(world.run(start('demote', 'n2')), { ok: true }, 'who does not say what they saw goes through')
  t.end()
})
