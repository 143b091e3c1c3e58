/**
 * Background work of one pace begins together, whenever each round ended.
 */
import t from 'tap'
import { pauseMs } from '../../src/workers/repeating.ts'

const EVERY_MS = 1000

t.test('pauses that began at different times end at the same beat', async (t) => {
  const ends = [12_300, 12_499.2, 12_000.4].map((now) => Math.floor(now + pauseMs(EVERY_MS, now)))
  t.strictSame(ends, [13_000, 13_000, 13_000])
})

t.test('a pause is never half a pause or shorter, nor longer than one and a half', async (t) => {
  for (let now = 0; now < 3 * EVERY_MS; now += 0.7) {
    const pause = pauseMs(EVERY_MS, now)
    t.ok(pause > EVERY_MS / 2 && pause <= 1.5 * EVERY_MS, `${pause} ms at ${now}`)
  }
  t.equal(pauseMs(EVERY_MS, 12_999.9), 1001, 'a timer that fired too early does not fire again at once')
})
