/** A bucket gives what its rate gives, and what was used beyond it is paid back. */
import t from 'tap'
import { TokenBucket } from '../../src/limits/token-bucket.ts'

t.test('TokenBucket', async (t) => {
  t.test('gives a burst at once and then the rate', async (t) => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 20 }, 0)
    for (let n = 0; n < 20; n++) {
      t.equal(bucket.waitMs(1, 0), 0)
      bucket.charge(1, 0)
    }
    t.equal(bucket.waitMs(1, 0), 100)
    t.equal(bucket.waitMs(1, 100), 0)
    t.equal(bucket.left(1_000), 10)
    t.equal(bucket.left(1_000_000), 20, 'no more than the burst')
  })

  t.test('holds a debt against what comes next, for a minute of the rate at most', async (t) => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 10 }, 0)
    bucket.charge(40, 0)
    t.equal(bucket.waitMs(0, 0), 3_000)
    t.equal(bucket.left(0), 0)
    bucket.charge(1_000_000, 0)
    t.equal(bucket.waitMs(0, 0), 60_000)
  })

  t.test('keeps its debt when the rate changes, and loses what is above the new burst', async (t) => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 10 }, 0)
    bucket.charge(20, 0)
    bucket.setRate({ perSecond: 20, burst: 20 }, 0)
    t.equal(bucket.waitMs(0, 0), 500)
    bucket.setRate({ perSecond: 5, burst: 5 }, 60_000)
    t.equal(bucket.left(60_000), 5)
  })

  t.test('is full when a limit is set where there was none', async (t) => {
    const bucket = new TokenBucket({ perSecond: 0, burst: 1 }, 0)
    t.equal(bucket.left(0), Infinity)
    t.equal(bucket.waitMs(1_000_000, 0), 0)
    bucket.charge(1_000_000, 0)
    bucket.setRate({ perSecond: 5, burst: 50 }, 0)
    t.equal(bucket.left(0), 50)
  })

  t.test('gives nothing and takes nothing when the clock was set back', async (t) => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 10 }, 1_000)
    bucket.charge(10, 1_000)
    t.equal(bucket.left(0), 0)
    t.equal(bucket.left(1_000), 10)
  })
})
