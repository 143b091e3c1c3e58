/** Where chunks are, added up: by node, with what is owed, what has one copy or one zone, and how far nodes are from their weights. */
import t from 'tap'
import fc from 'fast-check'
import { skewOf } from '../../src/base/placement-skew.ts'
import { addPlacements } from '../../src/cli/admin/placement-commands.ts'
import { placementView } from '../../src/api/admin/placement.ts'
import { PlacementTally } from '../../src/operations/placement/placement-tally.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import type { MemberPhase, MemberRecord } from '../../src/state-machine/members/records.ts'

function member(nodeId: string, zone: string, weight = 1, phase: MemberPhase = 'active'): MemberRecord {
  const addresses = { peerAddress: 'h:1', dataAddress: null, adminAddress: null }
  return { nodeId, zone, weight, phase, ...addresses, incarnation: null, version: null, addedAt: 0 }
}

function chunk(id: string, sealedSize: number, replicas: readonly string[], owed: readonly string[] = []) {
  const rest = { birth: 'b-1', checksum: '', references: 1, condemnedAt: null }
  return { id, tenantId: 'acme', size: sealedSize, sealedSize, replicas, owed, ...rest } as ChunkRecord
}

const MEMBERS = [member('n1', 'a'), member('n2', 'b', 2), member('n3', 'b', 1, 'draining')]

t.test(
  'counts copies and bytes of each node, also of those that hold nothing and of nodes that left',
  async (t) => {
    const tally = new PlacementTally(MEMBERS)
    tally.add([chunk('c1', 100, ['n1', 'n2'], ['n3']), chunk('c2', 10, ['gone'])])
    t.match(tally.sums(), {
      chunks: 2,
      bytes: 110,
      held: { copies: 3, bytes: 210 },
      owed: { copies: 1, bytes: 100 },
      singleCopies: 1,
      nodes: [
        { nodeId: 'gone', zone: null, weight: 0, held: { copies: 1, bytes: 10 } },
        { nodeId: 'n1', zone: 'a', weight: 1, held: { copies: 1, bytes: 100 }, owed: { copies: 0 } },
        { nodeId: 'n2', zone: 'b', weight: 2, held: { copies: 1, bytes: 100 } },
        {
          nodeId: 'n3',
          zone: 'b',
          weight: 0,
          held: { copies: 0, bytes: 0 },
          owed: { copies: 1, bytes: 100 },
        },
      ],
    })
  },
)

t.test('counts chunks whose copies are all in one zone, unless there is only one', async (t) => {
  const chunks = [chunk('c1', 1, ['n2', 'n3']), chunk('c2', 1, ['n1', 'n2']), chunk('c3', 1, [])]
  const several = new PlacementTally(MEMBERS)
  several.add(chunks)
  t.equal(several.sums().singleZones, 1)
  const one = new PlacementTally(MEMBERS.map((each) => ({ ...each, zone: 'a' })))
  one.add(chunks)
  t.equal(one.sums().singleZones, 0)
})

t.test('counts a chunk that is seen twice in neighbouring pages once', async (t) => {
  const tally = new PlacementTally(MEMBERS)
  tally.add([chunk('c1', 5, ['n1']), chunk('c1', 5, ['n1'])])
  tally.add([chunk('c1', 5, ['n1']), chunk('c2', 5, ['n1'])])
  t.match(tally.sums(), { chunks: 2, held: { copies: 2, bytes: 10 } })
})

t.test(
  'skew divides the share of bytes by the share of the weight, and leaves out nodes without one',
  async (t) => {
    const nodes = [
      { nodeId: 'n1', weight: 1, bytes: 50 },
      { nodeId: 'n2', weight: 3, bytes: 50 },
      { nodeId: 'n3', weight: 0, bytes: 900 },
    ]
    t.same(skewOf(nodes), { most: { nodeId: 'n1', ratio: 2 }, least: { nodeId: 'n2', ratio: 2 / 3 } })
    t.equal(skewOf([{ nodeId: 'n1', weight: 1, bytes: 0 }]), null, 'nothing is held')
    t.equal(skewOf([{ nodeId: 'n1', weight: 0, bytes: 9 }]), null, 'no node has a weight')
  },
)

t.test('answers add up to the same as one answer over all chunks, wherever they are cut', async (t) => {
  const nodes = ['n1', 'n2', 'n3', 'gone']
  const chunks = fc.array(
    fc.record({ size: fc.nat(9), replicas: fc.subarray(nodes), owed: fc.subarray(['n3']) }),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(chunks, fc.nat(12), (some, at) => {
      const all = some.map(({ size, replicas, owed }, n) => chunk(`c${n}`, size, replicas, owed))
      const view = (part: readonly ChunkRecord[]) => {
        const tally = new PlacementTally(MEMBERS)
        tally.add(part)
        const { isTruncated: _, ...rest } = placementView({
          sums: tally.sums(),
          disks: [],
          byDisk: null,
          nextContinuationToken: null,
        })
        return rest
      }
      const sum = addPlacements(view(all.slice(0, at)), view(all.slice(at)))
      const byName = (one: { nodeId: string }, other: { nodeId: string }) =>
        one.nodeId < other.nodeId ? -1 : 1
      const whole = view(all)
      const skewIsEqual = JSON.stringify(sum.skew) === JSON.stringify(skewOf(whole.nodes))
      t.same({ ...sum, nodes: sum.nodes.toSorted(byName) }, whole)
      return skewIsEqual
    }),
  )
})
