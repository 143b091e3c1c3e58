/**
 * SystemClock: timers of Node behind the port.
 */
import t from 'tap'
import { ROUND_BEAT_MS } from '../../cluster/base/clock.ts'
import { SystemClock, toBeatMs } from '../../cluster/base/system-clock.ts'

t.test('SystemClock', async (t) => {
  const clock = new SystemClock()

  t.test(
    'runs a timer later and outside the turn of the caller, and not after it was cancelled',
    async (t) => {
      let ran = 0
      clock.after(0, () => void t.fail('this one was cancelled')).cancel()
      clock.after(0, () => void ran++)
      const done = new Promise<void>((resolve) => void clock.after(1, resolve))
      t.equal(ran, 0)
      await done
      t.equal(ran, 1)
    },
  )

  t.test('never goes backwards', async (t) => {
    let before = clock.now()
    for (let i = 0; i < 1000; i++) {
      const now = clock.now()
      if (now < before) t.fail(`${now} came after ${before}`)
      before = now
    }
    t.ok(Number.isInteger(clock.wallTime()))
  })

  t.test('refuses delays that Node would turn into none', async (t) => {
    for (const ms of [-1, Number.NaN, 2 ** 31]) t.throws(() => clock.after(ms, () => {}), /does not fit/)
  })

  t.test('begins rounds at beats: never later than asked, and never twice in one beat', async (t) => {
    for (const everyMs of [100, 300, 666, 1000, 2000]) {
      let now = 12_345.6
      for (let n = 0; n < 20; n += 1) {
        const ms = toBeatMs(everyMs, now)
        const at = now + ms
        t.ok(ms <= everyMs + 20 && ms >= everyMs / 2, `${ms} of ${everyMs} ms`)
        if (n > 0) t.ok(at % ROUND_BEAT_MS < 1, `${at} is a beat`)
        if (n > 1) t.ok(ms > everyMs - ROUND_BEAT_MS, `${ms} of ${everyMs} ms`)
        // Timers fire late.
        now = at + (n % 5)
      }
    }
    t.equal(toBeatMs(10, 12_345.6), 10, 'a short one is kept as it is')
  })
})
