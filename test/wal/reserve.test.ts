/**
 * A full disk costs the reserve once, and no acknowledgement ever.
 */
import t from 'tap'
import type { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import type { WalContent } from '../../cluster/wal/wal.ts'
import { writeAll } from '../../cluster/wal/file-ops.ts'
import { giveUpReserve } from '../../cluster/wal/reserve.ts'
import { batchOf, entries, entry } from '../port-suites/wal.ts'
import { LimitedFiles } from './limited-files.ts'
import { contentOn, logOn } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

const RESERVE = '/raft/reserve'
const RESERVE_BYTES = 8192

/** Space for two segments, the hard state files, twice the reserve, and a little. */
const CAPACITY = 2 * 4096 + 4096 + 2 * RESERVE_BYTES + 700

function logWith(files: MemoryFiles, reported: string[] = []): SegmentedLog {
  const onDiskFull = () => void reported.push('the disk is full')
  return logOn(files, { reserveBytes: RESERVE_BYTES, segmentBytesMax: 4096, onDiskFull })
}

/** As the log thread does it. */
function opened(log: SegmentedLog): WalContent {
  const content = log.open()
  log.makeReserve()
  return content
}

/** Appends until it fails; returns how many entries were acknowledged. */
function fill(log: SegmentedLog): { acked: number; failure: unknown } {
  for (let index = 1; ; index++) {
    try {
      log.append([batchOf(index, { entries: [entry(index, 1)] })])
    } catch (failure) {
      return { acked: index - 1, failure }
    }
  }
}

t.test('SegmentedLog with a reserve', async (t) => {
  t.test('makes it at the first start, of real bytes, and finds it at the next', async (t) => {
    const files = new MemoryFiles()
    const log = logWith(files)
    log.open()
    t.notOk(files.paths().includes(RESERVE), 'opening the log does not wait for it')
    log.makeReserve()
    t.equal(files.size(RESERVE), RESERVE_BYTES)
    t.equal(log.metrics().reserveBytes, RESERVE_BYTES)
    log.close()
    const made = files.bytesOf(RESERVE)
    const again = logWith(files)
    opened(again)
    t.equal(files.bytesOf(RESERVE), made, 'it was not written again')
    t.equal(again.metrics().reserveBytes, RESERVE_BYTES)
    again.close()
    opened(logOn(files, { reserveBytes: 100 }))
    t.equal(files.size(RESERVE), 100, 'another size is made again')
  })

  for (const code of ['ENOSPC', 'EDQUOT']) {
    t.test(`releases it for a write that finds no space (${code}), and reports it once`, async (t) => {
      const files = new LimitedFiles(CAPACITY, code)
      const reported: string[] = []
      const log = logWith(files, reported)
      opened(log)
      const { acked, failure } = fill(log)
      t.same(reported, ['the disk is full'])
      t.notOk(files.paths().includes(RESERVE))
      t.equal(log.metrics().reserveBytes, 0)
      t.match(
        failure,
        { name: 'WalWriteError', message: /the disk is full; free space/ },
        'the second time is fatal',
      )
      t.ok(acked > 6, `${acked} batches were acknowledged`)
      t.throws(
        () => log.compact({ index: 1, term: 1 }),
        { message: /the disk is full/ },
        'every later call fails',
      )
      const kept = JSON.parse(contentOn(Object.assign(new MemoryFiles(), { names: files.copy().names })))
        .entries.length
      t.ok(kept === acked || kept === acked + 1, `${kept} entries are kept of ${acked}`)
    })
  }

  t.test('starts without it where there is no space, and leaves no part of it behind', async (t) => {
    const files = new LimitedFiles(CAPACITY - RESERVE_BYTES)
    const reported: string[] = []
    const log = logWith(files, reported)
    opened(log)
    t.equal(log.metrics().reserveBytes, 0)
    t.same(
      files.paths().filter((path) => path.includes('reserve')),
      [],
    )
    const { acked, failure } = fill(log)
    t.ok(acked > 3)
    t.match(failure, { name: 'WalWriteError', message: /the disk is full/ })
    t.same(reported, [], 'there was no reserve to release')
  })

  t.test('releases it if the start needs the space', async (t) => {
    const roomy = new LimitedFiles(1024 + 3 * 1024 + 2 * 2048 + 3 * RESERVE_BYTES)
    const log = logWith(roomy)
    opened(log)
    log.append([batchOf(1, { entries: entries(1, 3) })])
    log.append([batchOf(2, { entries: entries(4, 6) })])
    log.close()
    const reported: string[] = []
    const small = new LimitedFiles(1024 + 3 * 1024 + 2 * 2048 + RESERVE_BYTES + 1024)
    small.names = roomy.copy().names
    const again = logWith(small, reported)
    t.equal(opened(again).entries.length, 6)
    t.same(reported, ['the disk is full'])
  })

  t.test('is made again in steps once twice its size is free, and not before', async (t) => {
    const files = new LimitedFiles(CAPACITY)
    const reported: string[] = []
    const log = logWith(files, reported)
    opened(log)
    log.releaseReserve()
    t.same(reported, ['the disk is full'])
    t.notOk(files.paths().includes(RESERVE))
    const ballast = files.create('/raft/other')
    writeAll(files, ballast, {
      bytes: new Uint8Array(CAPACITY - files.used() - 2 * RESERVE_BYTES + 1),
      position: 0,
    })
    t.notOk(log.refillReserve(), 'one byte too little')
    t.equal(log.metrics().reserveBytes, 0)
    files.unlink('/raft/other')
    while (log.refillReserve()) continue
    t.equal(log.metrics().reserveBytes, RESERVE_BYTES)
    log.releaseReserve()
    log.releaseReserve()
    t.same(reported, ['the disk is full', 'the disk is full'], 'reported once for each release')
  })

  t.test('is released before any file is opened on a disk that is nearly full', async (t) => {
    const files = new LimitedFiles(CAPACITY)
    const log = logWith(files)
    opened(log)
    log.close()
    const left = CAPACITY - files.used()
    t.notOk(giveUpReserve('/raft', left, files), 'there is enough')
    t.ok(files.paths().includes(RESERVE))
    t.ok(giveUpReserve('/raft', left + 1, files))
    t.notOk(files.paths().includes(RESERVE))
    t.notOk(giveUpReserve('/raft', CAPACITY, files), 'there is no reserve left')
  })

  t.test('never tries a flush again, although there is a reserve to release', async (t) => {
    const files = new MemoryFiles()
    const reported: string[] = []
    const log = logWith(files, reported)
    opened(log)
    files.beforeChange = (operation) => {
      if (operation === 'fdatasync')
        throw Object.assign(new Error('ENOSPC: no space left on device, fdatasync'), { code: 'ENOSPC' })
    }
    t.throws(() => log.append([batchOf(1, { entries: entries(1, 1) })]), { name: 'WalWriteError' })
    t.same(reported, [])
    t.ok(files.paths().includes(RESERVE))
  })

  t.test('fails for any other reason than a full disk while it makes the reserve', async (t) => {
    const files = new MemoryFiles()
    files.beforeChange = (operation, _count, path) => {
      if (operation === 'fsync' && path.includes('reserve'))
        throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
    }
    t.throws(() => opened(logWith(files)), { name: 'WalWriteError', message: /EIO/ })
  })
})
