/**
 * Proofs of the repair engine with many copies at once: how they are committed, and how often it reads the rows.
 */
import t from 'tap'
import { sampleBlob } from '../blobs/blob-samples.ts'
import { deferred } from '../helpers/async.ts'
import { RepairBench } from './repair-bench.ts'

t.test('RepairEngine with many tasks', async (t) => {
  t.test('makes more copies while one is committed, and commits all of these together', async (t) => {
    const bench = new RepairBench()
    const [first, all] = [deferred(), 41]
    let reports = 0
    bench.beforeDone = () => (reports++ === 0 ? first.promise : Promise.resolve())
    await bench.task(sampleBlob(0), ['a'])
    bench.engine.start()
    await bench.clock.runUntil(() => reports === 1, { limitMs: 100 })
    for (let seed = 1; seed < all; seed++) await bench.task(sampleBlob(seed), ['a'])
    await bench.clock.runUntil(() => bench.stores.c.writes === all, { limitMs: 2_000 })
    t.strictSame([bench.commits, reports], [0, 1])
    first.resolve()
    await bench.clock.runUntil(() => bench.commits === all, { limitMs: 100 })
    t.strictSame(bench.entries, [1, all - 1])
    await bench.engine.stop()
  })

  t.test('commits up to 128 copies at a time, and holds no more than 256 that are not', async (t) => {
    const bench = new RepairBench()
    const leads = deferred()
    bench.beforeDone = () => leads.promise
    for (let seed = 0; seed < 400; seed++) await bench.task(sampleBlob(seed), ['a'])
    bench.engine.start()
    await bench.clock.advance(60_000)
    t.strictSame([bench.stores.c.writes, bench.commits], [256, 0])
    leads.resolve()
    await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 2_000 })
    t.equal(bench.commits, 400)
    t.ok(Math.max(...bench.entries) === 128, bench.entries.join(' '))
    t.equal(bench.metric('failed_total'), 0)
    await bench.engine.stop()
  })

  t.test('lets no copy wait for one that takes long', async (t) => {
    const bench = new RepairBench()
    bench.throttle.setRate(1)
    await bench.task(sampleBlob(1, 10_000), ['a'])
    await bench.task(sampleBlob(2), ['a', 'c'])
    bench.engine.start()
    await bench.clock.advance(45)
    t.equal(bench.commits, 0, 'other copies may still come')
    await bench.clock.advance(10)
    t.equal(bench.commits, 1)
    bench.throttle.setRate(null)
    await bench.clock.runUntil(() => bench.commits === 2, { limitMs: 100 })
    await bench.engine.stop()
    t.equal(bench.clock.pending, 0)
  })

  t.test('makes the copies of a failed report again, and no others', async (t) => {
    const bench = new RepairBench()
    for (let seed = 0; seed < 300; seed++) await bench.task(sampleBlob(seed), ['a'])
    bench.refuseDone = 1
    bench.engine.start()
    await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 10_000 })
    t.equal(bench.stores.c.writes, 300, 'each was sent once')
    const failed = bench.metric('failed_total') ?? 0
    t.ok(failed >= 1 && failed <= 128, `${failed} failed`)
    await bench.engine.stop()
  })

  t.test('reads the rows once for many copies, not for each', async (t) => {
    const bench = new RepairBench()
    for (let seed = 0; seed < 640; seed++) await bench.task(sampleBlob(seed), ['a'])
    bench.stores.c.gate = () => new Promise((resolve) => void bench.clock.after(1, resolve))
    bench.engine.start()
    await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 1_000 })
    t.ok(bench.polls <= 40, `${bench.polls} looks for 640 copies`)
    t.ok(bench.rowsSeen <= 6_400, `${bench.rowsSeen} rows`)
    await bench.engine.stop()
  })

  t.test('writes nothing for a task that ends after it was found', async (t) => {
    const bench = new RepairBench()
    const sendMore = deferred()
    for (let seed = 0; seed < 10; seed++) await bench.task(sampleBlob(seed), ['a'])
    bench.stores.c.gate = () => sendMore.promise
    bench.engine.start()
    await bench.clock.advance(1)
    bench.rows.delete('birth-9')
    sendMore.resolve()
    await bench.clock.runUntil(() => bench.rows.size === 0, { limitMs: 100 })
    t.equal(await bench.stores.c.stat(sampleBlob(9)), null)
    t.strictSame([bench.commits, bench.metric('done_total')], [9, 9])
    await bench.engine.stop()
  })
})
