/** In which parts a version goes to the other site. [docs/adr/0098-what-replication-sends.md] */
import t from 'tap'
import { PART_SIZES, planParts } from '../../../src/workers/sites/part-plan.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

const sizesOf = (size: number, assembledOf?: readonly number[]) =>
  planParts(size, assembledOf, PART_SIZES)?.map(({ start, end }) => end - start) ?? null

t.test('a small version goes whole', async (t) => {
  t.equal(sizesOf(0), null)
  t.equal(sizesOf(PART_SIZES.wholeBytesMax), null)
})

t.test('a large one goes in parts that S3 accepts, and that cover it in order', async (t) => {
  for (const size of [PART_SIZES.wholeBytesMax + 1, 5 * GIB, 5 * GIB + 1, 320 * GIB, 5 * 1024 * GIB]) {
    const parts = planParts(size, undefined, PART_SIZES) ?? []
    t.ok(parts.length > 1 && parts.length <= 10_000, `${size}: ${parts.length} parts`)
    t.ok(parts.slice(0, -1).every(({ start, end }) => end - start >= 5 * MIB && end - start <= 5 * GIB))
    t.ok(parts.every(({ start, end }, n) => start === (parts[n - 1]?.end ?? 0) && end > start))
    t.equal(parts.at(-1)?.end, size)
  }
})

t.test('an assembled one goes in its own parts where S3 accepts them, also a small one', async (t) => {
  t.same(sizesOf(11 * MIB, [5 * MIB, 6 * MIB]), [5 * MIB, 6 * MIB])
  t.same(sizesOf(3, [3]), [3])
  t.same(sizesOf(5 * MIB + 1, [5 * MIB, 1]), [5 * MIB, 1])
  t.equal(sizesOf(6 * MIB, [MIB, 5 * MIB]), null, 'a small part before the last')
  t.equal(sizesOf(100 * MIB, [99 * MIB, MIB / 2, MIB / 2])?.length, 4, 'in parts of its own')
})
