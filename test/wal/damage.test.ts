/**
 * Larger damage than one place: known entries are used, unknown ones are refused, and the damaged files are kept.
 */
import { crc32c } from '@node-rs/crc32'
import t from 'tap'
import type { Entry } from '../../cluster/raft/types.ts'
import { StartError } from '../../cluster/base/types.ts'
import type { LoggedBatch } from '../../cluster/wal/frame-format.ts'
import { encodeBatch } from '../../cluster/wal/frame-format.ts'
import { EMPTY_HEAD } from '../../cluster/wal/log-head.ts'
import { segmentPath } from '../../cluster/wal/recovery.ts'
import { encodeSegmentHeader } from '../../cluster/wal/segment-format.ts'
import { WalCorruptError } from '../../cluster/wal/wal-errors.ts'
import type { WalContent } from '../../cluster/wal/wal.ts'
import { batchOf, entries, entry, walRepairContract } from '../port-suites/wal.ts'
import { DirectWal } from './direct-wal.ts'
import { threeSegments } from './known-log.ts'
import { contentOn, IDENTITY, logOn, repairedOn, storedData } from './log-on-files.ts'
import { DIR, MemoryFiles, SECTOR } from './memory-files.ts'

const HEAD = 2 * SECTOR
const DAMAGED = '/raft/damaged'

/** One segment with one batch: entries 1 to 4 of term 1, each in a sector of its own. */
function oneBatch(): MemoryFiles {
  const files = new MemoryFiles()
  const log = logOn(files)
  log.open()
  log.append([
    batchOf(1, {
      hardState: { currentTerm: 1, votedFor: 'node-a' },
      entries: [1, 2, 3, 4].map((index) => entry(index, 1, `${index}`.repeat(600))),
    }),
  ])
  log.close()
  return files
}

/** Of entry `index` in `oneBatch`. */
function frameOf(index: number): number {
  return HEAD + 32 + 88 + (index - 1) * (32 + 600)
}

function damage(files: MemoryFiles, offset: number, length = 8): void {
  const [segment = ''] = files.segments()
  files.bytesOf(segment).fill(0xa5, offset, offset + length)
}

function openedOn(files: MemoryFiles): WalContent {
  const log = logOn(files)
  const content = log.open()
  log.close()
  return content
}

/** How many entries are left when `given` is offered for the holes. */
function leftAfter(files: MemoryFiles, given: readonly Entry[]): number {
  const log = logOn(files)
  log.open()
  return log.repair({ committed: given }).entries.length
}

const right = (index: number) => entry(index, 1, `${index}`.repeat(600))
const wrong = (index: number) => entry(index, 1, 'other bytes of the same index and term')

walRepairContract('SegmentedLog', () => {
  const files = new MemoryFiles()
  return {
    wal: () => new DirectWal(logOn(files)),
    damage: (index) => {
      const [segment = ''] = files.segments()
      const bytes = files.bytesOf(segment)
      const places = [1, 2].map((term) => bytes.indexOf(storedData(entry(index, term))))
      const offset = Math.max(...places)
      bytes[offset] = (bytes[offset] as number) ^ 1
    },
  }
})

t.test('SegmentedLog.repair compares the given entries with the lost ones', async (t) => {
  t.test('by the check value of the payload when the header of the entry is left', async (t) => {
    const files = oneBatch()
    damage(files, frameOf(2) + 100)
    t.equal(leftAfter(files.copy(), [right(2)]), 4)
    t.equal(leftAfter(files.copy(), [wrong(2)]), 1)
    t.equal(leftAfter(files.copy(), [{ ...right(2), kind: 'configuration' }]), 1)
    t.equal(leftAfter(files.copy(), [entry(2, 1, '3'.repeat(600))]), 1, 'an equal length is not enough')
  })

  t.test('by the chain value of the batch when the header is lost as well', async (t) => {
    const files = oneBatch()
    damage(files, frameOf(2))
    t.equal(leftAfter(files.copy(), [right(2)]), 4)
    t.equal(leftAfter(files.copy(), [wrong(2)]), 1)
    damage(files, frameOf(3))
    t.same(openedOn(files.copy()).holes, [
      { index: 2, term: 1 },
      { index: 3, term: 1 },
    ])
    t.equal(leftAfter(files.copy(), [right(2), right(3)]), 4)
    t.equal(
      leftAfter(files.copy(), [right(2), wrong(3)]),
      1,
      'one of the two is wrong, and it is unknown which',
    )
    const other = entry(3, 2, 'of another term')
    t.equal(leftAfter(files.copy(), [right(2), other]), 3, 'the term shows which one is wrong')
  })

  t.test('only by the term when other entries of its batch are void by now', async (t) => {
    const files = oneBatch()
    const log = logOn(files)
    log.open()
    log.append([batchOf(2, { entries: entries(4, 4, 2) })])
    log.close()
    for (const index of [3, 4]) damage(files, frameOf(index))
    t.same(openedOn(files.copy()).holes, [{ index: 3, term: 1 }])
    t.equal(leftAfter(files.copy(), [right(3)]), 4)
    t.equal(leftAfter(files.copy(), [entry(3, 2)]), 2)
  })
})

t.test('SegmentedLog.repair prefers its own intact bytes to the given entries', async (t) => {
  const files = oneBatch()
  const expected = contentOn(files.copy())
  damage(files, frameOf(2) + 100)
  const log = logOn(files)
  log.open()
  log.repair({ committed: [wrong(1), right(2)] })
  t.equal(contentOn(files), expected)
})

t.test('SegmentedLog after damage', async (t) => {
  for (const [what, closing, inEntry] of [
    ['its closing frame is missing and an entry is garbage', 0, 0xa5],
    ['its closing frame is garbage and an entry is missing', 0xa5, 0],
  ] as const) {
    t.test(`keeps what is left of the last batch when ${what}`, async (t) => {
      const files = new MemoryFiles()
      const log = logOn(files)
      log.open()
      log.append([batchOf(1, { entries: entries(1, 1) })])
      const start = files.size(files.segments()[0] ?? '')
      const large = [2, 3, 4].map((index) => entry(index, 1, `${index}`.repeat(1200)))
      log.append([batchOf(2, { entries: large })])
      log.close()
      const expected = contentOn(files.copy())
      const bytes = files.bytesOf(files.segments()[0] ?? '')
      bytes.fill(closing, bytes.length - SECTOR)
      bytes.fill(inEntry, start + SECTOR, start + 2 * SECTOR)
      const truth = new Map(large.map((made) => [`${made.index}/1`, made]))
      t.same(repairedOn(files, truth), { content: expected, holes: 1 })
    })
  }

  t.test('finds holes wherever all entries of a batch are lost', async (t) => {
    const files = oneBatch()
    damage(files, frameOf(1), 4 * 632 - 40)
    t.equal(openedOn(files.copy()).holes.length, 4)
    t.equal(leftAfter(files.copy(), [1, 2, 3, 4].map(right)), 4)
  })

  for (const [what, byte] of [['zeros', 0] as const, ['garbage', 0xa5] as const]) {
    t.test(`knows the newest vote when all of its batch reads as ${what}`, async (t) => {
      const files = oneBatch()
      const log = logOn(files)
      log.open()
      log.append([
        batchOf(2, { hardState: { currentTerm: 7, votedFor: 'node-c' }, entries: entries(5, 6, 7) }),
      ])
      log.close()
      const expected = contentOn(files.copy())
      const [segment = ''] = files.segments()
      files.bytesOf(segment).fill(byte, files.size(segment) - 2 * SECTOR)
      const found = openedOn(files.copy())
      t.same(found.hardState, { currentTerm: 7, votedFor: 'node-c' })
      t.same(found.holes, [
        { index: 5, term: 7 },
        { index: 6, term: 7 },
      ])
      const truth = new Map(entries(5, 6, 7).map((made) => [`${made.index}/7`, made]))
      t.equal(repairedOn(files, truth).content, expected)
    })
  }

  t.test('reads only the log when no hard state file can be read, and writes the files again', async (t) => {
    const { files, content } = threeSegments()
    const states = files.paths().filter((path) => path.includes('hard-state'))
    t.equal(states.length, 2)
    for (const path of states) files.bytesOf(path).fill(0xff)
    t.equal(contentOn(files), content)
    for (const path of states) t.equal(files.bytesOf(path).toString('latin1', 0, 8), 'HFSTATE1')
    for (const path of states) files.put(path, Buffer.alloc(3))
    t.equal(contentOn(files), content, 'also when they were cut')
    for (const path of states) files.unlink(path)
    t.equal(contentOn(files), content, 'or are not there')
  })

  t.test('sets the damaged segments aside, and keeps the newest eight', async (t) => {
    let { files } = threeSegments()
    const { content, truth } = threeSegments()
    const aside: string[] = []
    for (let round = 0; round < 10; round++) {
      const [segment = ''] = files.segments()
      aside.push(segment.replace('/raft', DAMAGED))
      files.bytesOf(segment).fill(0xa5, HEAD + 150, HEAD + 160)
      t.equal(repairedOn(files, truth).content, content)
      files = files.copy()
    }
    t.same(
      files.paths().filter((path) => path.startsWith(DAMAGED)),
      aside.slice(-8).toSorted(),
    )
    t.equal(files.segments().length, 1)
  })

  t.test('fails when the new segment does not read as it was written', async (t) => {
    class WrongReads extends MemoryFiles {
      isWrong = false
      override read(path: string, bytesMax: number): Uint8Array {
        const bytes = super.read(path, bytesMax)
        if (this.isWrong && this.changes > 0) bytes[bytes.length - 1] = 1
        return bytes
      }
    }
    const files = new WrongReads()
    files.isWrong = true
    const log = logOn(files)
    t.throws(() => log.open(), { name: 'WalWriteError', message: /reads differently from what was written/ })
    t.throws(() => log.append([batchOf(1)]))
  })
})

t.test('SegmentedLog.open refuses', async (t) => {
  t.test('[log_foreign] the hard state of another node', async (t) => {
    const files = oneBatch()
    const other = new MemoryFiles()
    logOn(other, { nodeId: 'node-b' }).open()
    files.put('/raft/hard-state-1', other.bytesOf('/raft/hard-state-1'))
    t.throws(() => openedOn(files), StartError)
  })

  t.test('a log with another vote than was flushed beside it', async (t) => {
    const [files, other] = [oneBatch(), new MemoryFiles()]
    const log = logOn(other)
    log.open()
    log.append([batchOf(1, { hardState: { currentTerm: 1, votedFor: 'node-z' } })])
    for (const name of ['/raft/hard-state-0', '/raft/hard-state-1']) files.put(name, other.bytesOf(name))
    t.throws(() => openedOn(files), WalCorruptError)
  })

  /** A constructed segment with one batch. */
  function forged(batch: LoggedBatch, chain?: number): MemoryFiles {
    const head = {
      identity: IDENTITY,
      number: 1,
      previous: 0,
      replaces: 0,
      previousChain: 0,
      isRepaired: false,
    }
    const { bytes, salt } = encodeSegmentHeader({ ...head, firstBatch: 1, head: EMPTY_HEAD })
    const place = { salt, offset: bytes.length, chain: chain ?? salt }
    const files = new MemoryFiles()
    files.put(segmentPath(DIR, 1), Buffer.concat([bytes, encodeBatch(batch, place).bytes]))
    return files
  }

  const valid: LoggedBatch = {
    number: 1,
    baseRule: 'none',
    base: EMPTY_HEAD.base,
    hardState: EMPTY_HEAD.hardState,
    entries: entries(1, 2),
    last: { index: 2, term: 1 },
  }

  t.test('a batch that is intact and does not follow the batch before it', async (t) => {
    t.equal(openedOn(forged(valid)).entries.length, 2)
    const gap = { ...valid, entries: entries(3, 4), last: { index: 4, term: 1 } }
    t.throws(() => openedOn(forged(gap)), { code: 'log_damaged', what: /does not fit: .*gap/ })
    const ends = { ...valid, entries: [], last: { index: 2, term: 1 } }
    t.throws(() => openedOn(forged(ends)), { code: 'log_damaged', what: /should end with entry 2/ })
    t.throws(() => openedOn(forged(valid, 7)), { code: 'log_damaged', what: /written together/ })
  })

  t.test('versions that it does not know', async (t) => {
    const files = oneBatch()
    const [segment = ''] = files.segments()
    const copies = [
      [segment, 0],
      [segment, SECTOR],
      ['/raft/hard-state-0', 0],
    ] as const
    for (const touched of [copies.slice(0, 2), copies.slice(2)]) {
      const newer = files.copy()
      for (const [path, start] of touched) {
        const bytes = newer.bytesOf(path).subarray(start)
        const checkAt = bytes.readUInt32LE(12) - 4
        bytes.writeUInt32LE(3, 8)
        bytes.writeUInt32LE(crc32c(bytes.subarray(0, checkAt)), checkAt)
      }
      t.throws(() => openedOn(newer), { code: 'log_damaged', what: /version 3 is not known to this release/ })
    }
  })
})
