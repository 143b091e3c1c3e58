/**
 * VirtualClock: order, settling, limits.
 */
import t from 'tap'
import { VirtualClock } from './virtual-clock.ts'

t.test('VirtualClock', async (t) => {
  t.test('runs timers by due time, then by creation, and shows each its own time', async (t) => {
    const clock = new VirtualClock()
    const seen: [string, number][] = []
    const note = (name: string) => () => void seen.push([name, clock.now()])
    clock.after(20, note('late'))
    clock.after(10, note('first'))
    clock.after(10, note('second'))
    clock.after(0, note('now'))
    clock.after(15, note('never')).cancel()
    t.strictSame(seen, [], 'nothing runs in the turn of the caller')
    await clock.advance(15)
    t.strictSame(seen, [
      ['now', 0],
      ['first', 10],
      ['second', 10],
    ])
    t.equal(clock.now(), 15)
    await clock.advance(5)
    t.strictSame(seen.at(-1), ['late', 20])
    t.equal(clock.pending, 0)
  })

  t.test('lets promises settle between two timers, and runs timers set on the way', async (t) => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.after(1, () => {
      void Promise.resolve()
        .then(() => new Promise((resolve) => setImmediate(resolve)))
        .then(() => {
          seen.push('settled')
          clock.after(0, () => void seen.push('nested'))
        })
    })
    clock.after(2, () => void seen.push('next'))
    await clock.advance(2)
    t.strictSame(seen, ['settled', 'nested', 'next'])
  })

  t.test('stops at the moment when the condition holds', async (t) => {
    const clock = new VirtualClock()
    let ticks = 0
    const tick = () => {
      ticks++
      clock.after(10, tick)
    }
    tick()
    await clock.runUntil(() => ticks === 5, { limitMs: 1000 })
    t.equal(clock.now(), 40)
    await t.rejects(
      clock.runUntil(() => false, { limitMs: 100 }),
      /within 100 ms/,
    )
    await t.rejects(
      new VirtualClock().runUntil(() => false, { limitMs: 100 }),
      /no timer is left/,
    )
  })

  t.test('gives the outcome of a promise that waits for its timers', async (t) => {
    const clock = new VirtualClock()
    const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
    t.equal(
      await clock.resolve(
        wait(500).then(() => 'done'),
        { limitMs: 1000 },
      ),
      'done',
    )
    await t.rejects(
      clock.resolve(
        wait(1).then(() => Promise.reject(new Error('no'))),
        { limitMs: 10 },
      ),
      /no/,
    )
  })

  t.test('shows a wall time that moves with it', async (t) => {
    const clock = new VirtualClock({ epochMs: 5000 })
    await clock.advance(70)
    t.equal(clock.wallTime(), 5070)
    await t.rejects(clock.advance(-1))
    t.throws(() => clock.after(Number.NaN, () => {}))
  })

  t.test('is moved by one caller at a time', async (t) => {
    const clock = new VirtualClock()
    const first = clock.advance(1)
    await t.rejects(clock.advance(1), /two callers/)
    await first
  })
})
