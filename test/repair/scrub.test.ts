/**
 * Proofs of the scrub on a virtual clock: every copy, in time, at a measured pace, over restarts, and no copy skipped.
 */
import fc from 'fast-check'
import t from 'tap'
import { Condition } from '../../cluster/base/types.ts'
import { type SampleBlob, sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { AIM_MS, DAY_MS, ScrubPlace, UNASKED, WEEK_MS } from './scrub-bench.ts'

const births = (blobs: readonly SampleBlob[]): string[] => blobs.map(({ birth }) => birth)

t.test('Scrub', async (t) => {
  t.test('finds damaged copies and copies that differ from their rows, and no others', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const [good, rotten, other] = [await place.add(1), await place.add(2), await place.add(3)]
    await place.store.damage(rotten)
    place.book.listOtherBytes(other)
    const run = place.start()
    await place.clock.advance(WEEK_MS)
    t.strictSame(place.book.reported.flat().sort(), [rotten.birth, other.birth].sort())
    t.equal(place.store.quarantined.length, 2)
    t.equal((await place.store.verify(good)).size, 1_000)
    t.ok(place.kicks >= 1, 'repair is notified')
    t.match(run.scrub.status(), { lost: 2, removed: 0, lastFullAt: Number })
    await run.stop()
  })

  t.test('has abandoned copies removed, and leaves those that are owed, dropping or undecided', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const copyStatuses = ['abandoned', 'owed', 'dropping', 'undecided'] as const
    const blobs = new Map<string, SampleBlob>()
    for (const [seed, copyStatus] of copyStatuses.entries()) {
      const blob = sampleBlob(seed)
      await place.store.write(blob, streamOf(blob.bytes), blob)
      await place.store.damage(blob)
      place.book.copyStatuses.set(`${blob.id}.${blob.birth}`, copyStatus)
      blobs.set(copyStatus, blob)
    }
    const run = place.start()
    await place.clock.advance(WEEK_MS)
    for (const [copyStatus, blob] of blobs)
      t.equal((await place.store.stat(blob)) === null, copyStatus === 'abandoned', copyStatus)
    t.strictSame([place.store.quarantined, place.book.reported], [[], []], 'and judges none of them')
    t.strictSame(place.removed, [blobs.get('abandoned')?.birth])
    t.equal(run.scrub.status().removed, 1)
    await run.stop()
  })

  t.test('spreads a pass evenly over nine tenths of its time, and then starts the next one', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(400)
    const run = place.start()
    await place.clock.advance(AIM_MS / 2)
    const half = place.store.reads.length
    t.ok(half > 160 && half < 240, `${half} of 400 copies after half the time`)
    t.ok(Math.abs(run.scrub.status().progress - 0.5) < 0.02)
    t.equal(run.scrub.status().lastFullAt, null)
    await place.clock.advance(AIM_MS / 2 - 1)
    t.equal(place.store.reads.length, 400)
    t.equal(place.inventories, 0)
    await place.clock.advance(AIM_MS / 2)
    t.equal(place.store.reads.length, 400 + half, 'the second pass keeps the same pace')
    t.equal(place.inventories, 1, 'and started with an inventory')
    await run.stop()
  })

  t.test('reads nothing more while an early pass waits for the next', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(3)
    const run = place.start()
    await place.clock.advance(AIM_MS - 1)
    t.equal(place.store.reads.length, 3)
    t.match(run.scrub.status(), { progress: 1 })
    await run.stop()
    t.equal(place.clock.pending, 0)
  })

  t.test('catches up when it is late, but never above the rate', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(200)
    place.mark = {
      startedAt: place.clock.wallTime() - 2 * WEEK_MS,
      lastFullAt: null,
      after: null,
      isOver: false,
      ...UNASKED,
    }
    const run = place.start(10_000)
    await place.clock.advance(10_000)
    const reads = place.store.reads.length
    t.ok(reads > 95 && reads <= 100, `${reads} copies of 1,000 bytes in 10 s at 10,000 bytes a second`)
    run.throttle.setRate(null)
    await place.clock.runUntil(() => run.scrub.status().lastFullAt !== null, { limitMs: 1_000 })
    await run.stop()
  })

  t.test('lets the disk rest as long as it read, also when it is late', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(20)
    place.mark = { startedAt: 0, lastFullAt: null, after: null, isOver: false, ...UNASKED }
    place.store.beforeVerify = () =>
      new Promise((resolve) => {
        place.clock.after(100, resolve)
      })
    const run = place.start()
    await place.clock.advance(1_999)
    t.equal(place.store.reads.length, 10)
    await run.stop()
  })

  t.test('continues at its position after a restart, in the remaining time', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const blobs = await place.addMany(100)
    const first = place.start()
    await place.clock.advance(2 * DAY_MS)
    await first.stop()
    const before = place.store.reads.length
    t.ok(before > 20 && before < 50, `${before} copies in two days`)
    await place.clock.advance(3 * DAY_MS)
    const second = place.start()
    await place.clock.advance(AIM_MS - 5 * DAY_MS - 1)
    t.strictSame(place.store.reads, births(blobs), 'each once, none left out, in time')
    await second.stop()
  })

  t.test('takes a start in the future for now', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(50)
    const startedAt = place.clock.wallTime() + 90 * DAY_MS
    place.mark = { startedAt, lastFullAt: null, after: null, isOver: false, ...UNASKED }
    const run = place.start()
    await place.clock.advance(AIM_MS)
    t.ok(place.store.reads.length >= 50)
    await run.stop()
  })

  t.test('is on time again when a wall clock that was far ahead is corrected', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    await place.addMany(50)
    place.wallAheadMs = 90 * DAY_MS
    const run = place.start()
    await place.clock.advance(DAY_MS)
    place.wallAheadMs = 0
    await place.clock.advance(AIM_MS + DAY_MS)
    t.ok(place.store.reads.length >= 50, `${place.store.reads.length} copies read`)
    t.not(run.scrub.status().lastFullAt, null)
    await run.stop()
  })

  t.test('stores no position beyond a lost copy that was not reported', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const blobs = await place.addMany(40)
    const rotten = blobs[20] as SampleBlob
    await place.store.damage(rotten)
    place.book.refusal = new Condition('no_quorum', 'There is no leader')
    const first = place.start()
    await place.clock.advance(WEEK_MS)
    t.equal(place.store.reads.at(-1), rotten.birth, 'it delays the pass')
    await first.stop()
    t.ok((place.mark?.after?.id ?? '') < rotten.id)
    place.book.refusal = null
    const second = place.start()
    await place.clock.advance(WEEK_MS)
    t.strictSame(new Set(place.store.reads), new Set(births(blobs)))
    await second.stop()
  })

  t.test(
    'stores no position while a lost copy before it waits to be reported, also in a hurried pass',
    async (t) => {
      const place = new ScrubPlace(new VirtualClock())
      const blobs = await place.addMany(300)
      for (const blob of blobs.filter((_, n) => n % 3 === 0)) await place.store.damage(blob)
      place.mark = { startedAt: 0, lastFullAt: null, after: null, isOver: false, ...UNASKED }
      place.store.beforeVerify = () => new Promise((resolve) => void place.clock.after(70, resolve))
      place.beforeKeep = () => {
        t.equal(
          place.store.quarantined.length,
          place.book.reported.flat().length,
          'all lost copies are reported',
        )
      }
      const run = place.start()
      await place.clock.advance(60_000)
      t.ok(place.kept.length >= 4, 'positions were stored during the pass')
      await run.stop()
    },
  )

  t.test('reports many lost copies together, 256 at most, and a single one within a second', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const blobs = await place.addMany(300)
    for (const blob of blobs) await place.store.damage(blob)
    place.mark = { startedAt: 0, lastFullAt: null, after: null, isOver: false, ...UNASKED }
    const late = place.start()
    await place.clock.advance(1_000)
    t.strictSame(
      place.book.reported.map(({ length }) => length),
      [256, 44],
    )
    await late.stop()

    const quiet = new ScrubPlace(new VirtualClock())
    const [first] = await quiet.addMany(2)
    await quiet.store.damage(first as SampleBlob)
    const run = quiet.start()
    await quiet.clock.advance(1_000)
    t.strictSame(quiet.book.reported, [[first?.birth]], 'although the next copy is days away')
    await run.stop()
  })

  t.test('waits while the rows cannot be read, and reports no copy as lost because of that', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const blobs = await place.addMany(10)
    const { book } = place
    const [find, copyStatus] = [book.find.bind(book), book.copyStatus.bind(book)]
    let isReplaced = false
    const unlessReplaced = (): void => {
      if (!isReplaced) throw new Condition('leader_not_ready', 'The state is being replaced')
    }
    book.find = (name) => (unlessReplaced(), find(name))
    book.copyStatus = (name, holder) => (unlessReplaced(), copyStatus(name, holder))
    const run = place.start()
    await place.clock.advance(60_000)
    t.strictSame(place.store.reads, [])
    isReplaced = true
    await place.clock.advance(AIM_MS)
    t.strictSame(place.store.reads.slice(0, 10), births(blobs))
    t.strictSame([place.book.reported, place.removed], [[], []])
    await run.stop()
  })

  t.test('does not skip a copy that the disk cannot read, and continues when it can', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const blobs = await place.addMany(10)
    const stuck = blobs[4] as SampleBlob
    let attempts = 0
    place.store.beforeVerify = async (name) => {
      if (name.birth !== stuck.birth || attempts > 20) return
      attempts++
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    }
    const run = place.start()
    await place.clock.advance(AIM_MS)
    t.equal(attempts, 21)
    t.strictSame(place.store.reads.slice(0, 10), births(blobs))
    t.strictSame(place.book.reported, [], 'and reports none of them as lost')
    await run.stop()
  })

  t.test('continues without a file for its position', async (t) => {
    const place = new ScrubPlace(new VirtualClock())
    const blobs = await place.addMany(10)
    place.keepFault = new Error('disk full')
    const run = place.start()
    await place.clock.advance(AIM_MS - 1)
    t.strictSame(place.store.reads, births(blobs))
    await run.stop()
  })

  t.test('reads every copy in every pass, whenever the process dies', async () => {
    const plan = fc.record({
      count: fc.integer({ min: 1, max: 60 }),
      deaths: fc.array(fc.integer({ min: 1, max: WEEK_MS }), { maxLength: 6 }),
    })
    const isComplete = async ({ count, deaths }: { count: number; deaths: readonly number[] }) => {
      const place = new ScrubPlace(new VirtualClock({ settleTurns: 1 }))
      const blobs = await place.addMany(count, 10)
      for (const ms of deaths) {
        place.keepFault = null
        const run = place.start()
        await place.clock.advance(ms)
        // A process that dies stores nothing at its end.
        place.keepFault = new Error('dead')
        await run.stop()
      }
      place.keepFault = null
      const passes = place.kept.filter(({ isOver }) => isOver).length
      const run = place.start()
      await place.clock.runUntil(() => place.kept.filter(({ isOver }) => isOver).length > passes, {
        limitMs: 3 * WEEK_MS,
      })
      await run.stop()
      const reads = place.store.reads
      return blobs.every(({ birth }) => reads.filter((read) => read === birth).length > passes)
    }
    await fc.assert(fc.asyncProperty(plan, isComplete), { numRuns: 25 })
  })
})
