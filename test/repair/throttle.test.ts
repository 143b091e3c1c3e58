/**
 * Proofs of the shared rate: it is kept, it can be changed at any time, and no caller waits for a former rate.
 */
import fc from 'fast-check'
import t from 'tap'
import { Throttle } from '../../cluster/repair/throttle.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

t.test('Throttle', async (t) => {
  t.test('lets pieces through in order, each when the rate has covered all bytes up to it', async (t) => {
    const clock = new VirtualClock()
    const throttle = new Throttle(clock, 1_000)
    const times: string[] = []
    const passes = ['a', 'b', 'c'].map(async (name) => {
      await throttle.pass(500)
      times.push(`${name} at ${clock.now()}`)
    })
    await clock.advance(10_000)
    await Promise.all(passes)
    t.strictSame(times, ['a at 500', 'b at 1000', 'c at 1500'])
    t.equal(clock.pending, 0)
  })

  t.test('saves no unused time: after a rest the next piece takes its full time', async (t) => {
    const clock = new VirtualClock()
    const throttle = new Throttle(clock, 1_000)
    await clock.advance(60_000)
    const pass = throttle.pass(1_000)
    await clock.resolve(pass, { limitMs: 2_000 })
    t.equal(clock.now(), 61_000)
  })

  t.test('releases an aborted waiter at once, and no other waiter is delayed by it', async (t) => {
    const clock = new VirtualClock()
    const throttle = new Throttle(clock, 1_000)
    const times: string[] = []
    const stop = new AbortController()
    const pass = async (name: string, signal?: AbortSignal) => {
      await throttle.pass(1_000, signal)
      times.push(`${name} at ${clock.now()}`)
    }
    const passes = [pass('a'), pass('b', stop.signal), pass('c'), pass('d')]
    await clock.advance(500)
    stop.abort()
    await clock.advance(10_000)
    await pass('e', stop.signal)
    await Promise.all(passes)
    t.strictSame(times, ['b at 500', 'a at 1000', 'c at 2000', 'd at 3000', 'e at 10500'])
    t.equal(clock.pending, 0)
  })

  t.test('applies a new rate to present waiters', async (t) => {
    const clock = new VirtualClock()
    const throttle = new Throttle(clock, 1)
    const pass = throttle.pass(1_000)
    await clock.advance(500_000)
    throttle.setRate(100)
    await clock.resolve(pass, { limitMs: 6_000 })
    t.equal(clock.now(), 505_000, 'half was covered at the old rate')
    throttle.setRate(1)
    const freed = throttle.pass(1_000_000)
    throttle.setRate(null)
    await clock.resolve(freed, { limitMs: 1 })
    t.equal(throttle.bytesPerSecond, null)
  })

  t.test('delays no caller once it is closed', async (t) => {
    const clock = new VirtualClock()
    const throttle = new Throttle(clock, 1)
    const pass = throttle.pass(1_000_000)
    throttle.close()
    await clock.resolve(pass, { limitMs: 1 })
    await clock.resolve(throttle.pass(1_000_000), { limitMs: 1 })
    t.equal(clock.pending, 0)
  })

  t.test('refuses an invalid rate, and keeps the previous one', async (t) => {
    const throttle = new Throttle(new VirtualClock(), 5)
    for (const rate of [0, -1, NaN, Infinity]) t.throws(() => throttle.setRate(rate), RangeError)
    t.equal(throttle.bytesPerSecond, 5)
  })

  t.test('never exceeds its rates by more than the waiting pieces', async () => {
    const step = fc.record({
      rate: fc.integer({ min: 1, max: 1_000 }),
      bytes: fc.integer({ min: 1, max: 500 }),
      ms: fc.integer({ min: 0, max: 3_000 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const clock = new VirtualClock({ settleTurns: 1 })
        const throttle = new Throttle(clock, null)
        let [allowed, passed] = [0, 0]
        for (const { rate, bytes, ms } of steps) {
          throttle.setRate(rate)
          void throttle.pass(bytes).then(() => (passed += bytes))
          await clock.advance(ms)
          allowed += (rate * ms) / 1000
          if (passed > allowed + 1) return false
        }
        return true
      }),
      { numRuns: 50 },
    )
  })
})
