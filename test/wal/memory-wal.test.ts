/**
 * MemoryWal keeps the contract, and fails as a machine fails.
 */
import t from 'tap'
import type { Clock } from '../../cluster/base/clock.ts'
import { SystemClock } from '../../cluster/base/system-clock.ts'
import { MemoryDisk, MemoryWal } from '../../cluster/wal/memory-wal.ts'
import type { WalContent } from '../../cluster/wal/wal.ts'
import { entries, entry, plain, walContract, walRepairContract, WalSession } from '../port-suites/wal.ts'

for (const contract of [walContract, walRepairContract]) {
  contract('MemoryWal', () => {
    const disk = new MemoryDisk()
    return {
      wal: () => new MemoryWal({ disk, clock: new SystemClock(), flushMs: () => 0 }),
      damage: (index) => disk.damage(index, { keepTerm: true }),
    }
  })
}

/** Runs scheduled callbacks when the test asks for it, in order. */
class HandClock implements Clock {
  readonly #due: { callback: () => void; isCancelled: boolean }[] = []
  now(): number {
    return 0
  }
  wallTime(): number {
    return 0
  }
  after(_ms: number, callback: () => void): { cancel(): void } {
    const timer = { callback, isCancelled: false }
    this.#due.push(timer)
    return { cancel: () => void (timer.isCancelled = true) }
  }
  runOne(): void {
    const timer = this.#due.shift()
    if (timer !== undefined && !timer.isCancelled) timer.callback()
  }
}

async function openOn(disk: MemoryDisk, clock: Clock): Promise<{ session: WalSession; wal: MemoryWal }> {
  const wal = new MemoryWal({ disk, clock, flushMs: () => 1 })
  return { session: await WalSession.open(wal), wal }
}

t.test('MemoryWal', async (t) => {
  t.test('batches that wait share the next flush', async (t) => {
    const clock = new HandClock()
    const { session } = await openOn(new MemoryDisk(), clock)
    session.append({ entries: entries(1, 1) })
    session.append({ entries: entries(2, 2) })
    session.append({ entries: entries(3, 3) })
    t.same(session.durable, [], 'nothing is durable before the clock moves')
    clock.runOne()
    t.same(session.durable, [1])
    clock.runOne()
    t.same(session.durable, [1, 2, 3])
  })

  t.test('a crash drops unflushed batches and calls no event again', async (t) => {
    const [disk, clock] = [new MemoryDisk(), new HandClock()]
    const { session, wal } = await openOn(disk, clock)
    session.append({ entries: entries(1, 2) })
    clock.runOne()
    session.append({ entries: entries(3, 3) })
    session.append({ entries: entries(4, 4) })
    wal.crash()
    clock.runOne()
    t.same(session.durable, [1])
    const again = await openOn(disk, clock)
    t.same(
      plain(again.session.content as WalContent),
      plain({ ...disk.image.content, entries: entries(1, 2) }),
    )
  })

  t.test('a crash may keep unacknowledged batches, but only the first ones', async (t) => {
    const [disk, clock] = [new MemoryDisk(), new HandClock()]
    const { session, wal } = await openOn(disk, clock)
    for (let index = 1; index <= 4; index++) session.append({ entries: entries(index, index) })
    wal.crash(3)
    t.same(session.durable, [])
    t.same(plain(disk.image.content), plain({ ...disk.image.content, entries: entries(1, 3) }))
  })

  t.test('a failing flush is reported once and ends all acknowledgements', async (t) => {
    const [disk, clock] = [new MemoryDisk(), new HandClock()]
    const { session, wal } = await openOn(disk, clock)
    session.append({ entries: entries(1, 1) })
    session.append({ entries: entries(2, 2) })
    disk.fault = new Error('the disk is gone')
    clock.runOne()
    disk.fault = null
    session.append({ entries: entries(3, 3) })
    clock.runOne()
    t.same(session.durable, [])
    t.equal(session.fatal.length, 1)
    await wal.close()
    t.same(disk.image.content.entries, [])
  })

  t.test('a hole without its term is still compared with the lost entry', async (t) => {
    for (const [given, left] of [
      [entry(2, 1), 3],
      [entry(2, 1, 'the same term and other bytes'), 1],
      [entry(2, 2), 1],
    ] as const) {
      const [disk, clock] = [new MemoryDisk(), new HandClock()]
      const first = await openOn(disk, clock)
      first.session.append({ entries: entries(1, 3) })
      clock.runOne()
      disk.damage(2, { keepTerm: false })
      disk.damage(9, { keepTerm: false })
      const { session, wal } = await openOn(disk, clock)
      t.same(session.content?.holes, [{ index: 2, term: null }])
      const repaired = wal.repair({ committed: [given] })
      clock.runOne()
      t.equal((await repaired).entries.length, left)
      t.same(disk.read().holes, [])
    }
  })

  t.test('a crash or a failing flush during a repair leaves the holes', async (t) => {
    for (const isCrash of [true, false]) {
      const [disk, clock] = [new MemoryDisk(), new HandClock()]
      const first = await openOn(disk, clock)
      first.session.append({ entries: entries(1, 3) })
      clock.runOne()
      disk.damage(2, { keepTerm: true })
      const { wal } = await openOn(disk, clock)
      const repaired = wal.repair({ committed: entries(2, 2) })
      if (isCrash) wal.crash()
      else disk.fault = new Error('the disk is gone')
      clock.runOne()
      if (!isCrash) await t.rejects(repaired, { message: 'the disk is gone' })
      t.equal(disk.read().holes.length, 1)
    }
  })

  t.test('an entry that was replaced or voided after it was damaged is not a hole', async (t) => {
    const [disk, clock] = [new MemoryDisk(), new HandClock()]
    const { session } = await openOn(disk, clock)
    session.append({ entries: entries(1, 3) })
    clock.runOne()
    for (const index of [1, 2, 3]) disk.damage(index, { keepTerm: true })
    session.append({ entries: entries(3, 3, 2) })
    clock.runOne()
    t.same(disk.read().holes.length, 2)
    session.append({ base: { index: 5, term: 2 } })
    clock.runOne()
    t.same(disk.read().holes, [])
  })
})
