/**
 * The notification configs of a bucket, as clients see them. [decisions 9]
 */
import t from 'tap'
import { eventKeys, eventRanges } from '../../src/state-machine/events/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { type Config, EVENTS, HOOK, HookClient, PATH } from './hook-client.ts'

t.test(
  'an unset configuration reads as an empty list [notifications.get] [notifications.get.unset]',
  async (t) => {
    const hooks = await HookClient.start(t)
    t.match(await hooks.get(), { status: 200 })
    t.same((await hooks.get()).json, { configs: [] })
    t.match(await hooks.films.ask({ path: PATH.replace('films', 'absent') }), {
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
  const [hook] = (await services.state.page(eventRanges.hooks(), { limit: 10 })).items
  t.ok((hook?.secret.length ?? 0) > secret.length)
  t.notOk(Buffer.from(hook?.secret ?? []).includes(secret))
  t.notMatch(JSON.stringify(lines), /whsec/)
})

t.test(
  'an empty list and DELETE clear; the bucket shows it [notifications.clear] [notifications.delete] [notifications.has]',
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
    t.equal((await hooks.clear()).status, 204, 'clearing an empty configuration is no error')
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
  '400 invalid_request for every undocumented form, and nothing is set [notifications.invalid]',
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
      [{ ...HOOK, prefx: 'in/' }, /"configs.0.prefx" is unknown; did you mean "prefix"/],
      [{ ...HOOK, hasSecret: true }, /"configs.0.hasSecret" is unknown, known are id, kind, url/],
      [{ events: EVENTS }, /"configs.0.url" is missing/],
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
    t.notMatch(String(secretly.json['message']), /pass|abc/, 'a possible secret is not repeated')
    t.match(await hooks.set({ id: 'a', ...HOOK }, { id: 'a', ...HOOK }), {
      status: 400,
      json: { message: /id "a" is given to two configs/ },
    })
    t.same(await hooks.configs(), [])
  },
)

t.test('at most 100 configs [notifications.limit]', async (t) => {
  const hooks = await HookClient.start(t)
  const many = Array.from({ length: 101 }, (_, n) => ({
    id: `h${n}`,
    ...HOOK,
    url: `https://h${n}.example/`,
  }))
  t.match(await hooks.set(...many), { status: 400, json: { message: /at most 100/ } })
  t.equal((await hooks.set(...many.slice(1))).status, 200)
  t.equal((await hooks.configs()).length, 100)
})

t.test(
  'a change names its caller, and a change that a key may not see is not shown [notifications.scope]',
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

t.test(
  'a key that may not write in the whole bucket sees the origin of a target and not its path or query [notifications.target-hidden]',
  async (t) => {
    const hooks = await HookClient.start(t)
    const { memory } = hooks.films.world
    const secret = 'https://hooks.example:8443/services/T0/B1/s3cret?token=abc'
    await hooks.set({ id: 'a', ...HOOK, url: secret })
    const seen = async (scopes: string) => {
      const caller = hooks.films.as({ token: await memory.bearer('acme', scopes) })
      const { status, json } = await caller.ask({ path: PATH })
      t.equal(status, 200, scopes)
      const [config] = json['configs'] as readonly Config[]
      return config?.['url']
    }
    const over = (verb: string, prefix = '') => `op=${verb}:bucket=films:prefix=${prefix}`
    for (const scopes of [over('read'), over('read', 'in/'), `${over('read')},${over('write', 'in/')}`])
      t.equal(await seen(scopes), 'https://hooks.example:8443', scopes)
    for (const scopes of [`${over('read', 'in/')},${over('write')}`, 'read,write'])
      t.equal(await seen(scopes), secret, scopes)
  },
)

t.test(
  'a key that may write and not read gets no events of what others write [notifications.rights]',
  async (t) => {
    const hooks = await HookClient.start(t)
    const { memory } = hooks.films.world
    const blind = hooks.films.as({ token: await memory.bearer('acme', 'op=write:bucket=films:prefix=') })
    const spy = { configs: [{ id: 'spy', ...HOOK }] }
    t.match(await blind.ask({ method: 'PUT', path: PATH, body: spy }), { status: 403, code: 'access_denied' })
    await hooks.set({ id: 'a', ...HOOK })
    t.match(await blind.ask({ method: 'DELETE', path: PATH }), { status: 403, code: 'access_denied' })
    await hooks.films.put('payroll/2026.txt')
    t.equal((await hooks.outbox()).length, 1, 'only the config of the owner has an event')
  },
)

t.test('deleteBucket removes the configs', async (t) => {
  const hooks = await HookClient.start(t)
  await hooks.set({ id: 'a', ...HOOK })
  const id = hooks.view.get(bucketKeys.bucket('acme', 'films'))?.id ?? ''
  t.equal((await hooks.films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })).status, 204)
  t.equal(hooks.view.get(eventKeys.notifications(id)), undefined)
  t.same((await hooks.films.world.memory.services.state.page(eventRanges.hooks(), { limit: 10 })).items, [])
})
