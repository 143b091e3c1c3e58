/**
 * Token buckets under an injected clock.
 */
import fc from 'fast-check'
import t from 'tap'
import { RateLimiter } from '../../src/access/rate-limiter.ts'

function limiterAt(limits = { perMinute: 30, burst: 10, callersMax: 3 }) {
  const clock = { ms: 1_000_000 }
  return { clock, limiter: new RateLimiter(limits, () => clock.ms) }
}

t.test('RateLimiter', async (t) => {
  t.test('allows the burst, then one for each interval, and returns how long to wait', async (t) => {
    const { clock, limiter } = limiterAt()
    for (let count = 0; count < 10; count += 1) t.equal(limiter.take('a'), null)
    t.equal(limiter.take('a'), 2000)
    clock.ms += 1999
    t.equal(limiter.take('a'), 1)
    clock.ms += 1
    t.equal(limiter.take('a'), null)
    t.equal(limiter.take('a'), 2000)
  })

  t.test('counts each caller separately', async (t) => {
    const { limiter } = limiterAt()
    for (let count = 0; count < 11; count += 1) limiter.take('a')
    t.not(limiter.take('a'), null)
    t.equal(limiter.take('b'), null)
  })

  t.test('never holds more than the burst, after any idle time', async (t) => {
    const { clock, limiter } = limiterAt()
    limiter.take('a')
    clock.ms += 1e9
    let allowed = 0
    while (limiter.take('a') === null) allowed += 1
    t.equal(allowed, 10)
  })

  t.test('gives and takes nothing when the clock is set back', async (t) => {
    const { clock, limiter } = limiterAt()
    for (let count = 0; count < 10; count += 1) limiter.take('a')
    clock.ms -= 1e9
    t.equal(limiter.take('a'), 2000)
    clock.ms += 2000
    t.equal(limiter.take('a'), null)
  })

  t.test('reports the remaining requests and the time of the next one without taking any', async (t) => {
    const { clock, limiter } = limiterAt()
    t.same(limiter.rateStatus('a'), { left: 10, nextMs: 2000 })
    limiter.take('a')
    clock.ms += 500
    for (let look = 0; look < 3; look += 1) t.same(limiter.rateStatus('a'), { left: 9, nextMs: 1500 })
    for (let count = 0; count < 9; count += 1) limiter.take('a')
    t.same(limiter.rateStatus('a'), { left: 0, nextMs: 1500 })
    t.equal(limiter.take('a'), 1500, 'as reported to the refused caller')
  })

  t.test('forgets only the least recently seen caller when it is full', async (t) => {
    const { limiter } = limiterAt()
    for (const caller of ['a', 'b', 'c']) for (let count = 0; count < 10; count += 1) limiter.take(caller)
    limiter.take('a')
    limiter.take('d')
    t.equal(limiter.size, 3)
    t.not(limiter.take('a'), null, 'seen again, so kept')
    t.not(limiter.take('c'), null)
    t.equal(limiter.take('b'), null, 'forgotten')
    for (let count = 0; count < 1000; count += 1) limiter.take(`caller-${count}`)
    t.equal(limiter.size, 3)
  })

  t.test('never allows more in a span of time than rate times span plus burst', async () => {
    const property = fc.property(fc.array(fc.nat(5000), { maxLength: 300 }), (steps) => {
      const { clock, limiter } = limiterAt()
      const start = clock.ms
      let allowed = 0
      for (const step of steps) {
        clock.ms += step
        if (limiter.take('a') === null) allowed += 1
      }
      return allowed <= 10 + ((clock.ms - start) * 30) / 60_000 + 1e-6
    })
    fc.assert(property, { numRuns: 200, seed: 8 })
  })
})
