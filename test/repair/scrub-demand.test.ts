/**
 * Proofs of requested scrubs: every copy is read after the request, soon, once for each token, over restarts.
 */
import t from 'tap'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { DAY_MS, ScrubPlace, UNASKED, WEEK_MS } from './scrub-bench.ts'

const MINUTE_MS = 60_000
/** The time in which the disk reads a copy; it rests as long. */
const READ_MS = 100

async function slowPlace(copies: number): Promise<ScrubPlace> {
  const place = new ScrubPlace(new VirtualClock())
  await place.addMany(copies)
  place.store.beforeVerify = () => new Promise((resolve) => place.clock.after(READ_MS, resolve))
  return place
}

t.test('a scrub on demand', async (t) => {
  t.test('starts at once, reads everything again, and is done once for each token', async (t) => {
    const place = await slowPlace(50)
    const run = place.start()
    await place.clock.advance(2 * DAY_MS)
    const before = place.store.reads.length
    t.ok(before > 5 && before < 45)
    run.scrub.demand('op_1')
    await place.clock.advance(50 * 2 * READ_MS + 1_000)
    const done = { word: 'op_1', isDone: true, progress: 1, copies: 50, bytes: 50_000, lost: 0 }
    t.match(run.scrub.status(), { demand: done, lastFullAt: Number, progress: 1 })
    t.equal(place.store.reads.length, before + 50)
    t.equal(place.inventories, 1, 'an inventory came first')
    run.scrub.demand('op_1')
    await place.clock.advance(DAY_MS)
    t.equal(place.store.reads.length, before + 50, 'the same token again requests nothing')
    run.scrub.demand('op_2')
    await place.clock.advance(MINUTE_MS)
    t.equal(place.store.reads.length, before + 100)
    await place.clock.resolve(run.stop(), { limitMs: READ_MS })
    t.equal(place.clock.pending, 0)
  })

  t.test('counts as the ordinary one: the next is due a week later, at its own pace', async (t) => {
    const place = await slowPlace(20)
    const run = place.start()
    run.scrub.demand('op_1')
    await place.clock.advance(MINUTE_MS)
    run.scrub.demand(null)
    t.equal(run.scrub.status().demand, null)
    const before = place.store.reads.length
    await place.clock.advance(0.9 * WEEK_MS - MINUTE_MS)
    t.equal(place.store.reads.length, before)
    await place.clock.advance(DAY_MS)
    t.ok(place.store.reads.length > before && place.store.reads.length < before + 10)
    await place.clock.resolve(run.stop(), { limitMs: READ_MS })
  })

  t.test('keeps its answer for a late caller, also when the next pass has started', async (t) => {
    const place = await slowPlace(20)
    const run = place.start()
    run.scrub.demand('op_1')
    await place.clock.advance(WEEK_MS)
    const reads = place.store.reads.length
    t.ok(reads > 20 && reads < 30, `${reads} reads: the next pass has started, at its own pace`)
    t.match(run.scrub.status(), { demand: { word: 'op_1', isDone: true, copies: 20 }, progress: Number })
    t.ok(run.scrub.status().progress < 1)
    await place.clock.resolve(run.stop(), { limitMs: READ_MS })
  })

  t.test('counts its findings, each copy once, also when the process is killed in between', async (t) => {
    const place = await slowPlace(300)
    const [rotten] = await place.addMany(1)
    if (rotten !== undefined) await place.store.damage(rotten)
    const first = place.start()
    first.scrub.demand('op_1')
    await place.clock.advance(25_000)
    const kept = structuredClone(place.mark)
    t.ok((kept?.passed.copies ?? 0) > 20, 'a position was stored during the pass')
    await place.clock.resolve(first.stop(), { limitMs: READ_MS })
    place.mark = kept
    const second = place.start()
    second.scrub.demand('op_1')
    await place.clock.advance(1)
    t.match(second.scrub.status().demand, { isDone: false, copies: kept?.passed.copies })
    await place.clock.advance(2 * MINUTE_MS)
    t.match(second.scrub.status().demand, { isDone: true, copies: 300, lost: 1 })
    await place.clock.resolve(second.stop(), { limitMs: READ_MS })
    const third = place.start()
    third.scrub.demand('op_1')
    const reads = place.store.reads.length
    await place.clock.advance(DAY_MS)
    t.match(third.scrub.status().demand, { isDone: true, copies: 300, lost: 1 })
    t.equal(place.store.reads.length, reads, 'and is not done again after another restart')
    await place.clock.resolve(third.stop(), { limitMs: READ_MS })
  })

  t.test(
    'slows down when the request is suspended, and continues at its position when it is renewed',
    async (t) => {
      const place = await slowPlace(100)
      const run = place.start()
      run.scrub.demand('op_1')
      await place.clock.advance(5_000)
      const half = place.store.reads.length
      t.ok(half > 20 && half < 30)
      run.scrub.demand(null)
      await place.clock.advance(MINUTE_MS)
      t.ok(place.store.reads.length <= half + 1)
      run.scrub.demand('op_1')
      await place.clock.advance(MINUTE_MS)
      t.match(run.scrub.status().demand, { isDone: true, copies: 100 })
      t.ok(place.store.reads.length <= 101, `${place.store.reads.length} reads`)
      await place.clock.resolve(run.stop(), { limitMs: READ_MS })
    },
  )

  t.test('takes effect while the position is being stored, not hours later', async (t) => {
    const place = await slowPlace(20)
    const run = place.start()
    place.beforeKeep = () => run.scrub.demand('op_1')
    await place.clock.advance(MINUTE_MS)
    t.match(run.scrub.status().demand, { word: 'op_1', isDone: true, copies: 20 })
    await place.clock.resolve(run.stop(), { limitMs: READ_MS })
  })

  t.test('starts again for another token, and reports its earlier findings', async (t) => {
    const place = await slowPlace(100)
    const [first] = await place.addMany(1)
    if (first !== undefined) await place.store.damage(first)
    const run = place.start()
    run.scrub.demand('op_1')
    await place.clock.runUntil(() => run.scrub.status().demand?.lost === 1, { limitMs: MINUTE_MS })
    run.scrub.demand('op_2')
    await place.clock.advance(READ_MS * 5)
    t.strictSame(place.book.reported.flat(), [first?.birth])
    await place.clock.advance(MINUTE_MS)
    t.match(run.scrub.status().demand, { word: 'op_2', isDone: true, lost: 0 })
    await place.clock.resolve(run.stop(), { limitMs: READ_MS })
  })

  t.test('never exceeds the rate', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(100)
    place.mark = { startedAt: 0, lastFullAt: null, after: null, isOver: true, ...UNASKED }
    const run = place.start(1_000)
    run.scrub.demand('op_1')
    await place.clock.advance(50_000)
    t.ok(place.store.reads.length > 45 && place.store.reads.length <= 51, `${place.store.reads.length}`)
    await place.clock.resolve(run.stop(), { limitMs: READ_MS })
  })
})
