/**
 * The log of deliveries, and its queries. [decisions 9]
 */
import t from 'tap'
import { type Config, HOOK, HookClient, PATH } from './hook-client.ts'
import { outboxTotal } from '../../src/state-machine/events/hooks.ts'

t.test(
  'the log of deliveries: newest first, by config and status, in pages [notifications.deliveries]',
  async (t) => {
    const hooks = await HookClient.start(t)
    await hooks.set({ id: 'a', ...HOOK }, { id: 'b', ...HOOK, prefix: 'in/' })
    for (const key of ['1', 'in/2', '3']) await hooks.films.put(key)
    const shown = async (query = '') => {
      const deliveries = (await hooks.log(query)).json['deliveries'] as readonly Config[]
      return deliveries.map(({ configId, key, status }) => [configId, key, status].join(' '))
    }
    const all = await shown()
    t.same(all.length, 4)
    t.equal(all[0], 'a 3 pending')
    t.equal(all.at(-1), 'a 1 pending')
    t.same(await shown('?configId=b'), ['b in/2 pending'])
    t.same(await shown('?configId=absent'), [])
    const [newest] = await hooks.outbox()
    if (newest !== undefined) await hooks.tell(newest, 204)
    t.same(await shown('?status=delivered'), ['a 3 delivered'])
    const page = await hooks.log('?maxDeliveries=3')
    t.match(page.json, { isTruncated: true, deliveries: { length: 3 } })
    const token = String(page.json['nextContinuationToken'])
    const rest = await hooks.log(`?maxDeliveries=3&continuationToken=${token}`)
    t.match(rest.json, { isTruncated: false, deliveries: [{ key: '1' }] })
    t.match(await hooks.log(`?configId=a&continuationToken=${token}`), {
      status: 400,
      code: 'invalid_continuation_token',
    })
    t.match(await hooks.log('?status=lost'), { status: 400, code: 'invalid_argument' })
    t.strictSame(
      ((await hooks.log('?status=delivered')).json['deliveries'] as Config[])[0]?.['lastAttempt'] !== null,
      true,
    )
  },
)

t.test('one page of the log reads a bounded number of rows', async (t) => {
  const hooks = await HookClient.start(t)
  const many = Array.from({ length: 99 }, (_, n) => ({ id: `h${n}`, ...HOOK }))
  await hooks.set({ id: 'rare', ...HOOK, suffix: 'rare' }, ...many)
  for (const key of ['rare', ...Array.from({ length: 11 }, (_, n) => `k${n}`)]) await hooks.films.put(key)
  const page = await hooks.log('?configId=rare')
  t.match(page.json, { isTruncated: true, deliveries: [] })
  const rest = await hooks.log(
    `?configId=rare&continuationToken=${String(page.json['nextContinuationToken'])}`,
  )
  t.match(rest.json, { isTruncated: false, deliveries: [{ key: 'rare' }] })
})

t.test(
  'redeliver and test answer 202 and put a delivery into the queue [notifications.redeliver] [notifications.test]',
  async (t) => {
    const hooks = await HookClient.start(t)
    await hooks.set({ id: 'a.b-c', ...HOOK })
    const tested = await hooks.post('a.b-c:test')
    t.match(tested, { status: 202, json: { type: 'test', configId: 'a.b-c', key: null, status: 'pending' } })
    const [delivery] = await hooks.outbox()
    if (delivery === undefined) return
    await hooks.tell(delivery, 500)
    await hooks.tell({ ...delivery, attempts: 1 }, 204)
    const id = String(tested.json['deliveryId'])
    t.match(id, /^evt_[0-9A-Z]{26}-[A-Z2-7]{16}$/)
    t.match(((await hooks.log()).json['deliveries'] as Config[])[0], {
      deliveryId: id,
      status: 'delivered',
      attempts: 2,
      nextAttemptAt: null,
      lastAttempt: { status: 204, error: null, durationMs: 5 },
    })
    t.match(await hooks.post(`deliveries/${id}:redeliver`), {
      status: 202,
      json: { deliveryId: id, status: 'pending', attempts: 0 },
    })
    for (const wrong of ['evt_1-2', id.toLowerCase(), `evt_${'0'.repeat(26)}-${'A'.repeat(16)}`])
      t.match(await hooks.post(`deliveries/${wrong}:redeliver`), { status: 404, code: 'not_found' }, wrong)
    t.match(await hooks.post('absent:test'), { status: 404, code: 'not_found' })
    t.match(await hooks.films.ask({ path: `${PATH}/a.b-c:test` }), {
      status: 405,
      headers: { allow: 'POST' },
    })
    t.match(await hooks.post('a.b-c'), { status: 404 })
  },
)

t.test(
  'a suspended or stopped config is shown as such, and PUT with enabled resumes it [notifications.resume]',
  async (t) => {
    const hooks = await HookClient.start(t)
    await hooks.set({ id: 'a', ...HOOK })
    await hooks.films.put('k')
    const [delivery] = await hooks.outbox()
    if (delivery !== undefined) await hooks.tell(delivery, 410)
    t.match(await hooks.configs(), [
      { enabled: false, suspended: false, suspensionReason: /410/, pendingCount: 1 },
    ])
    t.match(await hooks.post('a:test'), {
      status: 409,
      code: 'invalid_bucket_state',
      json: { message: /"enabled": true/ },
    })
    t.match((await hooks.set({ id: 'a', ...HOOK })).json['configs'], [
      { enabled: true, suspensionReason: '' },
    ])
    t.equal((await hooks.post('a:test')).status, 202)
  },
)

t.test('a batch delete for many configs is split, and each config is notified of each key', async (t) => {
  const hooks = await HookClient.start(t)
  const many = Array.from({ length: 100 }, (_, n) => ({ id: `h${n}`, ...HOOK, events: ['object-removed'] }))
  await hooks.set(...many)
  const keys = Array.from({ length: 50 }, (_, n) => `k${n}`)
  for (const key of keys) await hooks.films.put(key)
  const { memory } = hooks.films.world
  const before = memory.proposals
  const answer = await hooks.films.batchDelete({ objects: keys.map((key) => ({ key })) })
  t.match(answer.json, { deletedCount: 50, errorCount: 0 })
  t.equal(memory.proposals - before, 2, 'an entry makes some thousand rows at most')
  t.match(outboxTotal(memory.services.state), { pending: 5000 })
})
