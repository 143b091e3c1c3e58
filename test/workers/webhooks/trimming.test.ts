/** How long the log of deliveries is kept, and that nothing owed goes with it. */
import t from 'tap'
import { KEPT, Trimming } from '../../../src/workers/webhooks/trimming.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { setNotifications, requested } from '../../state-machine/hook-commands.ts'
import { failure, OutboxWorld } from './outbox-world.ts'
import { eventRanges } from '../../../src/state-machine/events/keys.ts'
import { outboxTotal } from '../../../src/state-machine/events/hooks.ts'
import { settledDeliveries } from '../../../src/store/reads/outbox-reads.ts'

const DAY = 86_400_000

function trimmingOf(world: OutboxWorld): Trimming {
  return new Trimming({
    cluster: { isJobRunner: () => world.isJobRunner },
    state: world.world.store.reader,
    propose: world.world.propose,
    confirmedTime: () => world.now,
    logger: SILENT,
  })
}

async function trim(world: OutboxWorld): Promise<void> {
  const trimming = trimmingOf(world)
  while (await trimming.round());
}

const keysOf = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `k${from + n}`)

t.test('Trimming', async (t) => {
  t.test('keeps the last so many that were delivered, the oldest go first', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    const { rows } = KEPT.delivered
    for (let from = 0; from < rows + 300; from += 100) await world.put(...keysOf(from, from + 100))
    await world.settle()
    t.match(await world.hook('a'), { delivered: rows + 300 })
    const firsts = await settledDeliveries(world.world.store.reader, await world.hook('a'), 'delivered', 1)
    await trim(world)
    t.match(await world.hook('a'), { delivered: rows })
    const left = await settledDeliveries(world.world.store.reader, await world.hook('a'), 'delivered', 1)
    t.ok((left[0]?.settledAt ?? 0) >= (firsts[0]?.settledAt ?? Infinity))
    world.isJobRunner = false
    world.later(2 * KEPT.delivered.ms)
    await trim(world)
    t.match(await world.hook('a'), { delivered: rows }, 'only on duty')
  })

  t.test('forgets what was delivered a week ago, and what died a month ago; what waits stays', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    await world.put('good')
    await world.settle()
    world.answer = async () => failure(500)
    await world.put('bad')
    for (let waiting = await world.due('a'); waiting !== undefined; waiting = await world.due('a')) {
      world.later(Math.max(0, waiting.dueAt - world.now))
      await world.settle()
    }
    await world.put('later')
    t.match(await world.hook('a'), { delivered: 1, dead: 1, pending: 1, stop: { kind: 'suspended' } })
    world.later(6 * DAY - 80 * 3_600_000)
    await trim(world)
    t.match(await world.hook('a'), { delivered: 1, dead: 1 })
    world.later(4 * DAY)
    await trim(world)
    t.match(await world.hook('a'), { delivered: 0, dead: 1 })
    world.later(30 * DAY)
    await trim(world)
    t.match(await world.hook('a'), { delivered: 0, dead: 0, pending: 1 })
  })

  t.test('takes away everything that a removed hook left, step by step', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'), requested('b'))
    await world.put(...keysOf(0, 20))
    await world.settle()
    for (let from = 0; from < 600; from += 100) await world.put(...keysOf(from, from + 100))
    await world.world.do(setNotifications([requested('b')]))
    await trim(world)
    const hooks = (await world.world.store.reader.page(eventRanges.hooks(), { limit: 10 })).items
    t.match(
      hooks.map(({ id, pending, delivered }) => [id, pending, delivered]),
      [['b', 600, 20]],
    )
    t.match(outboxTotal(world.world.store.reader), { pending: 600, delivered: 20 })
  })
})
