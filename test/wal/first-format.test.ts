/**
 * A log of format version 1 is read to the last byte, and leaves that format as it is used.
 */
import t from 'tap'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import { batchOf, entries } from '../port-suites/wal.ts'
import { FIRST_FORMAT_CONTENT, firstFormatLog } from './first-format-log.ts'
import { contentOn, logOn } from './log-on-files.ts'
import type { MemoryFiles } from './memory-files.ts'

function outcomeOf(files: MemoryFiles): string {
  try {
    return contentOn(files)
  } catch (error) {
    if (error instanceof WalCorruptError) return 'refused'
    throw error
  }
}

t.test('SegmentedLog.open of format version 1', async (t) => {
  t.test('returns all its entries, and continues in the present format', async (t) => {
    const files = firstFormatLog()
    t.equal(contentOn(files), FIRST_FORMAT_CONTENT)
    t.equal(contentOn(files), FIRST_FORMAT_CONTENT, 'also the second time')
    const log = logOn(files)
    const { entries: kept } = log.open()
    log.append([batchOf(1, { entries: entries(11, 14, 3) })])
    log.compact({ index: 11, term: 3 })
    log.close()
    t.equal(kept.length, 8)
    t.equal(JSON.parse(contentOn(files)).entries.length, 3)
    t.same(
      files.segments().map((path) => files.bytesOf(path).readUInt32LE(8)),
      [2],
      'the old segments are gone',
    )
  })

  t.test('keeps committed batches when the last segment is cut at any byte', async (t) => {
    const whole = firstFormatLog()
    const last = whole.segments().at(-1) ?? ''
    const bytes = whole.bytesOf(last)
    const outcomes = new Set<string>()
    for (let length = bytes.length - 1; length >= 0; length--) {
      const cut = whole.copy()
      cut.put(last, Buffer.from(bytes.subarray(0, length)))
      outcomes.add(outcomeOf(cut))
    }
    const [torn = '', refused] = outcomes
    t.equal(outcomes.size, 2)
    t.equal(refused, 'refused', 'the head is never a torn write')
    t.same(
      JSON.parse(torn).entries.map((entry: { index: number }) => entry.index),
      [3, 4, 5, 6, 7, 8, 9],
    )
  })

  t.test('keeps committed batches when the rest of the last segment reads as zeros', async (t) => {
    const whole = firstFormatLog()
    const last = whole.segments().at(-1) ?? ''
    const zeroed = whole.copy()
    zeroed.bytesOf(last).fill(0, 136)
    t.equal(JSON.parse(contentOn(zeroed)).entries.length, 7)
  })

  t.test(
    'refuses any flipped bit in a committed batch, because the format has too little information for a repair',
    async (t) => {
      const whole = firstFormatLog()
      const unnoticed: string[] = []
      for (const path of whole.segments()) {
        for (let offset = 0; offset < whole.bytesOf(path).length; offset++) {
          const damaged = whole.copy()
          const bytes = damaged.bytesOf(path)
          bytes[offset] = (bytes[offset] as number) ^ (1 << ((offset * 5) % 8))
          if (outcomeOf(damaged) !== 'refused') unnoticed.push(`${path} ${offset}`)
        }
      }
      t.same(unnoticed, [])
    },
  )
})
