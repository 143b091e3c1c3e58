/** A delivery in virtual time, from start to end: its schedule, its ends, and a hook with only failures. */
import fc from 'fast-check'
import t from 'tap'
import type { AttemptResult } from '../../src/state-machine/events/commands.ts'
import type { DeliveryRecord } from '../../src/state-machine/events/records.ts'
import {
  ATTEMPTS_MAX,
  delayAfter,
  RETRY_AFTER_MS_MAX,
  SUSPEND_AFTER_MS,
} from '../../src/state-machine/events/delivery-schedule.ts'
import {
  attemptAt,
  deliveries,
  hookOf,
  hooks,
  queued,
  record,
  setNotifications,
  TAKEN,
  requested,
  worldWithHooks,
} from './hook-commands.ts'
import { type MapWorld, put, recounted, remove } from './map-world.ts'

const EMPTY = { kind: 'empty' } as const
const HOUR = 3_600_000

function worldWithDelivery(): MapWorld {
  const world = worldWithHooks(requested('a'))
  world.do(put('k', EMPTY, 0))
  return world
}

function single(world: MapWorld): DeliveryRecord {
  const [delivery] = deliveries(world)
  if (delivery === undefined) throw new Error('there is no delivery')
  return delivery
}

/** Exactly at its due time; the log may be slightly later. */
function attempt(world: MapWorld, more: Partial<AttemptResult> = {}): void {
  const delivery = single(world)
  world.time = Math.max(world.time, delivery.dueAt)
  world.do(record(attemptAt(world, delivery, more)))
}

t.test('recordAttempts', async (t) => {
  t.test('tries ten times by the schedule, then the delivery is dead [notifications.schedule]', async (t) => {
    for (const jitter of [0, -1, 1, 7]) {
      const world = worldWithDelivery()
      const waits: number[] = []
      while (single(world).status === 'pending') {
        attempt(world, { jitter })
        const { status, dueAt } = single(world)
        if (status === 'pending') waits.push(dueAt - world.time)
      }
      const share = 1 + 0.2 * Math.min(jitter, 1)
      const expected = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map(
        (s) => s * 1000 * share,
      )
      t.same(waits, expected, `jitter ${jitter}`)
      t.match(single(world), { status: 'dead', attempts: ATTEMPTS_MAX, settledAt: world.time })
      t.same(queued(world), [])
      t.same(recounted(world), [])
    }
  })

  t.test('any accepted attempt ends it, and resets the failures of the hook', async (t) => {
    const world = worldWithDelivery()
    attempt(world)
    attempt(world, { retryAfterMs: 1000 })
    t.match(hookOf(world, 'a'), { failures: 2, pending: 1 })
    attempt(world, TAKEN)
    t.match(single(world), { status: 'delivered', attempts: 3, lastAttempt: { status: 204, error: null } })
    t.match(hookOf(world, 'a'), { failures: 0, failingSince: null, notBefore: 0, pending: 0, delivered: 1 })
    t.same(recounted(world), [])
  })

  t.test('a result counts once, however often it is reported', async (t) => {
    const world = worldWithDelivery()
    const result = attemptAt(world, single(world))
    t.same(world.do(record(result, result)), { recorded: 1 })
    t.same(world.do(record(result)), { recorded: 0 })
    t.same(
      world.do(record({ ...result, ...TAKEN })),
      { recorded: 0 },
      'of an attempt that was counted as failed',
    )
    t.match(single(world), { attempts: 1, status: 'pending' })
    attempt(world, TAKEN)
    t.same(world.do(record({ ...result, attempts: 2 })), { recorded: 0 }, 'nothing follows a delivery')
    t.same(world.do(record({ ...result, hookId: 'none' })), { recorded: 0 })
    t.match(world.run(record()), { ok: false, code: 'invalid_argument' })
    t.match(world.run(record(...Array.from({ length: 257 }, () => result))), { ok: false })
    t.same(recounted(world), [])
  })

  t.test(
    'Retry-After delays the attempt and the hook, up to a day [notifications.retry-after]',
    async (t) => {
      const world = worldWithDelivery()
      attempt(world, { retryAfterMs: HOUR, status: 429 })
      t.equal(single(world).dueAt - world.time, HOUR, 'longer than the schedule')
      t.equal(hookOf(world, 'a').notBefore - world.time, HOUR)
      attempt(world, { retryAfterMs: 1, status: 503 })
      t.equal(single(world).dueAt - world.time, 300_000, 'never sooner than the schedule')
      attempt(world, { retryAfterMs: 1000 * HOUR, status: 503 })
      t.equal(single(world).dueAt - world.time, RETRY_AFTER_MS_MAX)
    },
  )

  t.test(
    'a hook with only failures for 72 hours is suspended, and continues to collect [notifications.suspended]',
    async (t) => {
      const world = worldWithDelivery()
      attempt(world)
      const since = world.time
      while (hookOf(world, 'a').stop === null) {
        t.ok(world.time - since < SUSPEND_AFTER_MS)
        attempt(world, { status: null, error: 'connection refused' })
      }
      t.ok(world.time - since >= SUSPEND_AFTER_MS)
      t.match(hookOf(world, 'a').stop, {
        kind: 'suspended',
        reason: /72 hours; the last one: connection refused$/,
      })
      t.equal(single(world).status, 'dead')
      world.do(put('later', EMPTY, 0))
      t.match(hookOf(world, 'a'), { pending: 1, dead: 1 })
      t.notOk(
        [...world.rows.keys()].some((key) => key.startsWith('busyHook')),
        'nothing is sent',
      )
      t.same(recounted(world), [])
      world.do(setNotifications([requested('a')]))
      t.match(hookOf(world, 'a'), { stop: null, failures: 0, failingSince: null, pending: 1, dead: 1 })
      t.ok(
        [...world.rows.keys()].some((key) => key.startsWith('busyHook')),
        'pending deliveries continue',
      )
      t.same(recounted(world), [])
    },
  )

  t.test('one success in between prevents the suspension', async (t) => {
    const world = worldWithDelivery()
    for (let n = 0; n < 9; n++) attempt(world)
    world.do(put('other', EMPTY, 0))
    const other = deliveries(world).find(({ key }) => key === 'other')
    if (other !== undefined) world.do(record(attemptAt(world, other, TAKEN)))
    const dying = deliveries(world).find(({ key }) => key === 'k')
    world.time = dying?.dueAt ?? 0
    if (dying !== undefined) world.do(record(attemptAt(world, dying)))
    t.match(hookOf(world, 'a'), { stop: null, dead: 1, delivered: 1 })
  })

  t.test(
    '410 disables: nothing is sent, nothing more is collected, pending deliveries stay [notifications.gone]',
    async (t) => {
      const world = worldWithDelivery()
      attempt(world, { verdict: 'gone', status: 410 })
      t.match(hookOf(world, 'a').stop, { kind: 'gone', reason: /410/ })
      world.do(put('later', EMPTY, 0))
      t.match(hookOf(world, 'a'), { pending: 1 })
      t.equal(single(world).status, 'pending')
      t.same(recounted(world), [])
      world.do(setNotifications([requested('a', { enabled: false })]))
      t.match(hookOf(world, 'a').stop, { kind: 'gone' }, 'until it is enabled')
      world.do(setNotifications([requested('a')]))
      t.match(hookOf(world, 'a'), { stop: null, pending: 1 })
    },
  )

  t.test('of a deleted bucket: a hook that is suspended or gone ends permanently', async (t) => {
    const world = worldWithDelivery()
    world.do(remove('k'))
    world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
    attempt(world, { verdict: 'gone', status: 410 })
    t.match(hookOf(world, 'a'), { state: 'removed', pending: 2 })
    t.same(world.do(record(attemptAt(world, single(world), TAKEN))), { recorded: 0 })
    t.same(recounted(world), [])
  })
})

t.test('redeliver', async (t) => {
  const again = (world: MapWorld, { hookId, eventId }: DeliveryRecord = single(world)) =>
    world.run({ type: 'redeliver', tenantId: 'acme', bucket: 'photos', hookId, eventId })

  t.test('makes it due now with all attempts left, in any state', async (t) => {
    const world = worldWithDelivery()
    for (const more of [{}, TAKEN]) {
      attempt(world, more)
      t.match(again(world), { ok: true, value: { status: 'pending', attempts: 0, settledAt: null } })
      t.equal(single(world).dueAt, world.time)
      t.equal(queued(world).length, 1)
      t.match(hookOf(world, 'a'), { pending: 1, delivered: 0 })
      t.same(recounted(world), [])
    }
  })

  t.test('an earlier result does not count any more', async (t) => {
    const world = worldWithDelivery()
    attempt(world)
    const late = attemptAt(world, single(world))
    again(world)
    t.same(world.do(record(late)), { recorded: 0 })
  })

  t.test('not_found, and invalid_bucket_state while the config does not deliver', async (t) => {
    const world = worldWithDelivery()
    t.match(again(world, { ...single(world), hookId: 'x' }), { ok: false, code: 'not_found' })
    t.match(again(world, { ...single(world), eventId: 'x' }), { ok: false, code: 'not_found' })
    world.do(setNotifications([requested('a', { enabled: false })]))
    t.match(again(world), { ok: false, code: 'invalid_bucket_state', message: /"a" is disabled/ })
    world.do(setNotifications([]))
    t.match(again(world), { ok: false, code: 'not_found' }, 'of a config that was removed')
  })
})

t.test('testHook makes an event of its own, for one config', async (t) => {
  const world = worldWithHooks(
    requested('a', { events: ['object-removed'] }),
    requested('b'),
    requested('off', { enabled: false }),
  )
  const ask = (configId: string) =>
    world.run({ type: 'testHook', tenantId: 'acme', bucket: 'photos', configId })
  t.match(ask('a'), { ok: true, value: { type: 'test', eventName: 's3:TestEvent', key: null } })
  t.same(deliveries(world).length, 1)
  t.match(ask('none'), { ok: false, code: 'not_found' })
  t.match(ask('off'), { ok: false, code: 'invalid_bucket_state' })
  t.same(recounted(world), [])
})

t.test('forgetDeliveries keeps the pending deliveries of an open hook', async (t) => {
  const world = worldWithDelivery()
  const { hookId, eventId } = single(world)
  const { bucketId } = hookOf(world, 'a')
  const forget = { type: 'forgetDeliveries', bucketId, hookId, eventIds: [eventId, 'absent'] } as const
  t.same(world.do(forget), { forgotten: 0 })
  attempt(world, TAKEN)
  t.same(world.do(forget), { forgotten: 1 })
  t.same(world.do(forget), { forgotten: 0 })
  t.same(deliveries(world), [])
  t.equal(hooks(world).length, 1, 'the hook stays')
  t.same(recounted(world), [])
})

t.test('delayAfter stays within 20 percent of the schedule for any jitter', async () => {
  const jitters = fc.double({ noNaN: true })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: ATTEMPTS_MAX - 1 }), jitters, (attempts, jitter) => {
      const middle = delayAfter(attempts, { jitter: 0, retryAfterMs: null }) ?? 0
      const delay = delayAfter(attempts, { jitter, retryAfterMs: null }) ?? 0
      return delay >= Math.floor(middle * 0.8) && delay <= Math.ceil(middle * 1.2)
    }),
    { seed: 1, numRuns: 300 },
  )
})

t.test('after any history, counts and rows follow from each other', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('put' as const), key: fc.constantFrom('a', 'b', 'in/c') }),
    fc.record({ do: fc.constant('remove' as const), key: fc.constantFrom('a', 'b', 'in/c') }),
    fc.record({ do: fc.constant('set' as const), ids: fc.subarray(['x', 'y', 'z']), enabled: fc.boolean() }),
    fc.record({
      do: fc.constant('attempt' as const),
      n: fc.nat(20),
      verdict: fc.constantFrom('taken' as const, 'failed' as const, 'failed' as const, 'gone' as const),
    }),
    fc.record({ do: fc.constant('again' as const), n: fc.nat(20) }),
    fc.record({ do: fc.constant('forget' as const), n: fc.nat(20) }),
    fc.record({ do: fc.constant('later' as const) }),
    fc.record({ do: fc.constant('deleteBucket' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      const world = worldWithHooks(requested('x'), requested('y', { prefix: 'in/' }))
      for (const one of steps) {
        const all = deliveries(world)
        const chosen = 'n' in one ? all[one.n % Math.max(1, all.length)] : undefined
        if (one.do === 'put') world.run(put(one.key, EMPTY, 0))
        if (one.do === 'remove') world.run(remove(one.key))
        if (one.do === 'set')
          world.run(setNotifications(one.ids.map((id) => requested(id, { enabled: one.enabled }))))
        if (one.do === 'later') world.time += 20 * HOUR
        if (one.do === 'deleteBucket') world.run({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
        if (chosen === undefined) continue
        const { hookId, eventId } = chosen
        const { bucketId } = attemptAt(world, chosen)
        if (one.do === 'attempt') world.run(record(attemptAt(world, chosen, { verdict: one.verdict })))
        if (one.do === 'again')
          world.run({ type: 'redeliver', tenantId: 'acme', bucket: 'photos', hookId, eventId })
        if (one.do === 'forget')
          world.run({ type: 'forgetDeliveries', bucketId, hookId, eventIds: [eventId] })
      }
      const found = recounted(world)
      if (found.length > 0) throw new Error(found.join('; '))
    }),
    { seed: 1, numRuns: 400 },
  )
})
