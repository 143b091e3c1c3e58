/**
 * A write that was cut short costs the batch it belonged to and nothing else; every other damage is refused.
 */
import t from 'tap'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import { batchOf, entries, entry } from '../contracts/wal.ts'
import { contentOn, logOn } from './log-on-files.ts'
import { DIR, MemoryFiles } from './memory-files.ts'
import { segmentPath } from '../../cluster/wal/recovery.ts'

const FIRST = segmentPath(DIR, 1)

const SCRIPT = [
  batchOf(1, {
    hardState: { currentTerm: 1, votedFor: 'node-a' },
    entries: [entry(1, 1, ''), ...entries(2, 3)],
  }),
  batchOf(2, { hardState: { currentTerm: 2, votedFor: null } }),
  batchOf(3, { entries: [entry(4, 2, 'x'.repeat(1500)), entry(5, 2, 'seven..')] }),
  batchOf(4, { entries: entries(3, 4, 2) }),
  batchOf(5, { base: { index: 20, term: 2 }, entries: entries(21, 22, 2) }),
  batchOf(6, {
    hardState: { currentTerm: 3, votedFor: 'node-with-a-long-name' },
    entries: [entry(23, 3, '\0'.repeat(1100))],
  }),
]

/** The script in one segment, with the state and the length of the file after each batch. */
function scripted(): { files: MemoryFiles; steps: { length: number; content: string }[] } {
  const files = new MemoryFiles()
  const log = logOn(files)
  log.open()
  const steps: { length: number; content: string }[] = []
  const note = () => steps.push({ length: files.bytesOf(FIRST).length, content: contentOn(files.copy()) })
  note()
  for (const batch of SCRIPT) {
    log.append([batch])
    note()
  }
  log.close()
  return { files, steps }
}

t.test('SegmentedLog.open', async (t) => {
  const { files, steps } = scripted()
  const whole = files.bytesOf(FIRST)
  const head = steps[0]?.length ?? 0

  t.test('keeps exactly the committed batches when the file is cut at any byte', async (t) => {
    const wrong: number[] = []
    for (let length = head; length <= whole.length; length++) {
      const cut = new MemoryFiles()
      cut.put(FIRST, Buffer.from(whole.subarray(0, length)))
      const expected = steps.findLast((step) => step.length <= length)?.content
      if (contentOn(cut) !== expected) wrong.push(length)
    }
    t.same(wrong, [])
  })

  t.test(
    'keeps exactly the committed batches when the end of the file was never written and reads as zeros',
    async (t) => {
      const wrong: number[] = []
      for (let length = head; length <= whole.length; length++) {
        // Only whole sectors go missing; what stands before them in the same write may be there.
        if (length % 512 !== 0 && !steps.some((step) => step.length === length)) continue
        const cut = new MemoryFiles()
        cut.put(FIRST, Buffer.concat([whole.subarray(0, length), Buffer.alloc(whole.length - length)]))
        const expected = steps.findLast((step) => step.length <= length)?.content
        if (contentOn(cut) !== expected) wrong.push(length)
      }
      t.same(wrong, [])
    },
  )

  t.test('drops an uncommitted batch of which only later sectors arrived', async (t) => {
    const before = steps[5] as { length: number; content: string }
    const torn = Buffer.from(whole.subarray(0, whole.length - 100))
    torn.fill(0, before.length, Math.ceil((before.length + 1) / 512) * 512)
    const cut = new MemoryFiles()
    cut.put(FIRST, torn)
    t.equal(contentOn(cut), before.content)
  })

  t.test('refuses a segment whose head is cut, because it was durable before it had its name', async (t) => {
    for (let length = 0; length < head; length++) {
      const cut = new MemoryFiles()
      cut.put(FIRST, Buffer.from(whole.subarray(0, length)))
      if (!throwsCorrupt(cut)) t.fail(`accepts a head of ${length} bytes`)
    }
  })

  t.test('refuses a hole in a committed batch, and leaves the file alone', async (t) => {
    for (let start = Math.ceil(head / 512) * 512; start + 512 < whole.length; start += 512) {
      const bytes = Buffer.from(whole)
      bytes.fill(0, start, start + 512)
      if (bytes.equals(whole)) continue
      const holed = new MemoryFiles()
      holed.put(FIRST, bytes)
      t.ok(throwsCorrupt(holed), `zeros at ${start}`)
      t.same(holed.paths(), [FIRST])
      t.equal(holed.changes, 0, 'nothing on the disk was changed')
    }
  })

  t.test('refuses foreign bytes after the last commit', async (t) => {
    const longer = new MemoryFiles()
    longer.put(FIRST, Buffer.concat([whole, Buffer.alloc(64, 0xa5)]))
    t.ok(throwsCorrupt(longer))
  })

  t.test('refuses a cut segment when a later one follows', async (t) => {
    const small = new MemoryFiles()
    const log = logOn(small, { segmentBytesMax: 700 })
    log.open()
    for (let index = 1; index <= 12; index++) log.append([batchOf(index, { entries: entries(index, index) })])
    log.close()
    const [first = ''] = small.segments()
    t.ok(small.segments().length > 1)
    for (let length = 0; length < small.bytesOf(first).length; length++) {
      const cut = small.copy()
      cut.put(first, Buffer.from(small.bytesOf(first).subarray(0, length)))
      if (!throwsCorrupt(cut)) t.fail(`accepts ${length} bytes`)
    }
  })

  t.test(
    'refuses a segment that lost its last batch cleanly, although the entries after it still fit',
    async (t) => {
      const files = new MemoryFiles()
      const log = logOn(files, { segmentBytesMax: 700 })
      log.open()
      log.append([batchOf(1, { entries: entries(1, 2) })])
      const length = files.bytesOf(FIRST).length
      log.append([batchOf(2, { hardState: { currentTerm: 1, votedFor: 'node-b' } })])
      log.append([batchOf(3, { entries: [entry(3, 1, 'x'.repeat(600))] })])
      log.close()
      t.equal(files.segments().length, 2)
      const cut = files.copy()
      cut.put(FIRST, Buffer.from(files.bytesOf(FIRST).subarray(0, length)))
      t.ok(throwsCorrupt(cut), 'a vote would be forgotten')
    },
  )

  t.test('never takes bytes inside of a torn payload for a commit', async (t) => {
    // A payload that is itself a segment of this log, frames and all: its frames carry the salt of that segment.
    const other = files.copy()
    contentOn(other)
    const data = other.bytesOf(segmentPath(DIR, 2))
    const fresh = new MemoryFiles()
    const log = logOn(fresh)
    log.open()
    log.append([batchOf(1, { entries: entries(1, 1) })])
    const expected = contentOn(fresh.copy())
    log.append([
      batchOf(2, {
        entries: [{ index: 2, term: 1, kind: 'command', data: Buffer.concat([Buffer.alloc(1024), data]) }],
      }),
    ])
    log.close()
    const torn = new MemoryFiles()
    torn.put(FIRST, Buffer.from(fresh.bytesOf(FIRST).subarray(0, -300)))
    t.equal(contentOn(torn), expected)
  })
})

function throwsCorrupt(files: MemoryFiles): boolean {
  try {
    contentOn(files)
    return false
  } catch (error) {
    if (error instanceof WalCorruptError && error.file !== '' && error.hint !== '') return true
    throw error
  }
}
