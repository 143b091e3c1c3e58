/** What would move with other weights or zones: the sums, what they leave out, and the blockers and warnings. */
import fc from 'fast-check'
import t from 'tap'
import { placeReplicas } from '../../cluster/placement/rendezvous.ts'
import { MoveTally, type PlacedMember } from '../../src/operations/placement/move-tally.ts'
import {
  blockersOf,
  placed,
  spaceWarnings,
  zoneWarnings,
} from '../../src/operations/placement/plan-cluster-placement.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { MembersRecord } from '../../src/state-machine/members/records.ts'

const COPIES = 3

function member(nodeId: string, zone: string, weight = 1): PlacedMember {
  return { nodeId, zone, weight }
}

const FOUR = ['a', 'b', 'c', 'a'].map((zone, at) => member(`n${at + 1}`, zone))

function chunk(id: string, replicas: readonly string[], references = 1): ChunkRecord {
  const rest = { birth: 'b-1', checksum: '', owed: [], condemnedAt: null, size: 10, sealedSize: 10 }
  return { id, tenantId: 'acme', replicas, references, ...rest } as ChunkRecord
}

const placedBy = (members: readonly PlacedMember[], count: number) =>
  Array.from({ length: count }, (_, n) => {
    const id = `${n}`.padStart(16, '0')
    return chunk(id, placeReplicas({ blobId: id, members, copies: COPIES }))
  })

t.test('nothing moves when nothing changes, and chunks that nothing refers to never move', async (t) => {
  const tally = new MoveTally(FOUR, COPIES)
  tally.add(placedBy(FOUR, 100))
  tally.add([chunk('f'.repeat(16), ['n1'], 0)])
  t.match(tally.sums(), { chunks: 101, chunksToMove: 0, copiesToMake: 0, bytesToMove: 0, singleZones: 0 })
})

t.test('a member whose weight becomes 0 gives everything, and gets nothing', async (t) => {
  const chunks = placedBy(FOUR, 200)
  const held = chunks.filter(({ replicas }) => replicas.includes('n4')).length
  const tally = new MoveTally(
    FOUR.map((each) => (each.nodeId === 'n4' ? { ...each, weight: 0 } : each)),
    COPIES,
  )
  tally.add(chunks)
  const { nodes, copiesToMake } = tally.sums()
  t.ok(held > 0)
  t.match(
    nodes.find(({ nodeId }) => nodeId === 'n4'),
    { copiesIn: 0, copiesOut: held, bytesOut: 10 * held },
  )
  t.equal(copiesToMake, held)
})

t.test('what nodes get is what moves, and no chunk loses a copy', async () => {
  const weights = fc.array(fc.constantFrom(0, 1, 3), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(
      weights,
      fc.array(fc.constantFrom('a', 'b'), { minLength: 4, maxLength: 4 }),
      (given, zones) => {
        const members = FOUR.map(({ nodeId }, at) => member(nodeId, zones[at] ?? 'a', given[at] ?? 1))
        const tally = new MoveTally(members, COPIES)
        tally.add(placedBy(FOUR, 30))
        const { nodes, copiesToMake, bytesToMove } = tally.sums()
        const into = nodes.reduce((sum, { copiesIn }) => sum + copiesIn, 0)
        const out = nodes.reduce((sum, { copiesOut }) => sum + copiesOut, 0)
        const isSpared = nodes.every(({ nodeId, copiesIn }) => {
          const { weight = 0 } = members.find((one) => one.nodeId === nodeId) ?? {}
          return weight > 0 || copiesIn === 0
        })
        return into === copiesToMake && out <= into && bytesToMove === 10 * into && isSpared
      },
    ),
  )
})

t.test('too few members that take copies block, fewer zones and too little space warn', async (t) => {
  const none = FOUR.map((each) => ({ ...each, weight: each.nodeId === 'n1' ? 1 : 0 }))
  t.match(blockersOf(none), [{ code: 'precondition_failed', message: /1 members would take copies/ }])
  t.same(blockersOf(FOUR), [])
  const inOne = FOUR.map((each) => ({ ...each, zone: 'a' }))
  t.match(zoneWarnings(FOUR, inOne), [/All copies would be in one zone/])
  const inTwo = FOUR.map((each) => ({ ...each, zone: each.zone === 'c' ? 'b' : each.zone }))
  t.match(zoneWarnings(FOUR, inTwo), [/2 zones instead of 3/])
  t.same(zoneWarnings(inTwo, FOUR), [])
  const node = { copiesIn: 1, bytesIn: 500, copiesOut: 0, bytesOut: 0 }
  const sums = {
    chunks: 1,
    chunksToMove: 1,
    copiesToMake: 1,
    bytesToMove: 500,
    singleZones: 0,
    nodes: ['n1', 'n2', 'n3'].map((nodeId) => ({ nodeId, ...node })),
  }
  const disk = { level: 'open', totalBytes: 1_000, isSuspect: false } as const
  t.match(
    spaceWarnings(sums, [
      { nodeId: 'n1', status: null, disk: { ...disk, freeBytes: 499 } },
      { nodeId: 'n2', status: null, disk: { ...disk, freeBytes: 500 } },
    ]),
    [/"n1" has 499 bytes free for 500/, /"n3" does not say/],
  )
})

t.test('only active members are placed otherwise', async (t) => {
  const addresses = { peerAddress: 'h:1', dataAddress: null, adminAddress: null }
  const rest = { ...addresses, incarnation: null, version: null, addedAt: 0 }
  const rows = {
    members: [
      { ...member('n1', 'a'), phase: 'active', ...rest },
      { ...member('n2', 'b'), phase: 'draining', ...rest },
    ],
    departed: [],
    configIndex: 1,
  } as unknown
  const known = rows as MembersRecord
  t.same(placed(known, [{ nodeId: 'n1', weight: 2 }]), [member('n1', 'a', 2), member('n2', 'b', 0)])
  for (const nodeId of ['n2', 'n9']) t.throws(() => placed(known, [{ nodeId }]), { code: 'not_found' })
})
