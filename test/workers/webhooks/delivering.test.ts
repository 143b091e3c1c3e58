/**
 * What is sent when, in virtual time over a real store: order, repeats, batches, and which node continues after which.
 */
import t from 'tap'
import { Webhook } from 'standardwebhooks'
import { Condition } from '../../../cluster/index.ts'
import { deferred } from '../../helpers/async.ts'
import { setNotifications, requested } from '../../state-machine/hook-commands.ts'
import { remove } from '../../state-machine/map-world.ts'
import { failure, OK, OutboxWorld } from './outbox-world.ts'

const keysOf = (world: OutboxWorld) =>
  world.sent.map(({ post }) => (JSON.parse(post.body) as { data: { key: string } }).data.key)

t.test('Delivering', async (t) => {
  t.test('sends what waits, in the order of the changes, each once, and remembers it', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    await world.put('1', '2')
    await world.put('3')
    await world.settle()
    t.same(keysOf(world), ['1', '2', '3'])
    t.match(await world.hook('a'), { pending: 0, delivered: 3 })
    await world.settle()
    t.equal(world.sent.length, 3)
  })

  t.test('only on duty', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    await world.put('1')
    world.isJobRunner = false
    await world.settle()
    t.equal(world.sent.length, 0)
  })

  t.test(
    'goes through the whole schedule in virtual time, under one id, and stops when it is dead [notifications.webhook-id]',
    async (t) => {
      const world = await OutboxWorld.start(t, requested('a'))
      world.answer = async () => failure(500)
      await world.put('k')
      for (let waiting = await world.due('a'); waiting !== undefined; waiting = await world.due('a')) {
        const isFirst = world.sent.length === 0
        world.later(waiting.dueAt - world.now - (isFirst ? 0 : 1))
        if (!isFirst) await world.delivering.round()
        const before = world.sent.length
        world.later(isFirst ? 0 : 1)
        await world.settle()
        t.equal(world.sent.length, before + 1, 'at that time and not before')
      }
      const waits = world.sent.map(({ at }, n) => Math.round((at - (world.sent[n - 1]?.at ?? at)) / 1000))
      t.same(waits, [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
      t.equal(new Set(world.sent.map(({ id }) => id)).size, 1)
      t.match(await world.hook('a'), { pending: 0, dead: 1, stop: { kind: 'suspended' } })
    },
  )

  t.test('a hook that was asked to be left alone is, until then', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    world.answer = async () => failure(429, 60_000)
    await world.put('1')
    await world.settle()
    world.answer = async () => OK
    await world.put('2')
    await world.settle()
    t.same(keysOf(world), ['1'])
    world.later(60_000)
    await world.settle()
    t.same(keysOf(world).toSorted(), ['1', '1', '2'])
  })

  t.test('results travel together: what arrives while one command is under way is in the next', async (t) => {
    const world = await OutboxWorld.start(t, ...Array.from({ length: 20 }, (_, n) => requested(`h${n}`)))
    const gate = deferred()
    world.answer = async () => {
      await gate.promise
      return OK
    }
    await world.put('k')
    await world.delivering.round()
    t.equal(world.sent.length, 20)
    gate.resolve()
    await world.settle()
    t.ok(world.proposals <= 2, `${world.proposals} commands`)
    for (let n = 0; n < 20; n++) t.match(await world.hook(`h${n}`), { pending: 0, delivered: 1 })
  })

  t.test(
    'a result that cannot be committed is kept until it can, and nothing is sent in its place',
    async (t) => {
      const world = await OutboxWorld.start(t, requested('a'))
      await world.put('k')
      world.proposeFault = new Condition('no_leader', 'there is no leader')
      for (let n = 0; n < 5; n++) await world.settle()
      t.equal(world.sent.length, 1, 'nothing is sent again while its result is kept')
      t.match(await world.hook('a'), { pending: 1, delivered: 0 })
      world.proposeFault = null
      await world.settle()
      t.match(await world.hook('a'), { pending: 0, delivered: 1 })
      t.equal(world.sent.length, 1)
    },
  )

  t.test(
    'a delivery sent without a committed result is sent again by the next job runner, under the same id',
    async (t) => {
      const world = await OutboxWorld.start(t, requested('a'))
      await world.put('k')
      world.proposeFault = new Condition('no_leader', 'there is no leader')
      await world.settle()
      await world.delivering.close()
      world.proposeFault = null
      const next = world.another()
      await world.settle(next)
      t.equal(world.sent.length, 2)
      t.equal(new Set(world.sent.map(({ id }) => id)).size, 1)
      t.match(await world.hook('a'), { pending: 0, delivered: 1 })
    },
  )

  t.test('another node continues where this one stopped', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    const hanging = deferred()
    world.answer = async ({ post }) => {
      if (post.body.includes('"key":"2"')) await hanging.promise
      return OK
    }
    await world.put('1')
    await world.settle()
    await world.put('2', '3')
    await world.delivering.round()
    const gone = world.delivering
    const next = world.another()
    world.answer = async () => OK
    await world.settle(next)
    t.match(await world.hook('a'), { pending: 0, delivered: 3 })
    hanging.resolve()
    await gone.idle()
    t.match(
      await world.hook('a'),
      { pending: 0, delivered: 3 },
      'what the first one still tells counts no second time',
    )
  })

  t.test(
    'one that hangs holds back no other, and has a bound of its own [notifications.isolation]',
    async (t) => {
      const world = await OutboxWorld.start(t, requested('slow'), requested('quick'))
      const hanging = deferred()
      world.answer = async ({ host }) => {
        if (host === 'slow.example') await hanging.promise
        return OK
      }
      await world.put(...Array.from({ length: 30 }, (_, n) => `k${n}`))
      for (let n = 0; n < 20; n++) await world.delivering.round()
      const of = (host: string) => world.sent.filter((sent) => sent.host === host).length
      while (of('quick.example') < 30) await world.delivering.round()
      t.equal(of('slow.example'), 8, 'eight at once and no more')
      hanging.resolve()
      await world.settle()
      t.equal(of('slow.example'), 30)
      t.match(await world.hook('slow'), { pending: 0, delivered: 30 })
    },
  )

  t.test(
    'one that only fails is asked one at a time, and at its former pace when it is well again',
    async (t) => {
      const world = await OutboxWorld.start(t, requested('a'))
      world.answer = async () => failure(500)
      await world.put('1', '2', '3')
      await world.settle()
      t.match(await world.hook('a'), { failures: 3 })
      const hanging = deferred()
      world.answer = async () => {
        await hanging.promise
        return OK
      }
      world.later(10_000)
      for (let n = 0; n < 5; n++) await world.delivering.round()
      t.equal(world.sent.length, 3 + 1)
      hanging.resolve()
      await world.settle()
      t.match(await world.hook('a'), { pending: 0, delivered: 3 })
    },
  )

  t.test(
    'a secret that does not open is a failure of its hook, said in the log, and of no other',
    async (t) => {
      const world = await OutboxWorld.start(t, requested('a'), requested('b'))
      const picky = world.another({ unopened: (await world.hook('a')).hookId })
      t.teardown(() => picky.close())
      await world.put('k')
      await world.settle(picky)
      t.match(await world.hook('a'), { pending: 1, failures: 1 })
      t.match(await world.hook('b'), { pending: 0, delivered: 1 })
      t.match(world.lines.at(-1), { level: 'error', message: 'notification not sent' })
    },
  )

  t.test('of a bucket that is deleted, what it owes is still delivered', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    await world.put('k')
    await world.world.do(remove('k'))
    await world.world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
    world.later(10)
    await world.settle()
    t.same(keysOf(world), ['k', 'k'])
  })

  t.test('of a config that was removed, nothing is', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    await world.put('k')
    await world.world.do(setNotifications([]))
    await world.settle()
    t.same(world.sent, [])
  })

  t.test('figures: attempts by what came of them, rows by status, the oldest that waits', async (t) => {
    const world = await OutboxWorld.start(t, requested('a'))
    const figure = (name: string, label?: string) =>
      world.delivering
        .samples()
        .find(
          (sample) =>
            sample.name.endsWith(name) &&
            (label === undefined || Object.values(sample.labels ?? {}).includes(label)),
        )?.value
    t.equal(figure('oldest_seconds'), 0)
    world.answer = async () => failure(500)
    await world.put('k')
    await world.settle()
    world.later(3000)
    await world.settle()
    t.equal(figure('deliveries_total', 'failed'), 1)
    t.equal(figure('outbox_rows', 'pending'), 1)
    t.ok((figure('oldest_seconds') ?? 0) >= 3)
    world.answer = async () => OK
    world.later(10_000)
    await world.settle()
    t.equal(figure('deliveries_total', 'taken'), 1)
    t.equal(figure('outbox_rows', 'pending'), 0)
    t.equal(figure('outbox_rows', 'delivered'), 1)
    t.equal(figure('oldest_seconds'), 0)
  })
})

t.test(
  'the library of Standard Webhooks verifies what is sent, and nothing that was changed [notifications.signature]',
  async (t) => {
    const secret = Buffer.alloc(24, 7)
    const world = await OutboxWorld.start(t, requested('a', { fresh: { hookId: 'A'.repeat(16), secret } }))
    // The library allows five minutes by the clock of the machine.
    world.now = Date.now()
    await world.put('k')
    await world.settle()
    const [sent] = world.sent
    const body = sent?.post.body ?? ''
    const headers: Record<string, string> = { ...sent?.post.headers }
    const webhook = new Webhook(`whsec_${secret.toString('base64')}`)
    t.same(webhook.verify(body, { ...headers }), JSON.parse(body))
    t.throws(() => webhook.verify(`${body} `, { ...headers }))
    t.throws(() => webhook.verify(body, { ...headers, 'webhook-id': 'evt_other' }))
    t.throws(() =>
      webhook.verify(body, {
        ...headers,
        'webhook-timestamp': `${Number(headers['webhook-timestamp']) + 1}`,
      }),
    )
    t.throws(() =>
      new Webhook(`whsec_${Buffer.alloc(24, 8).toString('base64')}`).verify(body, { ...headers }),
    )
  },
)
