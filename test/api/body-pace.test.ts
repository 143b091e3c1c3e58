/**
 * The minimum rate of a body, and that only time spent waiting for it counts.
 */
import t from 'tap'
import { BodyPace } from '../../src/api/body-pace.ts'

t.test('BodyPace', async (t) => {
  await t.test('checks the rate after a minute of waiting', async (t) => {
    const pace = new BodyPace(100)
    t.notOk(pace.isTooSlow(1, 59_999))
    t.ok(pace.isTooSlow(1, 1))
  })
  await t.test(
    'checks each minute separately, so that a fast start does not excuse a slow rest',
    async (t) => {
      const pace = new BodyPace(100)
      t.notOk(pace.isTooSlow(1_000_000, 60_000))
      t.ok(pace.isTooSlow(99, 60_000))
    },
  )
  await t.test('accepts a body at exactly the minimum rate', async (t) => {
    const pace = new BodyPace(100)
    for (let minute = 0; minute < 1000; minute++) t.notOk(pace.isTooSlow(100, 60_000))
  })
  await t.test('requires more bytes where one wait took longer than a minute', async (t) => {
    t.ok(new BodyPace(100).isTooSlow(199, 120_000))
    t.notOk(new BodyPace(100).isTooSlow(200, 120_000))
  })
  await t.test('ignores time that the node takes, and accepts any rate without a minimum', async (t) => {
    const pace = new BodyPace(100)
    for (let piece = 0; piece < 1000; piece++) t.notOk(pace.isTooSlow(1, 0))
    t.notOk(new BodyPace(0).isTooSlow(1, 86_400_000))
  })
  await t.test(
    'is hopeless once the piece that is waited for would be too slow if it came whole',
    async (t) => {
      const pace = new BodyPace(100)
      t.notOk(pace.isHopeless(1, 59_999))
      t.ok(pace.isHopeless(1, 60_000))
      t.notOk(pace.isHopeless(200, 120_000))
      t.ok(pace.isHopeless(199, 120_000))
      t.notOk(pace.isTooSlow(50, 30_000), 'what came before counts')
      t.notOk(pace.isHopeless(50, 30_000))
      t.ok(pace.isHopeless(49, 30_000))
      t.notOk(new BodyPace(0).isHopeless(1, 86_400_000))
    },
  )
})
