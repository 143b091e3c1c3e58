/** The weight and zone that an operator sets for a member: over the file of its node, until they are cleared. */
import fc from 'fast-check'
import t from 'tap'
import { memberIn } from '../../src/state-machine/members/members.ts'
import { fileOf } from '../../src/state-machine/members/placing.ts'
import { WEIGHT_MAX } from '../../src/state-machine/members/records.ts'
import { foundedWorld, members, start } from './member-commands.ts'
import type { MapWorld } from './map-world.ts'

const file = { zone: 'z', weight: 1 }

const place = (nodeId: string, zone: string | null, weight: number | null) =>
  ({ type: 'placeMember', nodeId, zone, weight, copiesNeeded: 2 }) as const

const introduce = (nodeId: string, zone: string, weight: number) =>
  ({
    type: 'introduceMember',
    nodeId,
    incarnation: `life-of-${nodeId}`,
    version: '1.0.0',
    peerAddress: `${nodeId}:9002`,
    zone,
    weight,
    dataAddress: null,
    adminAddress: null,
  }) as const

const memberOf = (world: MapWorld, nodeId: string) => memberIn(members(world), nodeId)

t.test('placeMember', async (t) => {
  t.test('holds over the file, also when the node reports another one', async (t) => {
    const world = foundedWorld()
    world.do(place('n2', null, 3))
    t.match(memberOf(world, 'n2'), { zone: 'z', weight: 3, placement: { zone: null, weight: 3, file } })
    const { configIndex } = members(world)
    world.do(introduce('n2', 'rack-2', 7))
    t.match(memberOf(world, 'n2'), { zone: 'rack-2', weight: 3 }, 'the zone is still that of the file')
    t.ok(members(world).configIndex > configIndex, 'every node has to learn it')
    world.do(place('n2', 'rack-9', null))
    t.match(memberOf(world, 'n2'), { zone: 'rack-9', weight: 7 }, 'the whole is replaced')
    world.do(place('n2', null, null))
    t.match(memberOf(world, 'n2'), { zone: 'rack-2', weight: 7 })
    t.notOk('placement' in (memberOf(world, 'n2') ?? {}), 'the row is as it was')
  })

  t.test('changes nothing when it is repeated', async (t) => {
    const world = foundedWorld()
    world.do(place('n2', null, 3))
    const before = members(world)
    world.do(place('n2', null, 3))
    t.same(members(world), before)
    world.do(place('n1', null, null))
    t.same(members(world), before)
  })

  t.test('refuses members that are none, or take no copies, and weights out of range', async (t) => {
    const world = foundedWorld()
    t.match(world.run(place('n9', null, 1)), { code: 'not_found' })
    for (const weight of [-1, WEIGHT_MAX + 1, Number.NaN])
      t.match(world.run(place('n1', null, weight)), { code: 'invalid_argument' }, String(weight))
    t.match(world.run(place('n1', '', null)), { code: 'invalid_argument' })
    world.do(start('demote', 'n3'))
    world.do({
      type: 'stepMembership',
      operationId: 'op-demote-n3',
      from: 'demote',
      to: 'drain',
      phase: 'drain',
    })
    t.match(world.run(place('n3', null, 2)), { code: 'precondition_failed', message: /draining/ })
  })

  t.test('refuses to leave fewer nodes or zones for copies than an upload needs', async (t) => {
    const world = foundedWorld()
    world.do(place('n1', null, 0))
    t.match(world.run(place('n2', null, 0)), { code: 'precondition_failed', message: /1 members would take/ })
    world.do(place('n1', null, null))
    world.do(place('n1', 'rack-2', null))
    const message = /in 1 of 2 zones/
    t.match(world.run(place('n1', 'z', null)), { code: 'precondition_failed', message })
    t.match(world.run(place('n1', null, null)), { code: 'precondition_failed', message }, 'by clearing')
    t.match(world.run(place('n1', 'rack-2', 0)), { code: 'precondition_failed', message }, 'by weight')
    t.match(world.run(place('n2', 'rack-2', 5)), { ok: true })
  })

  t.test('a cluster that has too few already may be changed', async (t) => {
    const world = foundedWorld(['n1'])
    t.match(world.run(place('n1', 'rack-2', 5)), { ok: true })
    t.match(world.run(place('n1', 'rack-2', 0)), { code: 'precondition_failed' })
  })

  t.test('in any order of reports and changes: what is set holds, else the file', async () => {
    const zone = fc.constantFrom('a', 'b', 'c')
    const weight = fc.integer({ min: 0, max: 5 })
    const name = fc.constantFrom('n1', 'n2', 'n3')
    const steps = fc.array(
      fc.oneof(
        fc.tuple(name, fc.option(zone), fc.option(weight)).map((one) => place(...one)),
        fc.tuple(name, zone, weight).map((one) => introduce(...one)),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(steps, (commands) => {
        const world = foundedWorld()
        const files = new Map(['n1', 'n2', 'n3'].map((one) => [one, file]))
        const set = new Map<string, { readonly zone: string | null; readonly weight: number | null }>()
        for (const command of commands) {
          const { ok } = world.run(command)
          if (!ok) continue
          const { nodeId, zone, weight } = command
          if (command.type === 'placeMember') set.set(nodeId, { zone, weight })
          else files.set(nodeId, { zone: command.zone, weight: command.weight })
        }
        for (const member of members(world).members) {
          const said = files.get(member.nodeId) ?? file
          const over = set.get(member.nodeId)
          const isRight =
            member.zone === (over?.zone ?? said.zone) &&
            member.weight === (over?.weight ?? said.weight) &&
            JSON.stringify(fileOf(member)) === JSON.stringify(said)
          if (!isRight) throw new Error(`${member.nodeId} is placed otherwise`)
        }
      }),
    )
  })
})
