/**
 * SystemClock: timers of Node behind the port.
 */
import t from 'tap'
import { SystemClock } from '../../cluster/base/system-clock.ts'

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
})
