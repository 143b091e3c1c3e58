/** Which disk of a node gets a copy, and which directories it uses: the pure choices. */
import fc from 'fast-check'
import t from 'tap'
import { admitDisk, type DirectoryFacts } from '../../cluster/blobs/disks/disk-admission.ts'
import { crowdingOf, rankDisks } from '../../cluster/blobs/disks/disk-choice.ts'
import { LastPlaces } from '../../cluster/blobs/disks/last-places.ts'
import type { DiskLevel } from '../../cluster/base/disk-level.ts'

const GIB = 1024 ** 3
const OWNER = { clusterId: 'c', nodeId: 'n1' }

t.test('shares follow free bytes', async (t) => {
  const disks = [1, 3].map((free, at) => ({
    diskId: `d${at}`,
    freeBytes: free * GIB,
    level: 'open' as const,
  }))
  const names = Array.from({ length: 4_000 }, (_, n) => `${n}.birth`)
  const onFirst = names.filter((name) => rankDisks(name, disks)[0] === 'd0').length
  t.ok(onFirst > 880 && onFirst < 1_120, `${onFirst} of 4000 on the disk with a quarter of the free bytes`)
})

t.test('a disk that is full gets nothing, one that is to be spared only what no other takes', async (t) => {
  const levels: readonly DiskLevel[] = ['open', 'stopPlacing', 'stopWriting', 'reserve']
  const disk = fc.record({ freeBytes: fc.nat(100), level: fc.constantFrom(...levels) })
  fc.assert(
    fc.property(fc.array(disk, { maxLength: 6 }), fc.string(), (found, name) => {
      const disks = found.map((one, at) => ({ ...one, diskId: `d${at}` }))
      const ranked = rankDisks(name, disks)
      const of = (level: DiskLevel) =>
        disks.filter((one) => one.level === level && one.freeBytes > 0).map(({ diskId }) => diskId)
      const [open, spared] = [of('open'), of('stopPlacing')]
      t.same([...ranked].sort(), [...open, ...spared].sort())
      t.same(ranked.slice(0, open.length).toSorted(), open)
      t.same(rankDisks(name, disks.toReversed()), ranked, 'the order of the settings changes nothing')
      return true
    }),
  )
})

t.test(
  'a known directory is used only with an identity of this node that no other directory has',
  async () => {
    const id = fc.constantFrom('a', 'b')
    const identity = fc.option(
      fc.record({ clusterId: fc.constantFrom('c', 'x'), nodeId: fc.constantFrom('n1', 'n2'), diskId: id }),
    )
    const facts: fc.Arbitrary<DirectoryFacts> = fc.record({
      directory: fc.constant('/d'),
      found: fc.record({ isThere: fc.boolean(), isEmpty: fc.boolean(), identity }),
      knownId: fc.option(id),
      isFirst: fc.boolean(),
    })
    fc.assert(
      fc.property(facts, fc.subarray(['a', 'b']), (fact, taken) => {
        const { kind } = admitDisk(fact, OWNER, new Set(taken))
        const has = fact.found.identity
        const isOwn = has?.clusterId === 'c' && has.nodeId === 'n1' && !taken.includes(has.diskId)
        if ((kind === 'serve') !== isOwn) return false
        if (fact.knownId !== null) return kind === 'serve' || kind === 'out'
        if (kind !== 'make') return kind === 'serve' || kind === 'refuse'
        return has === null && (fact.isFirst || (fact.found.isThere && fact.found.isEmpty))
      }),
    )
  },
)

t.test('places are remembered up to a bound, the oldest go first', async (t) => {
  const places = new LastPlaces<string>(2)
  const name = (digit: string) => ({ id: digit.repeat(16), birth: 'b' })
  for (const digit of ['1', '2']) places.note(name(digit), `on ${digit}`)
  places.note(name('1'), 'moved')
  places.note(name('3'), 'on 3')
  t.same(
    ['1', '2', '3'].map((digit) => places.of(name(digit))),
    ['moved', undefined, 'on 3'],
  )
})

t.test(
  'copies leave a disk that is much fuller than another one, and no more than bring it to the mean',
  async (t) => {
    const disk = (diskId: string, used: number, totalBytes = 1000, level: DiskLevel = 'open') => {
      return { diskId, totalBytes, freeBytes: totalBytes - used, level }
    }
    t.equal(crowdingOf([]), null)
    t.equal(crowdingOf([disk('a', 900)]), null, 'one disk')
    t.equal(crowdingOf([disk('a', 600), disk('b', 450)]), null, 'nearly even')
    t.same(crowdingOf([disk('a', 800), disk('b', 100)]), { from: 'a', to: ['b'], bytes: 350 })
    t.same(crowdingOf([disk('a', 800), disk('b', 790), disk('c', 0)]), { from: 'a', to: ['c'], bytes: 270 })
    t.same(
      crowdingOf([disk('a', 800), disk('b', 0, 100)]),
      { from: 'a', to: ['b'], bytes: 72 },
      'a small disk',
    )
    t.equal(crowdingOf([disk('a', 950), disk('b', 100, 1000, 'stopWriting')]), null, 'no other takes copies')
    const any = fc.record({ used: fc.nat(1000), totalBytes: fc.integer({ min: 1000, max: 5000 }) })
    fc.assert(
      fc.property(fc.array(any, { minLength: 2, maxLength: 5 }), (found) => {
        const disks = found.map(({ used, totalBytes }, at) => disk(`d${at}`, used, totalBytes))
        const crowding = crowdingOf(disks)
        if (crowding === null) return true
        const usedOf = (id: string) => {
          const one = disks.find(({ diskId }) => diskId === id)
          return one === undefined ? 0 : (one.totalBytes - one.freeBytes) / one.totalBytes
        }
        const moved = disks.map((one) => {
          const takes = crowding.to.includes(one.diskId) ? crowding.bytes / crowding.to.length : 0
          const gives = one.diskId === crowding.from ? crowding.bytes : 0
          return disk(one.diskId, one.totalBytes - one.freeBytes + takes - gives, one.totalBytes)
        })
        return (
          !crowding.to.includes(crowding.from) &&
          moved.every((one) => one.freeBytes >= -1) &&
          usedOf(crowding.from) > 0.1
        )
      }),
    )
  },
)
