/**
 * One damaged place anywhere in the log loses nothing: every flipped bit (a share in `npm test`), every lost sector, every misdirected write.
 */
import type { Test } from 'tap'
import t from 'tap'
import type { Entry } from '../../cluster/raft/types.ts'
import { isWhatWasLost } from '../../cluster/wal/lost-entry.ts'
import { repairedLog } from '../../cluster/wal/log-repair.ts'
import { recoverLog } from '../../cluster/wal/recovery.ts'
import { openedContent, sealedEntries } from '../../cluster/wal/sealed-entries.ts'
import { testCipher } from '../helpers/sealed-metadata.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { threeSegments } from './known-log.ts'
import { contentOn, IDENTITY, repairedOn, textOf } from './log-on-files.ts'
import type { MemoryFiles } from './memory-files.ts'
import { DIR, SECTOR } from './memory-files.ts'

const { files: whole, content: expected, truth } = threeSegments()
/** One bit in seven: at least one of every byte, and each place in a byte in turn. Of a sealed log one in 61. */
const SHARE_STEP = process.env['SEALED_METADATA'] === '1' ? 61 : 7
const BIT_STEP = PLAYS_WHOLE ? 1 : SHARE_STEP

/** The outcome for the log: only read, with the holes filled in memory. */
function readingOf(files: MemoryFiles): string {
  const { content, lost, damaged } = recoverLog(files, { dir: DIR, ...IDENTITY })
  const cipher = testCipher('log')
  const found = new Map(lost.map((entry) => [entry.index, entry]))
  const given = lost.map(({ index, term }) => truth.get(`${index}/${term}`) as Entry)
  const committed = sealedEntries(given, cipher)
  const { base, entries } = repairedLog(content, { committed }, (index, filling) => {
    const entry = found.get(index)
    return entry !== undefined && isWhatWasLost(entry, filling)
  })
  const filled = { hardState: content.hardState, base, entries, holes: [] }
  if (textOf(openedContent(filled, cipher, DIR)) !== expected) return 'another log'
  if (lost.length > 0) return 'holes that peers close'
  return damaged.length > 0 ? 'read from its second copy, or void' : 'nothing that counts'
}

/** The outcome for the log: opened, repaired, opened again. */
function restartOf(files: MemoryFiles): string {
  const { content, holes } = repairedOn(files, truth)
  if (content !== expected || contentOn(files) !== expected) return 'another log'
  return holes > 0 ? 'holes that peers close' : 'the same log'
}

class Tally {
  readonly counts = new Map<string, number>()
  add(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1)
  }
  /** Prints the counts, and fails for an invalid outcome. */
  check(t: Test, what: string): void {
    for (const [outcome, count] of this.counts) t.comment(`${what}: ${count} x ${outcome}`)
    t.notOk(this.counts.has('another log'), `${what}: no other log is ever read`)
    t.ok(this.counts.has('holes that peers close'))
  }
}

t.test('SegmentedLog.open after one flipped bit', async (t) => {
  t.equal(whole.segments().length, 3)

  t.test(
    `reads the same log, or one with holes that peers close, for one bit in ${BIT_STEP} of every file`,
    async (t) => {
      const tally = new Tally()
      for (const path of whole.paths()) {
        const bytes = whole.bytesOf(path)
        for (let bit = 0; bit < bytes.length * 8; bit += BIT_STEP) {
          flip(bytes, bit)
          tally.add(readingOf(whole))
          flip(bytes, bit)
        }
      }
      tally.check(t, `one bit in ${BIT_STEP}`)
      t.ok(tally.counts.has('read from its second copy, or void'))
    },
  )

  t.test('restarts with the same log for one bit of every byte of every file', async (t) => {
    const tally = new Tally()
    for (const path of whole.paths()) {
      for (let offset = 0; offset < whole.bytesOf(path).length; offset++) {
        const damaged = whole.copy()
        flip(damaged.bytesOf(path), offset * 8 + ((offset * 5) % 8))
        tally.add(restartOf(damaged))
      }
    }
    tally.check(t, 'a bit of every byte')
  })
})

function flip(bytes: Buffer, bit: number): void {
  const offset = Math.floor(bit / 8)
  bytes[offset] = (bytes[offset] as number) ^ (1 << (bit % 8))
}

function sectorsOf(files: MemoryFiles): { path: string; start: number }[] {
  return files.paths().flatMap((path) => {
    const count = Math.ceil(files.bytesOf(path).length / SECTOR)
    return Array.from({ length: count }, (_, sector) => ({ path, start: sector * SECTOR }))
  })
}

t.test('SegmentedLog.open after one lost sector', async (t) => {
  for (const [what, byte] of [['reads as zeros', 0] as const, ['reads as garbage', 0xa5] as const]) {
    t.test(`restarts with the same log when any sector ${what}`, async (t) => {
      const tally = new Tally()
      for (const { path, start } of sectorsOf(whole)) {
        const damaged = whole.copy()
        damaged.bytesOf(path).fill(byte, start, start + SECTOR)
        tally.add(restartOf(damaged))
      }
      tally.check(t, `a sector ${what}`)
    })
  }

  t.test('restarts with the same log when any sector was written over any other', async (t) => {
    const tally = new Tally()
    for (const to of sectorsOf(whole)) {
      for (const from of sectorsOf(whole)) {
        const damaged = whole.copy()
        whole.bytesOf(from.path).copy(damaged.bytesOf(to.path), to.start, from.start, from.start + SECTOR)
        tally.add(restartOf(damaged))
      }
    }
    tally.check(t, 'a misdirected sector')
  })
})
