/**
 * One flipped bit anywhere in the log is noticed, or changes nothing.
 */
import t from 'tap'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import { batchOf, entries, entry } from '../contracts/wal.ts'
import { contentOn, logOn } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

/** Three segments with every kind of batch. */
function severalSegments(): MemoryFiles {
  const files = new MemoryFiles()
  const log = logOn(files, { segmentBytesMax: 900 })
  log.open()
  log.append([
    batchOf(1, {
      hardState: { currentTerm: 1, votedFor: 'node-a' },
      entries: [entry(1, 1, ''), ...entries(2, 6)],
    }),
  ])
  log.compact({ index: 2, term: 1 })
  log.append([batchOf(2, { hardState: { currentTerm: 2, votedFor: null }, entries: entries(5, 7, 2) })])
  log.append([batchOf(3, { entries: [entry(8, 2, '\0'.repeat(600))] })])
  log.append([batchOf(4, { hardState: { currentTerm: 2, votedFor: 'node-b' } })])
  log.close()
  return files
}

/** How opening ends for each byte of `path` with one of its bits flipped. */
function flipAll(files: MemoryFiles, path: string): Map<string, number[]> {
  const outcomes = new Map<string, number[]>()
  const bytes = files.bytesOf(path)
  for (let offset = 0; offset < bytes.length; offset++) {
    const damaged = files.copy()
    damaged.bytesOf(path)[offset] = (bytes[offset] as number) ^ (1 << ((offset * 5) % 8))
    const outcome = openOutcome(damaged)
    outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), offset])
  }
  return outcomes
}

function openOutcome(files: MemoryFiles): string {
  try {
    return contentOn(files)
  } catch (error) {
    if (error instanceof WalCorruptError) return 'refused'
    throw error
  }
}

t.test('SegmentedLog.open', async (t) => {
  t.test('refuses every single flipped bit in committed segments', async (t) => {
    const files = severalSegments()
    t.equal(files.paths().length, 3)
    for (const path of files.paths()) {
      const outcomes = flipAll(files, path)
      t.same([...outcomes.keys()], ['refused'], `${path} has no byte that may change unnoticed`)
    }
  })

  t.test('drops only the uncommitted tail when a bit flips inside of it', async (t) => {
    const files = severalSegments()
    const expected = contentOn(files.copy())
    const path = files.paths().at(-1) ?? ''
    const committed = files.bytesOf(path).length
    const log = logOn(files)
    const rewritten = () => files.paths().at(-1) ?? ''
    log.open()
    log.append([batchOf(1, { entries: entries(9, 10, 2) })])
    log.close()
    const torn = files.copy()
    torn.put(rewritten(), Buffer.from(files.bytesOf(rewritten()).subarray(0, -24)))
    t.equal(contentOn(torn.copy()), expected)
    const outcomes = flipAll(torn, rewritten())
    for (const [outcome, offsets] of outcomes) {
      if (outcome === 'refused') continue
      t.equal(outcome, expected, 'what is accepted is what was committed')
      t.ok(
        offsets.every((offset) => offset >= committed),
        'only in the uncommitted tail',
      )
    }
  })

  t.test(
    'refuses a log of which a segment is missing, unless nothing in it is needed any more',
    async (t) => {
      const files = severalSegments()
      const [first = '', second = ''] = files.paths()
      for (const path of [first, second]) {
        const holed = files.copy()
        holed.unlink(path)
        t.equal(openOutcome(holed), 'refused')
      }
    },
  )
})
