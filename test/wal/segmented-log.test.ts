/**
 * Segments come, go and fail in the right order: rollover, deletion, every crash point, every failing call.
 */
import t from 'tap'
import { StartError } from '../../cluster/types.ts'
import type { WalBatch } from '../../cluster/wal/wal.ts'
import type { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import { batchOf, entries, entry } from '../contracts/wal.ts'
import { contentOn, logOn } from './log-on-files.ts'
import type { PowerCut } from './memory-files.ts'
import { KEEP_ALL, LOSE_ALL, MemoryFiles } from './memory-files.ts'

const SMALL = { segmentBytesMax: 600 }

function one(index: number, term = 1): WalBatch {
  return batchOf(index, { entries: [entry(index, term)] })
}

function numbersOf(files: MemoryFiles): number[] {
  return files.paths().map((path) => Number(/(\d+)\.wal$/.exec(path)?.[1]))
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
        for (const path of files.paths()) t.ok(files.bytesOf(path).length <= SMALL.segmentBytesMax)
        const fresh = files.paths().filter((path) => !seen.has(path))
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
    t.equal(files.paths().length, 3)
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
    t.equal(files.paths().length, 1)
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
        t.ok((numbersOf(files)[0] as number) >= before, 'nothing above the base lives in them')
        t.equal(JSON.parse(contentOn(files.copy())).entries.length, 13)
      },
    )
  }

  t.test('what it deleted does not come back after a power cut', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files, SMALL)
    log.open()
    for (let index = 1; index <= 20; index++) log.append([one(index)])
    log.compact({ index: 20, term: 1 })
    t.same(files.afterPowerCut(LOSE_ALL).paths(), files.paths())
  })

  t.test('what it gives back holds no more memory than its entries', async (t) => {
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
    t.equal(files.paths().length, 1)
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
    const [first = ''] = old.paths()
    const back = files.copy()
    back.put(first, old.bytesOf(first))
    t.equal(contentOn(back), expected)
    t.notOk(back.paths().includes(first))
  })

  for (const [field, other] of Object.entries({
    clusterId: 'other',
    nodeId: 'other',
    incarnation: 'other',
  })) {
    t.test(`[log_foreign] refuses the log of another ${field}`, async (t) => {
      const files = new MemoryFiles()
      logOn(files).open()
      const before = files.paths()
      t.throws(() => logOn(files, { [field]: other }).open(), StartError)
      t.same(files.paths(), before)
    })
  }

  t.test('refuses an unlawful batch and is dead from then on', async (t) => {
    const unlawful: Partial<WalBatch>[] = [
      { entries: entries(5, 5) },
      { entries: [entry(3, 2), entry(5, 2)] },
      { entries: [entry(3, 3), entry(4, 2)] },
      { entries: entries(1, 1) },
      { hardState: { currentTerm: 1, votedFor: null } },
      { hardState: { currentTerm: 2, votedFor: 'node-b' } },
      { hardState: { currentTerm: 2, votedFor: null } },
      { base: { index: 9, term: 2 }, entries: entries(9, 9, 2) },
    ]
    for (const parts of unlawful) {
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

/** Every kind of change on the disk; `acked` hears of each step that returned. */
function workload(log: SegmentedLog, acked: (step: number) => void): void {
  log.open()
  const steps = [
    () =>
      log.append([batchOf(1, { hardState: { currentTerm: 1, votedFor: 'node-a' }, entries: entries(1, 3) })]),
    () => log.append([one(4), one(5), one(6)]),
    () => log.append([batchOf(5, { entries: entries(5, 9, 2) })]),
    () => log.append([one(10, 2)]),
    () => log.compact({ index: 6, term: 2 }),
    () => log.append([batchOf(6, { entries: entries(11, 14, 2) })]),
    () => log.append([batchOf(7, { base: { index: 30, term: 3 }, entries: entries(31, 33, 3) })]),
    () => log.append([batchOf(8, { hardState: { currentTerm: 4, votedFor: 'node-c' } })]),
  ]
  for (const [step, run] of steps.entries()) {
    run()
    acked(step)
  }
}

/** The content after each step, when nothing fails. */
function contentsWithoutFault(start: () => MemoryFiles): string[] {
  const files = start()
  const contents = [contentOn(start())]
  workload(logOn(files, SMALL), () => contents.push(contentOn(files.copy())))
  return contents
}

class Refused extends Error {}

t.test('SegmentedLog keeps what it acknowledged', async (t) => {
  const cuts: Record<string, PowerCut> = {
    'everything that was not flushed is lost': LOSE_ALL,
    'everything that was not flushed is kept': KEEP_ALL,
    'names are kept and bytes are lost': { keepsNames: true, keepsBytes: () => 0 },
    'names are lost and bytes are kept': { keepsNames: false, keepsBytes: (unsynced) => unsynced },
    'half of the bytes is kept': { keepsNames: true, keepsBytes: (unsynced) => Math.floor(unsynced / 2) },
    'all but one byte is kept': { keepsNames: true, keepsBytes: (unsynced) => Math.max(0, unsynced - 1) },
  }
  for (const [how, cut] of Object.entries(cuts)) {
    t.test(`at a power cut before or after any call, when ${how}`, async (t) => {
      const contents = contentsWithoutFault(() => new MemoryFiles())
      let crashes = 0
      for (let call = 1; ; call++) {
        const { files, acked, didCrash } = runUntil(call)
        if (!didCrash) break
        crashes++
        const kept = contentOn(files.afterPowerCut(cut))
        const lawful = contents.slice(acked, acked + 2)
        if (!lawful.includes(kept)) t.fail(`call ${call}: after step ${acked} it kept ${kept}`)
      }
      t.ok(crashes > 30, `${crashes} crash points`)
    })
  }

  t.test('at a power cut while it is opened again', async (t) => {
    const written = new MemoryFiles()
    workload(logOn(written, SMALL), () => {})
    const expected = contentOn(written.copy())
    for (let call = 1; ; call++) {
      const files = written.copy()
      const log = logOn(files, SMALL)
      files.beforeChange = (_operation, count) => {
        if (count >= call) throw new Refused()
      }
      const failed = failureOf(() => log.open())
      if (failed === null) break
      for (const cut of Object.values(cuts)) t.equal(contentOn(files.afterPowerCut(cut)), expected)
    }
  })
})

/** Runs the workload until its n-th change of the disk, which fails, as does everything after it. */
function runUntil(call: number): { files: MemoryFiles; acked: number; didCrash: boolean } {
  const files = new MemoryFiles()
  let acked = 0
  files.beforeChange = (_operation, count) => {
    if (count >= call) throw new Refused()
  }
  const failure = failureOf(() => workload(logOn(files, SMALL), (step) => (acked = step + 1)))
  files.beforeChange = () => {}
  return { files, acked, didCrash: failure !== null }
}

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
    t.test(`is dead for ever when ${operation} failed once, although the disk works again`, async (t) => {
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

  t.test('says that the disk is full when it is', async (t) => {
    const files = new MemoryFiles()
    const log = logOn(files)
    log.open()
    log.append([one(1)])
    files.beforeChange = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    }
    t.throws(() => log.append([one(2)]), { name: 'WalWriteError', message: /the disk is full; free space/ })
  })

  t.test('goes on after short writes', async (t) => {
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
