/**
 * Segments are made, deleted and fail in the right order: rollover, deletion, every failing call.
 */
import { basename } from 'node:path'
import t from 'tap'
import { StartError } from '../../cluster/base/types.ts'
import type { WalBatch } from '../../cluster/wal/wal.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { contentOn, logOn } from './log-on-files.ts'
import { LOSE_ALL, MemoryFiles } from './memory-files.ts'

/** Three small batches for each segment. */
const SMALL = { segmentBytesMax: 4096 }

function one(index: number, term = 1): WalBatch {
  return batchOf(index, { entries: [entry(index, term)] })
}

function numbersOf(files: MemoryFiles): number[] {
  return files.segments().map((path) => Number(/(\d+)\.wal$/.exec(path)?.[1]))
}

t.test('SegmentedLog', async (t) => {
  t.test(
    'closes a segment before a batch would make it too large, and never uses a number twice',
    async (t) => {
      const files = new MemoryFiles()
      const seen = new Set<string>()
      for (let run = 0; run < 3; run++) {
        const log = logOn(files, SMALL)
        log.open()
        for (let index = run * 10 + 1; index <= run * 10 + 10; index++) log.append([one(index)])
        log.close()
        for (const path of files.segments()) t.ok(files.bytesOf(path).length <= SMALL.segmentBytesMax)
        const fresh = files.segments().filter((path) => !seen.has(path))
        const highest = Math.max(0, ...[...seen].map((path) => Number(/(\d+)\.wal$/.exec(path)?.[1])))
        t.ok(
          fresh.every((path) => Number(/(\d+)\.wal$/.exec(path)?.[1]) > highest),
          'new files have new numbers',
        )
        for (const path of fresh) seen.add(path)
      }
      t.equal(JSON.parse(contentOn(files)).entries.length, 30)
    },
  )

  t.test('takes a batch that is larger than a segment into a segment of its own', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    log.append([one(1)])
    log.append([batchOf(2, { entries: [entry(2, 1, 'x'.repeat(5000))] })])
    log.append([one(3)])
    t.equal(files.segments().length, 3)
    t.equal(JSON.parse(contentOn(files.copy())).entries.length, 3)
  })

  t.test('deletes the segments that lie wholly at or below the base, and no other', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    const lastOf = new Map<number, number>()
    for (let index = 1; index <= 20; index++) {
      log.append([one(index)])
      lastOf.set(numbersOf(files).at(-1) as number, index)
    }
    const secondEnds = lastOf.get(2) as number
    log.compact({ index: secondEnds - 1, term: 1 })
    t.same(numbersOf(files)[0], 2, 'a segment with one live entry stays')
    log.compact({ index: secondEnds, term: 1 })
    t.same(numbersOf(files)[0], 3)
    const content = JSON.parse(contentOn(files.copy()))
    t.same(content.base, { index: secondEnds, term: 1 })
    t.equal(content.entries.length, 20 - secondEnds)
    log.compact({ index: 20, term: 1 })
    t.equal(files.segments().length, 1)
  })

  for (const isReopened of [false, true]) {
    t.test(
      `deletes segments whose entries were all replaced later, ${isReopened ? 'also after a restart' : 'at once'}`,
      async (t) => {
        const files = new MemoryFiles()
        let log = logOn(files, SMALL)
        log.open()
        for (let index = 1; index <= 8; index++) log.append([one(index)])
        const before = numbersOf(files).at(-1) as number
        log.append([batchOf(9, { entries: entries(2, 9, 2) })])
        log.append([batchOf(10, { entries: entries(10, 14, 2) })])
        if (isReopened) {
          log.close()
          log = logOn(files, SMALL)
          log.open()
        }
        log.compact({ index: 1, term: 1 })
        t.ok((numbersOf(files)[0] as number) >= before, 'they hold no live entry above the base')
        t.equal(JSON.parse(contentOn(files.copy())).entries.length, 13)
      },
    )
  }

  t.test('deleted segments do not come back after a power cut', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    for (let index = 1; index <= 20; index++) log.append([one(index)])
    log.compact({ index: 20, term: 1 })
    t.same(files.afterPowerCut(LOSE_ALL).paths(), files.paths())
  })

  t.test('the returned log holds no more memory than its entries', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    for (let index = 1; index <= 20; index++) log.append([one(index)])
    log.append([batchOf(21, { entries: entries(12, 13, 2) })])
    log.close()
    const content = logOn(files, SMALL).open()
    const buffers = new Set(content.entries.map(({ data }) => data.buffer))
    const held = [...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0)
    // A truncation may strand the data of a segment that was read before it; here that is less than one.
    t.ok(held < content.entries.reduce((sum, { data }) => sum + data.byteLength, 0) + SMALL.segmentBytesMax)
    t.ok(buffers.size > 1, 'each segment was given back on its own')
  })

  t.test('a snapshot base deletes every closed segment', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    for (let index = 1; index <= 20; index++) log.append([one(index)])
    log.append([batchOf(21, { base: { index: 5, term: 7 }, entries: entries(6, 6, 7) })])
    t.equal(files.segments().length, 1)
    const content = JSON.parse(contentOn(files.copy()))
    t.same(content.base, { index: 5, term: 7 })
    t.equal(content.entries.length, 1)
  })

  t.test('clears leftovers of an interrupted deletion away only when they are not needed', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    for (let index = 1; index <= 20; index++) log.append([one(index)])
    const old = files.copy()
    log.compact({ index: 18, term: 1 })
    const expected = contentOn(files.copy())
    const [first = ''] = old.segments()
    const back = files.copy()
    back.put(first, old.bytesOf(first))
    t.equal(contentOn(back), expected)
    t.notOk(back.segments().includes(first))
  })

  for (const [field, other] of Object.entries({
    clusterId: 'other',
    nodeId: 'other',
    incarnation: 'other',
  })) {
    t.test(`[log_foreign] refuses the log of another ${field}`, async (t) => {
      const files = new MemoryFiles()
      logOn(files).open()
      const before = files.segments()
      t.throws(() => logOn(files, { [field]: other }).open(), StartError)
      t.same(files.segments(), before)
      const segments = new MemoryFiles()
      for (const path of before) segments.put(path, files.bytesOf(path))
      t.throws(() => logOn(segments, { [field]: other }).open(), StartError, 'also from its segments')
    })
  }

  t.test(
    'writes the hard state a second time after the flush of its batch, in turn into two files',
    async (t) => {
      const files = new MemoryFiles()
      const log = logOn(files)
      log.open()
      const calls: string[] = []
      files.beforeChange = (operation, _count, path) => void calls.push(`${operation} ${basename(path)}`)
      const batch = ['write 0000000000000001.wal', 'fdatasync 0000000000000001.wal']
      for (const [parts, state] of [
        [{ hardState: { currentTerm: 1, votedFor: null } }, 'hard-state-0'],
        [{ hardState: { currentTerm: 1, votedFor: 'node-a' }, entries: entries(1, 2) }, 'hard-state-1'],
        [{ base: { index: 4, term: 1 } }, 'hard-state-0'],
        [{ entries: entries(5, 5) }, null],
        [{ hardState: { currentTerm: 1, votedFor: 'node-a' } }, null],
      ] as const) {
        log.append([batchOf(1, parts)])
        t.same(calls.splice(0), state === null ? batch : [...batch, `write ${state}`, `fdatasync ${state}`])
      }
      log.compact({ index: 5, term: 1 })
      t.same(calls, [...batch, 'write hard-state-1', 'fdatasync hard-state-1'])
    },
  )

  t.test('refuses an invalid batch that a later one of the same flush would replace', async (t) => {
    const log = logOn(new MemoryFiles())
    log.open()
    log.append([batchOf(1, { entries: entries(1, 2) })])
    const behindGap = batchOf(2, { entries: entries(9, 9) })
    const fresh = batchOf(3, { base: { index: 20, term: 2 }, entries: entries(21, 21, 2) })
    t.throws(() => log.append([behindGap, fresh]), { name: 'AssertionError' })
  })

  t.test('refuses an invalid batch, and every call after it', async (t) => {
    const invalid: Partial<WalBatch>[] = [
      { entries: entries(5, 5) },
      { entries: [entry(3, 2), entry(5, 2)] },
      { entries: [entry(3, 3), entry(4, 2)] },
      { entries: entries(1, 1) },
      { hardState: { currentTerm: 1, votedFor: null } },
      { hardState: { currentTerm: 2, votedFor: 'node-b' } },
      { hardState: { currentTerm: 2, votedFor: null } },
      { base: { index: 9, term: 2 }, entries: entries(9, 9, 2) },
    ]
    for (const parts of invalid) {
      const log = logOn(new MemoryFiles())
      log.open()
      log.append([batchOf(1, { hardState: { currentTerm: 2, votedFor: 'node-a' }, entries: entries(1, 2) })])
      log.compact({ index: 1, term: 1 })
      t.throws(
        () => log.append([batchOf(2, parts)]),
        { name: 'AssertionError' },
        JSON.stringify(parts.hardState),
      )
      t.throws(() => log.append([batchOf(3)]))
    }
  })
})

function failureOf(action: () => void): Error | null {
  try {
    action()
    return null
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

t.test('SegmentedLog after a failing call', async (t) => {
  for (const operation of ['write', 'fdatasync', 'fsync', 'create', 'rename', 'syncDir', 'unlink']) {
    t.test(`refuses every call after ${operation} failed once, although the disk works again`, async (t) => {
      const files = new MemoryFiles()
      const log = logOn(files, SMALL)
      log.open()
      log.append([one(1)])
      let broken = 1
      files.beforeChange = (name) => {
        if (name === operation && broken-- > 0)
          throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
      }
      const failure = failureOf(() => {
        for (let index = 2; index <= 20; index++) log.append([one(index)])
        log.compact({ index: 19, term: 1 })
      })
      t.match(failure, { name: 'WalWriteError', message: /EIO/ })
      const changes = files.changes
      for (const call of [() => log.append([one(2)]), () => log.compact({ index: 1, term: 1 })]) {
        t.equal(failureOf(call), failure)
      }
      t.equal(files.changes, changes, 'it does not even touch the disk')
    })
  }

  t.test('reports that the disk is full when it is', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files)
    log.open()
    log.append([one(1)])
    files.beforeChange = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    }
    t.throws(() => log.append([one(2)]), { name: 'WalWriteError', message: /the disk is full; free space/ })
  })

  t.test('continues after short writes', async (t) => {
    class ShortWrites extends MemoryFiles {
      override write(fd: number, bytes: Uint8Array, position: number): number {
        return super.write(fd, bytes.subarray(0, 7), position)
      }
    }
    const files = new ShortWrites()
    const log = logOn(files, SMALL)
    log.open()
    for (let index = 1; index <= 9; index++) log.append([one(index)])
    t.equal(JSON.parse(contentOn(files.copy())).entries.length, 9)
  })
})
