/**
 * The configs of a bucket and the log of deliveries, as clients see them. [decisions 9]
 */
import t from 'tap'
import { keys } from '../../src/state-machine/keys.ts'
import type { DeliveryRecord } from '../../src/state-machine/records.ts'
import { BucketClient } from './bucket-client.ts'

const PATH = '/api/v1/buckets/films/notifications'
const EVENTS = ['object-created', 'object-removed']
const HOOK = { url: 'https://app.example/hook', events: EVENTS }

type Config = Record<string, unknown>

class HookClient {
  readonly films: BucketClient

  constructor(films: BucketClient) {
    this.films = films
  }

  static async start(...args: Parameters<typeof BucketClient.start>): Promise<HookClient> {
    return new HookClient(await BucketClient.start(...args))
  }

  get() {
    return this.films.ask({ path: PATH })
  }

  set(...configs: readonly object[]) {
    return this.films.ask({ method: 'PUT', path: PATH, body: { configs } })
  }

  clear() {
    return this.films.ask({ method: 'DELETE', path: PATH })
  }

  async configs(): Promise<readonly Config[]> {
    return (await this.get()).json['configs'] as readonly Config[]
  }

  log(query = '') {
    return this.films.ask({ path: `${PATH}/deliveries${query}` })
  }

  post(what: string) {
    return this.films.ask({ method: 'POST', path: `${PATH}/${what}` })
  }

  get view() {
    return this.films.world.memory.services.state.view
  }

  /** The outbox of the bucket, newest first. */
  async outbox(): Promise<readonly DeliveryRecord[]> {
    const { state } = this.films.world.memory.services
    const id = state.bucket('acme', 'films')?.id ?? ''
    return (await state.outbox.deliveries(id, '', 1000)).items
  }

  /** As a deliverer would tell it. */
  async tell(delivery: DeliveryRecord, status: number): Promise<void> {
    const { services } = this.films.world.memory
    const bucketId = services.state.bucket('acme', 'films')?.id ?? ''
    const { hookId, eventId, attempts } = delivery
    const verdict = status < 300 ? 'taken' : status === 410 ? 'gone' : 'failed'
    const error = status < 300 ? null : `status ${status}`
    const about = { bucketId, hookId, eventId, attempts, verdict, status, error } as const
    const result = { ...about, durationMs: 5, retryAfterMs: null, jitter: 0 }
    await services.propose({ type: 'recordAttempts', results: [result] })
  }
}

t.test(
  'an unset configuration reads as an empty list [notifications.get] [notifications.get.unset]',
  async (t) => {
    const hooks = await HookClient.start(t)
    t.match(await hooks.get(), { status: 200 })
    t.same((await hooks.get()).json, { configs: [] })
    t.match(await hooks.films.ask({ path: PATH.replace('films', 'nobody') }), {
      status: 404,
      code: 'not_found',
    })
  },
)

t.test(
  'a new config has every default, and its secret once [notifications.set] [notifications.secret.once] [notifications.defaults] [notifications.secret.kept]',
  async (t) => {
    const hooks = await HookClient.start(t)
    const made = await hooks.set({ id: 'thumbs', ...HOOK })
    t.equal(made.status, 200)
    t.equal(made.headers['cache-control'], 'no-store')
    const [config] = made.json['configs'] as readonly Config[]
    const { signingSecret, createdAt, updatedAt, ...rest } = config ?? {}
    t.match(signingSecret, /^whsec_[A-Za-z0-9+/]{32}$/)
    t.equal(createdAt, updatedAt)
    t.strictSame(rest, {
      id: 'thumbs',
      kind: 'webhook',
      ...HOOK,
      prefix: '',
      suffix: '',
      enabled: true,
      payloadFormat: 'native',
      suspended: false,
      suspensionReason: '',
      pendingCount: 0,
      deadCount: 0,
      droppedCount: 0,
      droppedAt: null,
    })
    const [read] = await hooks.configs()
    t.strictSame(read, { ...rest, hasSecret: true, createdAt, updatedAt })
    const changed = await hooks.set({
      id: 'thumbs',
      ...HOOK,
      prefix: 'in/',
      payloadFormat: 's3',
      enabled: false,
    })
    t.match(changed.json['configs'], [
      { id: 'thumbs', hasSecret: true, prefix: 'in/', payloadFormat: 's3', enabled: false, createdAt },
    ])
    t.notMatch(JSON.stringify(changed.json), /whsec/)
    const both = await hooks.set({ id: 'thumbs', ...HOOK }, HOOK)
    const [kept, second] = both.json['configs'] as readonly Config[]
    t.match(kept, { id: 'thumbs', hasSecret: true })
    t.match(
      second,
      { id: /^cfg-[0-9a-f]{16}$/, signingSecret: /^whsec_/ },
      'an id is made when none is given',
    )
  },
)

t.test('the secret is sealed at rest, and in no log line [notifications.secret.sealed]', async (t) => {
  const hooks = await HookClient.start(t)
  const made = await hooks.set({ id: 'a', ...HOOK })
  const [config] = made.json['configs'] as readonly Config[]
  const secret = Buffer.from(String(config?.['signingSecret']).slice('whsec_'.length), 'base64')
  const { services, lines } = hooks.films.world.memory
  const [hook] = (await services.state.outbox.hooks('', 10)).items
  t.ok((hook?.secret.length ?? 0) > secret.length)
  t.notOk(Buffer.from(hook?.secret ?? []).includes(secret))
  t.notMatch(JSON.stringify(lines), /whsec/)
})

t.test(
  'an empty list and DELETE clear; the bucket tells [notifications.clear] [notifications.delete] [notifications.has]',
  async (t) => {
    const hooks = await HookClient.start(t)
    const has = async () =>
      (await hooks.films.ask({ path: '/api/v1/buckets/films' })).json['hasNotifications']
    t.equal(await has(), false)
    for (const [clear, status] of [
      [() => hooks.set(), 200],
      [() => hooks.clear(), 204],
    ] as const) {
      await hooks.set({ id: 'a', ...HOOK })
      t.equal(await has(), true)
      t.equal((await clear()).status, status)
      t.same((await hooks.get()).json, { configs: [] })
      t.equal(await has(), false)
    }
    t.equal((await hooks.clear()).status, 204, 'clearing what is clear is no error')
    t.match(
      (await hooks.set({ id: 'a', ...HOOK })).json['configs'],
      [{ signingSecret: /^whsec_/ }],
      'the id is new again',
    )
  },
)

t.test(
  '501 unsupported_target for sns, sqs, lambda and ARNs [notifications.unsupported] [errors.unsupported_target]',
  async (t) => {
    const hooks = await HookClient.start(t)
    const arn = 'arn:aws:sqs:eu-west-1:123456789012:queue'
    for (const other of [{ kind: 'sns' }, { kind: 'SQS', url: arn }, { kind: 'lambda' }, { url: arn }])
      t.match(await hooks.set({ ...HOOK, ...other }), { status: 501, code: 'unsupported_target' })
    t.match(await hooks.set({ ...HOOK, kind: 'webhook' }), { status: 200 })
  },
)

t.test(
  '400 invalid_event_type for none and for an unknown one [notifications.event-types] [errors.invalid_event_type]',
  async (t) => {
    const hooks = await HookClient.start(t)
    for (const events of [[], ['object-created', 'object-updated'], ['s3:ObjectCreated:*'], ['']])
      t.match(await hooks.set({ ...HOOK, events }), { status: 400, code: 'invalid_event_type' })
    const all = ['object-lock-changed', 'object-tagged', 'object-removed', 'object-created', 'object-created']
    t.match((await hooks.set({ ...HOOK, events: all })).json['configs'], [
      { events: ['object-created', 'object-removed', 'object-tagged', 'object-lock-changed'] },
    ])
  },
)

t.test(
  '400 invalid_request for whatever is not as documented, and nothing is set [notifications.invalid]',
  async (t) => {
    const hooks = await HookClient.start(t)
    const url = (text: string) => ({ ...HOOK, url: text })
    const table: readonly (readonly [object, RegExp])[] = [
      [{ ...HOOK, kind: 'carrier-pigeon' }, /kind "carrier-pigeon" is unknown/],
      [{ ...HOOK, id: '' }, /id ""/],
      [{ ...HOOK, id: 'a/b' }, /id "a\/b"/],
      [{ ...HOOK, id: 'a:test' }, /letters, digits/],
      [{ ...HOOK, id: 'x'.repeat(65) }, /1 to 64/],
      [{ ...HOOK, prefix: 'é'.repeat(513) }, /prefix has more than 1024 bytes/],
      [{ ...HOOK, suffix: 'x'.repeat(1025) }, /suffix has more/],
      [{ ...HOOK, payloadFormat: 'xml' }, /payloadFormat "xml" is none of native, s3/],
      [{ ...HOOK, prefx: 'in/' }, /"prefx" is unknown; did you mean "prefix"/],
      [{ ...HOOK, hasSecret: true }, /"hasSecret" is unknown, known are id, kind, url/],
      [{ events: EVENTS }, /"url" is missing/],
      [{ ...HOOK, enabled: 'yes' }, /enabled/],
      [url('app.example/hook'), /give one such as https/],
      [url('ftp://app.example/hook'), /give one such as https/],
      [url('https://'), /give one such as https/],
      [url('https://user:pass@app.example/'), /credentials/],
      [url('https://app.example/#part'), /fragment/],
      [url(`https://app.example/${'x'.repeat(2048)}`), /more than 2048 characters/],
    ]
    for (const [config, message] of table)
      t.match(await hooks.set(config), { status: 400, code: 'invalid_request', json: { message } })
    const secretly = await hooks.set(url('https://user:pass@app.example/?token=abc#part'))
    t.notMatch(String(secretly.json['message']), /pass|abc/, 'what may be a secret is not repeated')
    t.match(await hooks.set({ id: 'a', ...HOOK }, { id: 'a', ...HOOK }), {
      status: 400,
      json: { message: /id "a" is given to two configs/ },
    })
    t.same(await hooks.configs(), [])
  },
)

t.test('at most 100 configs [notifications.limit]', async (t) => {
  const hooks = await HookClient.start(t)
  const many = Array.from({ length: 101 }, (_, n) => ({ id: `h${n}`, ...HOOK }))
  t.match(await hooks.set(...many), { status: 400, json: { message: /at most 100/ } })
  t.equal((await hooks.set(...many.slice(1))).status, 200)
  t.equal((await hooks.configs()).length, 100)
})

t.test(
  'http, and addresses that are not public, only as the operator allows [notifications.http] [notifications.address]',
  async (t) => {
    const http = { ...HOOK, url: 'http://app.example/hook' }
    const strict = await HookClient.start(t)
    t.match(await strict.set(http), { status: 400, json: { message: /notifications\.allow_http/ } })
    const inside = [
      'https://127.0.0.1/',
      'https://10.1.2.3/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/latest',
    ]
    for (const url of inside)
      t.match(await strict.set({ ...HOOK, url }), {
        status: 400,
        json: { message: /notifications\.allow_origins/ },
      })
    const notifications = { allowHttp: true, allowOrigins: ['https://10.1.2.3'] }
    const lax = await HookClient.start(t, {}, { notifications })
    t.equal((await lax.set(http)).status, 200)
    t.equal((await lax.set({ ...HOOK, url: 'https://10.1.2.3/a?b' })).status, 200)
    t.equal(
      (await lax.set({ ...HOOK, url: 'https://10.1.2.3:8443/' })).status,
      400,
      'another port is another origin',
    )
  },
)

t.test(
  'a change carries who asked for it, and one a key has no right to see is not shown [notifications.scope]',
  async (t) => {
    const hooks = await HookClient.start(t)
    await hooks.set({ id: 'a', ...HOOK })
    const { headers } = await hooks.films.put('k')
    const [delivery] = await hooks.outbox()
    t.match(delivery, {
      requestId: headers['x-request-id'],
      sourceIp: '127.0.0.1',
      actor: { type: 'accessKey' },
    })
    const { memory } = hooks.films.world
    const narrow = hooks.films.as({ token: await memory.bearer('acme', 'op=read:bucket=films:prefix=in/') })
    t.equal((await narrow.ask({ path: PATH })).status, 200)
    t.match(await narrow.ask({ path: `${PATH}/deliveries` }), { status: 403, code: 'access_denied' })
    const narrowWriter = hooks.films.as({
      token: await memory.bearer('acme', 'op=write:bucket=films:prefix=in/'),
    })
    t.match(await narrowWriter.ask({ method: 'PUT', path: PATH, body: { configs: [] } }), { status: 403 })
    t.match(await narrowWriter.ask({ method: 'DELETE', path: PATH }), { status: 403 })
    await memory.tenant('rival')
    const rival = hooks.films.as({ token: await memory.bearer('rival') })
    for (const path of [PATH, `${PATH}/deliveries`]) t.match(await rival.ask({ path }), { status: 404 })
  },
)

t.test('deleteBucket takes the configs along', async (t) => {
  const hooks = await HookClient.start(t)
  await hooks.set({ id: 'a', ...HOOK })
  const id = hooks.view.get(keys.bucket('acme', 'films'))?.id ?? ''
  t.equal((await hooks.films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })).status, 204)
  t.equal(hooks.view.get(keys.notifications(id)), undefined)
  t.same((await hooks.films.world.memory.services.state.outbox.hooks('', 10)).items, [])
})

t.test(
  'the log of deliveries: newest first, by config and status, in pages [notifications.deliveries]',
  async (t) => {
    const hooks = await HookClient.start(t)
    await hooks.set({ id: 'a', ...HOOK }, { id: 'b', ...HOOK, prefix: 'in/' })
    for (const key of ['1', 'in/2', '3']) await hooks.films.put(key)
    const shown = async (query = '') => {
      const deliveries = (await hooks.log(query)).json['deliveries'] as readonly Config[]
      return deliveries.map(({ configId, key, status }) => `${configId} ${key} ${status}`)
    }
    const all = await shown()
    t.same(all.length, 4)
    t.equal(all[0], 'a 3 pending')
    t.equal(all.at(-1), 'a 1 pending')
    t.same(await shown('?configId=b'), ['b in/2 pending'])
    t.same(await shown('?configId=nobody'), [])
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

t.test('the log is bounded in what one page looks at', async (t) => {
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
    t.match(await hooks.post('nobody:test'), { status: 404, code: 'not_found' })
    t.match(await hooks.films.ask({ path: `${PATH}/a.b-c:test` }), {
      status: 405,
      headers: { allow: 'POST' },
    })
    t.match(await hooks.post('a.b-c'), { status: 404 })
  },
)

t.test(
  'a config that was suspended or stopped says so, and PUT with enabled resumes it [notifications.resume]',
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
