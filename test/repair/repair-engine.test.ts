/**
 * Proofs of the repair engine on a virtual clock: a committed task becomes a verified copy despite every failure.
 */
import t from 'tap'
import { BlobWriteError } from '../../cluster/blobs/base/blob-store.ts'
import type { DiskLevel } from '../../cluster/base/disk-level.ts'
import { sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { deferred } from '../helpers/async.ts'
import { RepairBench } from './repair-bench.ts'

t.test('RepairEngine', async (t) => {
  t.test('copies, reads back and commits every pending task, two at a time', async (t) => {
    const bench = new RepairBench()
    const blobs = Array.from({ length: 150 }, (_, seed) => sampleBlob(seed))
    for (const blob of blobs) await bench.task(blob, ['a'])
    bench.engine.start()
    await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 100 })
    for (const blob of blobs) t.equal((await bench.stores.c.verify(blob)).checksum, blob.checksum)
    t.equal(bench.commits, 150)
    t.equal(bench.readsAtMost, 2)
    t.equal(bench.metric('done_total'), 150)
    t.equal(bench.metric('bytes_total'), 150_000)
    await bench.engine.stop()
    t.equal(bench.clock.pending, 0)
  })

  t.test('only commits when the copy exists already, like a late third copy', async (t) => {
    const bench = new RepairBench()
    await bench.task(sampleBlob(1), ['a', 'b', 'c'])
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 100 })
    t.equal(bench.readsAtMost, 0)
    t.equal(bench.stores.c.writes, 1)
    await bench.engine.stop()
  })

  t.test('verifies a copy that it holds: a damaged one is quarantined and made again', async (t) => {
    const bench = new RepairBench()
    const blob = sampleBlob(1)
    await bench.task(blob, ['b', 'c'])
    await bench.stores.c.damage(blob)
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 100 })
    t.equal((await bench.stores.c.verify(blob)).checksum, blob.checksum)
    t.equal(bench.stores.c.quarantined.length, 1)
    await bench.engine.stop()
  })

  t.test('commits nothing that cannot be read back, although the write succeeded', async (t) => {
    const bench = new RepairBench()
    const blob = sampleBlob(1)
    await bench.task(blob, ['a', 'b'])
    let lies = 2
    bench.stores.c.afterWrite = async (name) => {
      if (lies-- > 0) await bench.stores.c.damage(name)
    }
    bench.engine.start()
    await bench.clock.advance(100)
    t.equal(bench.commits, 0)
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 10_000 })
    t.equal((await bench.stores.c.verify(blob)).checksum, blob.checksum)
    t.equal(bench.stores.c.quarantined.length, 2)
    await bench.engine.stop()
  })

  t.test('takes the next copy, and reports, when one is missing or damaged', async (t) => {
    const bench = new RepairBench()
    const [missing, damaged] = [sampleBlob(1), sampleBlob(2)]
    await bench.task(missing, ['b'])
    await bench.task(damaged, ['a', 'b'])
    await bench.stores.a.damage(damaged)
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 2, { limitMs: 100 })
    t.strictSame(bench.reports.sort(), ['birth-1@a missing', 'birth-2@a damaged'])
    t.equal((await bench.stores.c.verify(damaged)).checksum, damaged.checksum)
    await bench.engine.stop()
  })

  t.test(
    'commits nothing while no copy is available, retries with growing delays, and succeeds when one returns',
    async (t) => {
      const bench = new RepairBench()
      const blob = sampleBlob(1)
      await bench.task(blob, [])
      bench.engine.start()
      await bench.clock.advance(60_000)
      const early = bench.metric('failed_total') ?? 0
      t.ok(early >= 4 && early <= 10, `${early} attempts in the first minute`)
      await bench.clock.advance(600_000)
      const later = (bench.metric('failed_total') ?? 0) - early
      t.ok(later >= 10 && later <= 21, `${later} attempts in the next ten minutes`)
      t.equal(bench.commits, 0)
      t.equal(await bench.stores.c.stat(blob), null)
      await bench.stores.a.write(blob, streamOf(blob.bytes), blob)
      await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 61_000 })
      await bench.engine.stop()
    },
  )

  t.test('is not held up by tasks that fail, however many', async (t) => {
    const bench = new RepairBench()
    for (let seed = 0; seed < 200; seed++) await bench.task(sampleBlob(seed), [])
    await bench.task(sampleBlob(999), ['a'])
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 10_000 })
    t.equal(bench.rows.size, 200)
    t.equal(bench.rows.has('birth-999'), false)
    await bench.engine.stop()
  })

  t.test('keeps the copy and commits it later when there is no leader', async (t) => {
    const bench = new RepairBench()
    await bench.task(sampleBlob(1), ['a'])
    bench.refuseDone = 2
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 10_000 })
    t.equal(bench.stores.c.writes, 1, 'the blob was sent once')
    await bench.engine.stop()
  })

  t.test('polls once a second while there is nothing to do, and at once when kicked', async (t) => {
    const bench = new RepairBench()
    bench.engine.start()
    await bench.clock.advance(60_000)
    t.ok(bench.polls <= 62, `${bench.polls} polls in a minute`)
    await bench.task(sampleBlob(1), ['a'])
    bench.engine.kick()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 1 })
    await bench.engine.stop()
  })

  t.test('keeps to its bytes per second', async (t) => {
    const bench = new RepairBench()
    bench.throttle.setRate(10_000)
    for (let seed = 0; seed < 10; seed++) await bench.task(sampleBlob(seed, 10_000), ['a'])
    bench.engine.start()
    await bench.clock.advance(5_000)
    const bytes = bench.metric('bytes_total') ?? 0
    t.ok(bytes > 45_000 && bytes < 52_000, `${bytes} bytes in 5 s`)
    await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 6_000 })
    await bench.engine.stop()
  })

  t.test('copies a blob with a single copy without waiting for bandwidth', async (t) => {
    const bench = new RepairBench()
    bench.throttle.setRate(1)
    await bench.task(sampleBlob(1, 10_000), ['a'])
    await bench.task(sampleBlob(2, 10_000), ['a'], ['a'])
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 100 })
    t.equal(bench.rows.has('birth-1'), true, 'the other has two, and waits')
    bench.throttle.setRate(null)
    await bench.clock.runUntil(() => bench.commits === 2, { limitMs: 100 })
    await bench.engine.stop()
  })

  t.test('locks a copy from the first check until it is committed', async (t) => {
    const bench = new RepairBench()
    const blob = sampleBlob(1)
    await bench.task(blob, ['a'])
    const commits = deferred()
    bench.beforeDone = () => commits.promise
    bench.engine.start()
    await bench.clock.runUntil(() => bench.stores.c.writes === 1, { limitMs: 100 })
    let seen = -1
    const other = bench.locks.hold(blob, async () => {
      seen = bench.commits
    })
    await bench.clock.advance(5_000)
    t.equal(seen, -1, 'the lock is held while the proposal is in flight')
    commits.resolve()
    await other
    t.equal(seen, 1)
    await bench.engine.stop()
  })

  t.test(
    'aborts running tasks when it is stopped, commits nothing afterwards, and continues after a start',
    async (t) => {
      const bench = new RepairBench()
      bench.throttle.setRate(1_000)
      await bench.task(sampleBlob(1, 10_000), ['a'])
      bench.engine.start()
      await bench.clock.advance(2_000)
      await bench.clock.resolve(bench.engine.stop(), { limitMs: 1_000 })
      bench.engine.kick()
      await bench.clock.advance(60_000)
      t.equal(bench.commits, 0)
      t.equal(bench.metric('failed_total'), 0)
      t.equal(bench.clock.pending, 0)
      bench.engine.start()
      await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 20_000 })
      await bench.engine.stop()
    },
  )
})

t.test('RepairEngine on a disk that is full or suspect', async (t) => {
  const full = { level: 'stopWriting', isSuspect: false } as const
  const good = { level: 'open', isSuspect: false } as const
  const setDisk = (bench: RepairBench, disk: { level: DiskLevel; isSuspect: boolean }) => {
    bench.stores.c.disk = { ...bench.stores.c.disk, ...disk }
  }

  t.test(
    'tries each copy once, then only measures the disk, and makes all copies within a poll after there is space',
    async (t) => {
      const bench = new RepairBench()
      setDisk(bench, full)
      for (let seed = 0; seed < 200; seed++) await bench.task(sampleBlob(seed), ['a'])
      bench.engine.start()
      await bench.clock.advance(10_000)
      t.equal(bench.metric('waiting'), 200)
      t.equal(bench.engine.waitingForDisk, 200)
      t.equal(bench.readsAtMost, 0, 'no bytes are sent in vain')
      let looks = 0
      const usage = bench.stores.c.usage.bind(bench.stores.c)
      bench.stores.c.usage = () => {
        looks++
        return usage()
      }
      await bench.clock.advance(600_000)
      t.ok(looks <= 601, `${looks} looks in ten minutes`)
      t.equal(bench.metric('failed_total'), 0)
      setDisk(bench, good)
      await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 1_100 })
      t.equal(bench.metric('waiting'), 0)
      await bench.engine.stop()
      t.equal(bench.clock.pending, 0)
    },
  )

  t.test('still commits copies that exist already', async (t) => {
    const bench = new RepairBench()
    for (let seed = 0; seed < 80; seed++) await bench.task(sampleBlob(seed), ['a'])
    await bench.task(sampleBlob(500), ['a', 'c'])
    setDisk(bench, full)
    bench.engine.start()
    await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 10_000 })
    t.notOk(bench.rows.has('birth-500'))
    await bench.engine.stop()
  })

  t.test(
    'leaves nothing behind and loses nothing when the disk fills up in the middle of a copy',
    async (t) => {
      const bench = new RepairBench()
      const blob = sampleBlob(1, 10_000)
      await bench.task(blob, ['a', 'b'])
      const fill = deferred()
      bench.stores.c.gate = async () => {
        await fill.promise
        throw new BlobWriteError('disk_full', 'The disk is full')
      }
      bench.engine.start()
      await bench.clock.advance(100)
      fill.resolve()
      await bench.clock.advance(10)
      t.strictSame([bench.reports, bench.commits, bench.metric('failed_total')], [[], 0, 1])
      t.equal(bench.metric('bytes_total'), 10_000, 'no other source is read for it')
      setDisk(bench, full)
      await bench.clock.advance(10_000)
      t.equal(bench.metric('failed_total'), 1)
      t.equal(bench.metric('waiting'), 1)
      bench.stores.c.gate = async () => undefined
      setDisk(bench, good)
      await bench.clock.runUntil(() => bench.commits === 1, { limitMs: 1_100 })
      t.equal((await bench.stores.c.verify(blob)).checksum, blob.checksum)
      await bench.engine.stop()
    },
  )

  t.test('puts a copy on a suspect disk only when there would be a single copy otherwise', async (t) => {
    const bench = new RepairBench()
    setDisk(bench, { level: 'stopPlacing', isSuspect: true })
    await bench.task(sampleBlob(1), ['a', 'b'])
    await bench.task(sampleBlob(2), ['a'], ['a'])
    bench.engine.start()
    await bench.clock.advance(10_000)
    t.strictSame([...bench.rows.keys()], ['birth-1'])
    t.equal(bench.metric('waiting'), 1)
    const [waiting] = bench.rows.values()
    // Its other copy is removed from the row.
    if (waiting) bench.rows.set('birth-1', { ...waiting, ref: { ...waiting.ref, replicas: ['b'] } })
    await bench.clock.runUntil(() => bench.commits === 2, { limitMs: 1_100 })
    await bench.engine.stop()
  })
})
