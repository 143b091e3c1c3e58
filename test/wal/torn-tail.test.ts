/**
 * An interrupted write costs only the batch that it belonged to; a flushed batch is never cut off.
 */
import t from 'tap'
import { segmentPath } from '../../cluster/wal/recovery.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { threeSegments, truthOf } from './known-log.ts'
import { contentOn, logOn, repairedOn, outcomeOf } from './log-on-files.ts'
import { DIR, MemoryFiles, SECTOR } from './memory-files.ts'

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

interface Step {
  readonly files: MemoryFiles
  readonly length: number
  readonly content: string
}

/** The script in one segment: the whole disk after each batch. */
function scripted(): Step[] {
  const files = new MemoryFiles()
  const log = logOn(files)
  log.open()
  const steps: Step[] = []
  const note = () => {
    const copy = files.copy()
    steps.push({ files: copy, length: copy.bytesOf(FIRST).length, content: contentOn(copy.copy()) })
  }
  note()
  for (const batch of SCRIPT) {
    log.append([batch])
    note()
  }
  log.close()
  return steps
}

const steps = scripted()

/** Each batch half written: what was on the disk before, and `length` bytes of the segment with the batch. */
function* halfWritten(): Generator<{ before: Step; after: Step; length: number; bytes: Buffer }> {
  for (const [position, after] of steps.entries()) {
    const before = steps[position - 1]
    if (before === undefined) continue
    const bytes = after.files.bytesOf(FIRST)
    for (let length = before.length; length <= after.length; length++) yield { before, after, length, bytes }
  }
}

function withSegment(files: MemoryFiles, bytes: Buffer): MemoryFiles {
  const changed = files.copy()
  changed.put(FIRST, Buffer.from(bytes))
  return changed
}

t.test('SegmentedLog.open after an interrupted write', async (t) => {
  t.test('keeps all that was acknowledged when the file ends at any byte of the next batch', async (t) => {
    const wrong: number[] = []
    for (const { before, after, length, bytes } of halfWritten()) {
      const kept = contentOn(withSegment(before.files, bytes.subarray(0, length)))
      // Without its closing frame a batch may still be all there; a part of one never counts.
      const isThere = length > after.length - SECTOR
      if (kept !== after.content && (isThere || kept !== before.content)) wrong.push(length)
    }
    t.same(wrong, [])
  })

  t.test('keeps all that was acknowledged when the rest of the file reads as zeros', async (t) => {
    const wrong: number[] = []
    for (const { before, after, length, bytes } of halfWritten()) {
      if (length % SECTOR !== 0) continue
      const zeros = Buffer.alloc(after.length - length)
      const kept = contentOn(withSegment(before.files, Buffer.concat([bytes.subarray(0, length), zeros])))
      if (kept !== after.content && kept !== before.content) wrong.push(length)
    }
    t.same(wrong, [])
  })

  t.test('never takes bytes inside of a torn payload for a frame', async (t) => {
    // A payload that is itself a segment of this log, frames and all.
    const data = steps.at(-1)?.files.bytesOf(FIRST) ?? Buffer.alloc(0)
    const files = new MemoryFiles()
    const log = logOn(files)
    log.open()
    log.append([batchOf(1, { entries: entries(1, 1) })])
    const before = files.copy()
    const expected = contentOn(before.copy())
    log.append([batchOf(2, { entries: [{ index: 2, term: 1, kind: 'command', data }] })])
    log.close()
    t.equal(contentOn(withSegment(before, files.bytesOf(FIRST).subarray(0, -2 * SECTOR))), expected)
  })
})

t.test('SegmentedLog.open never forgets a flushed batch', async (t) => {
  t.test(
    'fills or refuses when the file is cut at any byte and the hard state files name a later batch',
    async (t) => {
      const { files, content } = steps.at(-1) as Step
      const truth = truthOf(SCRIPT)
      const outcomes = new Map<string, number>()
      for (let length = 0; length < files.bytesOf(FIRST).length; length++) {
        const cut = withSegment(files, files.bytesOf(FIRST).subarray(0, length))
        const outcome = outcomeOf(cut, () => (repairedOn(cut, truth).content === content ? 'kept' : 'lost'))
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
      t.same([...outcomes.keys()].toSorted(), ['kept', 'refused'])
      t.ok(
        (outcomes.get('kept') ?? 0) > 2 * SECTOR,
        'a batch that is lost with its records is known from the hard state files',
      )
    },
  )

  t.test('fills or refuses when a segment is cut at any byte and a later one follows', async (t) => {
    const { files, content, truth } = threeSegments()
    const [first = ''] = files.segments()
    const outcomes = new Set<string>()
    for (let length = 0; length < files.bytesOf(first).length; length++) {
      const cut = files.copy()
      cut.put(first, Buffer.from(files.bytesOf(first).subarray(0, length)))
      outcomes.add(outcomeOf(cut, () => (repairedOn(cut, truth).content === content ? 'kept' : 'lost')))
    }
    t.same([...outcomes].toSorted(), ['kept', 'refused'])
  })
})
