/**
 * Due times and the clock that judges them, while the time of the log is ahead and after it was set back.
 */
import t from 'tap'
import { DELAY_MS_MAX, hasCome } from '../../../src/state-machine/events/delivery-schedule.ts'
import { LogClock } from '../../../src/workers/webhooks/log-clock.ts'
import { requested } from '../../state-machine/hook-commands.ts'
import { failure, OK, OutboxWorld } from './outbox-world.ts'

const DAY_MS = 24 * 3_600_000

function bench() {
  const at = { now: 1_000_000, log: 1_000_000, monotonic: 50 }
  const status = () => ({
    majorityTime: at.now,
    offsetMs: 0,
    offsets: [],
    logTime: at.log,
    confirmedTime: at.log,
  })
  const clock = new LogClock({ time: { now: () => at.now, status }, monotonic: () => at.monotonic })
  return { at, clock }
}

t.test('LogClock', async (t) => {
  t.test('is the hour of the cluster where the log is not ahead', async (t) => {
    const { at, clock } = bench()
    t.equal(clock.now(), at.now)
    at.now += 700
    at.monotonic += 700
    t.equal(clock.now(), at.now)
  })

  t.test('continues from a log that is ahead and stands still', async (t) => {
    const { at, clock } = bench()
    at.log += 400 * DAY_MS
    t.equal(clock.now(), at.log)
    at.monotonic += 5_000
    t.equal(clock.now(), at.log + 5_000)
    at.log += 2_000
    t.equal(clock.now(), at.log, 'and from each later entry')
  })

  t.test('follows a log that was set back', async (t) => {
    const { at, clock } = bench()
    at.log += 400 * DAY_MS
    clock.now()
    at.log = at.now
    t.equal(clock.now(), at.now)
  })
})

t.test('hasCome', async (t) => {
  t.ok(hasCome(100, 100) && !hasCome(101, 100) && !hasCome(100 + DELAY_MS_MAX, 100))
  t.ok(hasCome(101 + DELAY_MS_MAX, 100), 'no schedule asks for so long a wait')
})

t.test('a delivery that became due while the time was ahead is sent after it was set back', async (t) => {
  const world = await OutboxWorld.start(t, requested('a'))
  world.answer = async () => failure(500)
  world.later(400 * DAY_MS)
  await world.put('ahead')
  await world.settle()
  t.equal(world.sent.length, 1, 'it waits for its second attempt')
  world.later(-400 * DAY_MS)
  world.answer = async () => OK
  await world.put('after')
  await world.settle()
  t.match(await world.hook('a'), { pending: 0, delivered: 2 })
})
