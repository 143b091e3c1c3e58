/**
 * Placement: the same on every node, spread over zones, balanced, and stable when a node joins.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type PlacementMember, placeReplicas } from '../../cluster/placement/rendezvous.ts'

const SEED = 20260801

const blobIds = fc.stringMatching(/^[0-9a-f]{64}$/)

const standings = fc.constantFrom('willing', 'willing', 'sparing', 'unfit')

const memberLists: fc.Arbitrary<PlacementMember[]> = fc.uniqueArray(
  fc.record({
    nodeId: fc.stringMatching(/^[a-z0-9-]{1,12}$/),
    zone: fc.constantFrom('a', 'b', 'c', 'd'),
    weight: fc.constantFrom(0, 0.5, 1, 1, 1, 3),
  }),
  { selector: (member) => member.nodeId, maxLength: 12 },
)

/** Knuth's multiplicative hash: ids as different as digests, and the same in every run. */
function blobIdOf(n: number): string {
  const word = (salt: number) => (Math.imul(n + salt, 2654435761) >>> 0).toString(16).padStart(8, '0')
  return [1, 77, 12345, 99991].map(word).join('')
}

function nodesInOwnZones(count: number): PlacementMember[] {
  return Array.from({ length: count }, (_, n) => ({
    nodeId: `node-${n + 1}`,
    zone: `zone-${n + 1}`,
    weight: 1,
  }))
}

t.test('placeReplicas', async (t) => {
  t.test('gives the same answer for any order of the members', async (t) => {
    const inputs = memberLists.chain((members) =>
      fc.tuple(fc.constant(members), fc.shuffledSubarray(members, { minLength: members.length })),
    )
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, inputs, fc.nat(12), (blobId, [members, shuffled], copies) => {
          const one = placeReplicas({ blobId, members, copies })
          assert.deepEqual(placeReplicas({ blobId, members: shuffled, copies }), one)
        }),
        { seed: SEED, numRuns: 300 },
      ),
    )
  })

  t.test('gives distinct nodes with a weight, as many as requested or as there are', async (t) => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, memberLists, fc.nat(12), (blobId, members, copies) => {
          const placed = placeReplicas({ blobId, members, copies })
          const able = members.filter(({ weight }) => weight > 0).map(({ nodeId }) => nodeId)
          assert.equal(new Set(placed).size, placed.length)
          assert.equal(placed.length, Math.min(copies, able.length))
          assert.ok(placed.every((nodeId) => able.includes(nodeId)))
        }),
        { seed: SEED, numRuns: 300 },
      ),
    )
  })

  t.test('puts no further copy into a zone while another zone that could take it has fewer', async (t) => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, memberLists, fc.nat(12), (blobId, members, copies) => {
          const placed = new Set(placeReplicas({ blobId, members, copies }))
          const able = members.filter(({ weight }) => weight > 0)
          const zones = [...new Set(able.map(({ zone }) => zone))].map((name) => {
            const inZone = able.filter(({ zone }) => zone === name)
            return { size: inZone.length, copies: inZone.filter(({ nodeId }) => placed.has(nodeId)).length }
          })
          const most = Math.max(0, ...zones.map((zone) => zone.copies))
          for (const { size, copies } of zones) assert.ok(copies >= most - 1 || copies === size)
        }),
        { seed: SEED, numRuns: 300 },
      ),
    )
  })

  t.test('answers n copies with a prefix of the answer for more', async (t) => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, memberLists, fc.nat(12), (blobId, members, copies) => {
          const all = placeReplicas({ blobId, members, copies: members.length })
          assert.deepEqual(placeReplicas({ blobId, members, copies }), all.slice(0, copies))
        }),
        { seed: SEED, numRuns: 200 },
      ),
    )
  })

  const statusLists = memberLists.chain((members) =>
    fc
      .array(standings, { minLength: members.length, maxLength: members.length })
      .map((given) => members.map((member, n) => ({ ...member, status: given[n] ?? 'willing' }))),
  )
  const copyStatusOf = (members: readonly PlacementMember[], nodeId: string) =>
    members.find((member) => member.nodeId === nodeId)

  t.test('puts unfit members after all others, and leaves none out', async (t) => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, statusLists, (blobId, members) => {
          const placed = placeReplicas({ blobId, members, copies: members.length })
          const unfit = placed.map((nodeId) => Number(copyStatusOf(members, nodeId)?.status === 'unfit'))
          assert.deepEqual(
            unfit,
            unfit.toSorted((one, other) => one - other),
          )
          assert.equal(placed.length, members.filter(({ weight }) => weight > 0).length)
        }),
        { seed: SEED, numRuns: 300 },
      ),
    )
  })

  t.test('spreads over the zones of fit members as if all of them were willing', async (t) => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, statusLists, fc.nat(6), (blobId, members, copies) => {
          const fit = members.filter(({ status, weight }) => status !== 'unfit' && weight > 0)
          const indifferent = fit.map((member) => ({ ...member, status: 'willing' as const }))
          const inZones = (placed: readonly string[]) => {
            const zones = placed.map((nodeId) => copyStatusOf(members, nodeId)?.zone)
            return zones
              .map((zone) => zones.filter((other) => other === zone).length)
              .toSorted((one, other) => one - other)
          }
          const wanted = Math.min(copies, fit.length)
          const placed = placeReplicas({ blobId, members, copies: wanted })
          assert.deepEqual(
            inZones(placed),
            inZones(placeReplicas({ blobId, members: indifferent, copies: wanted })),
          )
        }),
        { seed: SEED, numRuns: 300 },
      ),
    )
  })

  t.test('spares a member while a willing one of an equally good zone is left', async (t) => {
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(blobIds, statusLists, (blobId, members) => {
          const zones = new Map<string, number>()
          const left = new Set(members.filter(({ weight }) => weight > 0).map(({ nodeId }) => nodeId))
          for (const nodeId of placeReplicas({ blobId, members, copies: members.length })) {
            left.delete(nodeId)
            const { zone = '', status } = copyStatusOf(members, nodeId) ?? {}
            const copies = zones.get(zone) ?? 0
            if (status === 'sparing') {
              const better = [...left].filter((other) => {
                const member = copyStatusOf(members, other)
                return member?.status === 'willing' && (zones.get(member.zone) ?? 0) <= copies
              })
              assert.deepEqual(better, [])
            }
            zones.set(zone, copies + 1)
          }
        }),
        { seed: SEED, numRuns: 300 },
      ),
    )
  })

  t.test('gives the same answers in every release', async (t) => {
    const members = [...nodesInOwnZones(4), { nodeId: 'big', zone: 'zone-1', weight: 2.5 }]
    const placed = Array.from({ length: 6 }, (_, n) =>
      placeReplicas({ blobId: blobIdOf(n), members, copies: 3 }),
    )
    t.strictSame(placed, PINNED)
  })

  t.test('refuses a negative weight and one that is not a number', async (t) => {
    for (const weight of [-1, Number.NaN]) {
      const members = [{ nodeId: 'a', zone: 'z', weight }]
      t.throws(() => placeReplicas({ blobId: 'ff', members, copies: 1 }), RangeError)
    }
  })
})

/** Recorded once; a change here moves data of every existing cluster. */
const PINNED = [
  ['big', 'node-3', 'node-2'],
  ['node-2', 'node-1', 'node-4'],
  ['big', 'node-2', 'node-3'],
  ['node-3', 'big', 'node-2'],
  ['node-1', 'node-2', 'node-3'],
  ['node-1', 'node-3', 'node-2'],
]

const BLOBS = 100_000

t.test('placeReplicas over 100,000 blobs', async (t) => {
  for (const count of [5, 20, 50]) {
    t.test(
      `gives ${count} equal nodes the same number of copies within 5 %, and moves 1/n when one more comes`,
      async (t) => {
        const members = nodesInOwnZones(count)
        const more = nodesInOwnZones(count + 1)
        const load = new Map<string, number>()
        let moved = 0
        for (let n = 0; n < BLOBS; n++) {
          const blobId = blobIdOf(n)
          const before = placeReplicas({ blobId, members, copies: 3 })
          const after = placeReplicas({ blobId, members: more, copies: 3 })
          for (const nodeId of before) load.set(nodeId, (load.get(nodeId) ?? 0) + 1)
          moved += after.filter((nodeId) => !before.includes(nodeId)).length
        }
        const fair = (3 * BLOBS) / count
        for (const copies of load.values()) t.ok(Math.abs(copies / fair - 1) < 0.05, `${copies} of ${fair}`)
        t.equal(load.size, count)
        t.ok(moved / (3 * BLOBS) <= 1 / (count + 1) + 0.05, `${moved} of ${3 * BLOBS} copies moved`)
      },
    )
  }

  t.test(
    'gives a node with twice the weight twice the copies, within 5 %, when one copy is placed',
    async (t) => {
      const members = nodesInOwnZones(5).map((member, n) => ({ ...member, weight: n === 0 ? 2 : 1 }))
      let heavy = 0
      for (let n = 0; n < BLOBS; n++) {
        if (placeReplicas({ blobId: blobIdOf(n), members, copies: 1 })[0] === 'node-1') heavy++
      }
      t.ok(Math.abs(heavy / (BLOBS / 3) - 1) < 0.05, `${heavy} of ${BLOBS}`)
    },
  )
})
