/**
 * Receivers that behave badly in every way, each of its own, beside a good one: real sockets, real rows.
 */
import t from 'tap'
import type { DeliveryRecord } from '../../../src/state-machine/events/records.ts'
import type { Delivering } from '../../../src/workers/webhooks/delivering.ts'
import { WebhookSender } from '../../../src/workers/webhooks/webhook-sender.ts'
import { deferred, until } from '../../helpers/async.ts'
import { setNotifications, requested } from '../../state-machine/hook-commands.ts'
import { OutboxWorld } from './outbox-world.ts'
import { openTo } from './open-origins.ts'
import { answer, rawReceiver, Receiver } from './receiver.ts'
import { eventRanges } from '../../../src/state-machine/events/keys.ts'

const KEYS = Array.from({ length: 10 }, (_, n) => `k${n}`)

async function lastOf(world: OutboxWorld, id: string): Promise<DeliveryRecord | undefined> {
  const { hookId, bucketId } = await world.hook(id)
  const { items } = await world.world.store.reader.page(eventRanges.deliveries(bucketId), { limit: 1000 })
  return items.filter((delivery) => delivery.hookId === hookId && delivery.lastAttempt !== null).at(-1)
}

async function round(delivering: Delivering): Promise<void> {
  while (await delivering.round());
}

t.test(
  'others get theirs, the log says what happened, and redelivery works [notifications.isolation]',
  async (t) => {
    const good = await Receiver.start(t)
    const release = deferred()
    const slow = await Receiver.start(
      t,
      (response) => void release.promise.then(() => response.writeHead(200).end()),
    )
    const turning = await Receiver.start(t, answer(307, { location: good.url }))
    const gone = await Receiver.start(t, answer(410))
    const liar = await rawReceiver(t, (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 500 No\r\ncontent-length: 9999\r\n\r\nless')),
    )
    const endless = await rawReceiver(t, (socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n')
        const more = (): void =>
          void (socket.destroyed || socket.write('5\r\nhello\r\n', () => setImmediate(more)))
        more()
      }),
    )
    const resetting = await rawReceiver(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
    const down = await Receiver.start({ teardown: () => undefined })
    await down.stop()
    const urls = {
      slow: slow.url,
      down: down.url,
      turning: turning.url,
      gone: gone.url,
      liar,
      endless,
      resetting,
      inside: `http://inside.example:${good.port}/hook`,
      good: good.url,
    }
    const sender = new WebhookSender({
      resolve: async () => ['127.0.0.1'],
      allowOrigins: Object.values(urls)
        .map((url) => new URL(url).origin)
        .filter((origin) => !origin.includes('inside'))
        .map(openTo()),
      now: Date.now,
      timeoutMs: 60_000,
    })
    t.teardown(() => sender.close())
    const world = await OutboxWorld.start(t)
    const delivering = world.another({ sender })
    t.teardown(() => delivering.close())
    await world.world.do(setNotifications(Object.entries(urls).map(([id, url]) => requested(id, { url }))))
    await world.put(...KEYS)

    await until('the good one has everything', async () => {
      await round(delivering)
      return good.received.length === KEYS.length
    })
    t.match(await world.hook('slow'), { delivered: 0, failures: 0 }, 'nothing that is slow was waited for')
    t.match(
      good.received.map(({ body }) => (JSON.parse(body) as { data: { key: string } }).data.key).toSorted(),
      KEYS,
      'and no request was redirected here',
    )
    const table = {
      down: [null, /^connection refused$/],
      turning: [307, /^status 307: redirects are not followed$/],
      gone: [410, /^status 410$/],
      liar: [500, /^status 500$/],
      endless: [500, /^status 500$/],
      resetting: [null, /^connection (reset|closed before an answer came)$/],
      inside: [null, /^the name does not exist or leads to an address that is not public$/],
    } as const
    for (const [id, [status, error]] of Object.entries(table)) {
      await until(`${id} was tried`, async () => {
        await round(delivering)
        return (await lastOf(world, id)) !== undefined
      })
      t.match(await lastOf(world, id), { status: 'pending', lastAttempt: { status, error } }, id)
    }
    t.match((await world.hook('gone')).stop, { kind: 'gone' })
    t.match(await world.hook('slow'), { delivered: 0, pending: KEYS.length })

    turning.manner = answer(204)
    const failed = await lastOf(world, 'turning')
    if (failed === undefined) return
    const { hookId, eventId } = failed
    await world.world.do({ type: 'redeliver', tenantId: 'acme', bucket: 'photos', hookId, eventId })
    world.later(10)
    release.resolve()
    await until('what was asked for again and what was slow has arrived', async () => {
      await round(delivering)
      return (await world.hook('turning')).delivered > 0 && (await world.hook('slow')).pending === 0
    })
    t.equal(slow.received.length, KEYS.length)
  },
)
