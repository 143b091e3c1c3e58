/**
 * Parts that are missing from a log on disk, or that do not belong to it: each is refused, because it is unknown what was lost.
 */
import t from 'tap'
import { segmentPath } from '../../cluster/wal/recovery.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { threeSegments } from './known-log.ts'
import { contentOn, logOn, outcomeOf } from './log-on-files.ts'
import { DIR, MemoryFiles, SECTOR } from './memory-files.ts'

const FIRST = segmentPath(DIR, 1)

/** Two batches in one segment. */
function shortLog(): MemoryFiles {
  const files = new MemoryFiles()
  const log = logOn(files)
  log.open()
  log.append([
    batchOf(1, {
      hardState: { currentTerm: 1, votedFor: 'node-a' },
      entries: [entry(1, 1, ''), ...entries(2, 3)],
    }),
  ])
  log.append([batchOf(2, { entries: entries(4, 5) })])
  log.close()
  return files
}

t.test('SegmentedLog.open', async (t) => {
  t.test(
    'refuses a segment that lost its last batch cleanly, although the next segment still fits',
    async (t) => {
      const files = new MemoryFiles()
      const log = logOn(files, { segmentBytesMax: 3072 })
      log.open()
      log.append([batchOf(1, { entries: entries(1, 2) })])
      const length = files.bytesOf(FIRST).length
      log.append([batchOf(2, { hardState: { currentTerm: 1, votedFor: 'node-b' } })])
      log.append([batchOf(3, { hardState: { currentTerm: 2, votedFor: null }, entries: entries(3, 3) })])
      log.close()
      t.equal(files.segments().length, 2)
      files.put(FIRST, Buffer.from(files.bytesOf(FIRST).subarray(0, length)))
      t.equal(refusalOf(files), 'refused', 'a vote is missing')
    },
  )

  t.test('refuses a log without its segments, or with one segment missing', async (t) => {
    const { files } = threeSegments()
    const [first = '', second = '', third = ''] = files.segments()
    for (const missing of [[first], [second], [third], [second, third], [first, second, third]]) {
      const holed = files.copy()
      for (const path of missing) holed.unlink(path)
      t.equal(refusalOf(holed), 'refused', missing.join(', '))
    }
  })

  t.test('refuses a log that is older than the vote it gave', async (t) => {
    const { files } = threeSegments()
    const older = shortLog()
    for (const path of files.paths()) if (!path.endsWith('.wal')) older.put(path, files.bytesOf(path))
    t.equal(refusalOf(older), 'refused')
  })

  t.test('refuses a batch whose two records are lost, and changes nothing on the disk', async (t) => {
    const { files } = threeSegments()
    for (const path of files.segments()) {
      const damaged = files.copy()
      damaged.bytesOf(path).fill(0xa5, 1024)
      const paths = damaged.paths()
      t.equal(refusalOf(damaged), 'refused')
      t.same(damaged.paths(), paths)
      t.equal(damaged.changes, 0)
    }
  })

  t.test('refuses foreign bytes after the last batch', async (t) => {
    const files = shortLog()
    const longer = files.copy()
    longer.put(FIRST, Buffer.concat([files.bytesOf(FIRST), Buffer.alloc(64, 0xa5)]))
    t.equal(refusalOf(longer), 'refused')
  })

  t.test('refuses a segment whose heads are both damaged or are those of another segment', async (t) => {
    const { files } = threeSegments()
    const [first = '', second = ''] = files.segments()
    const headless = files.copy()
    for (const start of [20, SECTOR + 20]) headless.bytesOf(second).fill(0xa5, start, start + 8)
    t.equal(refusalOf(headless), 'refused')
    const renamed = files.copy()
    renamed.put(second, files.bytesOf(first))
    t.equal(refusalOf(renamed), 'refused')
  })

  t.test('refuses a flushed batch that reads as zeros, although no other record names it', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files)
    log.open()
    log.append([batchOf(1, { hardState: { currentTerm: 1, votedFor: null }, entries: entries(1, 2) })])
    const start = files.bytesOf(FIRST).length
    log.append([batchOf(2, { entries: entries(3, 4) })])
    const end = files.bytesOf(FIRST).length
    log.append([batchOf(3, { entries: entries(5, 6) })])
    log.close()
    files.bytesOf(FIRST).fill(0, start, end)
    t.equal(refusalOf(files), 'refused')
  })
})

function refusalOf(files: MemoryFiles): string {
  return outcomeOf(files, () => contentOn(files))
}
