/** The pace of a walk against the two plain ways: a seek for each line, and reading everything. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { ReadPace } from '../../src/store/rows/read-pace.ts'

/** What a seek with its read costs, in rows read. */
const SEEK = 24

/** A walk over folders of these sizes, until `lines` of them were stood on. */
function walk(folders: readonly number[], lines: number) {
  const pace = new ReadPace(lines)
  const reads: number[] = []
  let [folder, inside, found] = [0, 0, 0]
  while (folder < folders.length && found < lines) {
    let [rows, stood] = [0, 0]
    for (; rows < pace.rows && folder < folders.length; rows++) {
      if (inside === 0 && found < lines) {
        stood++
        found++
      }
      inside++
      if (inside === folders[folder]) [folder, inside] = [folder + 1, 0]
    }
    // The rest of a folder is sought over.
    if (inside > 0) [folder, inside] = [folder + 1, 0]
    reads.push(rows)
    pace.took(rows, stood)
  }
  const rows = reads.reduce((sum, one) => sum + one, 0)
  return { rows, cost: rows + SEEK * reads.length, found, reads }
}

t.test('reads at most a bounded number of rows for each line, for any rows between the lines', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(1, 2, 3, 1_000_000), fc.integer({ min: 1, max: 300 })), {
        maxLength: 1500,
        size: 'max',
      }),
      fc.integer({ min: 1, max: 1001 }),
      (folders, lines) => {
        const { rows, found } = walk(folders, lines)
        assert.equal(found, Math.min(lines, folders.length), 'it comes to its end')
        assert.ok(rows <= 64 + 12 * SEEK * found, `${rows} rows for ${found} lines`)
      },
    ),
    { seed: 51, numRuns: 200 },
  )
  t.end()
})

t.test('costs hardly more than the better of reading on and seeking', (t) => {
  for (const size of [1, 2, 3, 5, 8, 16, 17, 30, 64, 100, 1000, 1_000_000]) {
    const lines = 1001
    const { cost, reads } = walk(Array<number>(2000).fill(size), lines)
    const readingOn = size * lines + SEEK * Math.ceil((size * lines) / 1000)
    const better = Math.min(readingOn, lines * (SEEK + 1))
    t.ok(cost <= 1.07 * better, `folders of ${size}: ${cost} against ${better}, ${reads.length} reads`)
  }
  t.end()
})

t.test('finds its way back when folders grow small again, or large', (t) => {
  const [small, large] = [Array<number>(400).fill(2), Array<number>(400).fill(5000)]
  const { cost } = walk([...large, ...small, ...large, ...small], 1600)
  t.ok(cost <= 800 * (SEEK + 1) * 1.5 + 800 * 2 * 3, `${cost}`)
  t.end()
})

t.test('a page without folders is read in few pieces, and hardly further than its end', (t) => {
  const { rows, reads } = walk(Array<number>(5000).fill(1), 1001)
  t.ok(reads.length <= 4)
  t.equal(rows, 1001)
  t.same(walk(Array<number>(50).fill(1), 2).reads, [2])
  t.end()
})
