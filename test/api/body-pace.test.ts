/**
 * How slowly a body may come, and that only waiting for it counts.
 */
import t from 'tap'
import { BodyPace } from '../../src/api/body-pace.ts'

t.test('BodyPace', async (t) => {
  await t.test('asks for its bytes once a minute was waited', async (t) => {
    const pace = new BodyPace(100)
    t.notOk(pace.isTooSlow(1, 59_999))
    t.ok(pace.isTooSlow(1, 1))
  })
  await t.test('asks anew in each minute, so that a fast start pays for nothing later', async (t) => {
    const pace = new BodyPace(100)
    t.notOk(pace.isTooSlow(1_000_000, 60_000))
    t.ok(pace.isTooSlow(99, 60_000))
  })
  await t.test('lets a body pass that is as fast as it must be', async (t) => {
    const pace = new BodyPace(100)
    for (let minute = 0; minute < 1000; minute++) t.notOk(pace.isTooSlow(100, 60_000))
  })
  await t.test('asks for more where one wait took longer than a minute', async (t) => {
    t.ok(new BodyPace(100).isTooSlow(199, 120_000))
    t.notOk(new BodyPace(100).isTooSlow(200, 120_000))
  })
  await t.test('lets a node take its time, and any pace where none is asked for', async (t) => {
    const pace = new BodyPace(100)
    for (let piece = 0; piece < 1000; piece++) t.notOk(pace.isTooSlow(1, 0))
    t.notOk(new BodyPace(0).isTooSlow(1, 86_400_000))
  })
})
