/**
 * How many configs a tenant may have, and where they may lead. [decisions 9]
 */
import t from 'tap'
import { HOOK, HookClient, PATH } from './hook-client.ts'

/** As a plain text in `notifications.allow_origins`. */
const opened = (origin: string) => ({ origin, tenants: null, paths: null })

t.test(
  'a tenant has so many configs over all its buckets, and so many to one origin, as the settings say [notifications.bounds]',
  async (t) => {
    const limits = { configsPerTenantMax: 6, configsPerOriginMax: 4 }
    const hooks = await HookClient.start(t, {}, { limits })
    const more = { method: 'PUT', path: PATH.replace('films', 'more') }
    await hooks.films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'more' } })
    const setMore = (...configs: object[]) => hooks.films.ask({ ...more, body: { configs } })
    const spellings = [
      'https://app.example/a',
      'https://APP.example:443/b',
      'https://app.example./c',
      HOOK.url,
    ]
    const same = spellings.map((url) => ({ ...HOOK, url }))
    t.equal((await hooks.set(...same)).status, 200)
    const full = { status: 507, code: 'quota_exceeded' }
    t.match(await setMore(HOOK), {
      ...full,
      json: { message: /limits\.notification_configs_per_origin \(4\)/ },
    })
    const elsewhere = (n: number) => ({ ...HOOK, url: `https://h${n}.example/` })
    t.match(await setMore(elsewhere(1), elsewhere(2), elsewhere(3)), {
      ...full,
      json: { message: /would have 7 .*limits\.notification_configs_per_tenant \(6\)/ },
    })
    t.equal((await setMore(elsewhere(1), elsewhere(2))).status, 200)
    const { memory } = hooks.films.world
    const path = '/admin/api/v1/tenants/acme/usage'
    const token = await memory.adminToken('viewer')
    const usage = async () =>
      (await hooks.films.world.call({ admin: true, path, token })).json['notificationConfigs']
    t.equal(await usage(), 6, 'the usage of the tenant shows them')
    await hooks.clear()
    t.equal(await usage(), 2)
    await memory.tenant('rival')
    const rival = hooks.films.as({ token: await memory.bearer('rival') })
    await rival.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'films' } })
    t.equal(
      (await rival.ask({ method: 'PUT', path: PATH, body: { configs: same } })).status,
      200,
      'each has its own',
    )
  },
)

t.test('configs are not counted while an older node may apply the command', async (t) => {
  const hooks = await HookClient.start(t, {}, { limits: { configsPerTenantMax: 1 } })
  hooks.films.world.memory.featureLevel = 3
  t.equal((await hooks.set(HOOK, HOOK)).status, 200)
  hooks.films.world.memory.featureLevel = 4
  t.equal((await hooks.set(HOOK, HOOK, HOOK)).status, 507)
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
    const notifications = { allowHttp: true, allowOrigins: [opened('https://10.1.2.3')] }
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
  'a webhook names an allowed port, or the origin that an operator allows [notifications.ports]',
  async (t) => {
    const url = (port: number) => ({ ...HOOK, url: `https://app.example:${port}/hook` })
    const strict = await HookClient.start(t)
    for (const port of [22, 25, 80, 6379, 8080, 65_535])
      t.match(await strict.set(url(port)), {
        status: 400,
        code: 'invalid_request',
        json: { message: /is not allowed: use 443 or 8443; .*notifications\.allow_ports/ },
      })
    for (const port of [443, 8443]) t.equal((await strict.set(url(port))).status, 200)
    const notifications = { allowPorts: [9000], allowOrigins: [opened('https://app.example:25')] }
    const lax = await HookClient.start(t, {}, { notifications })
    for (const port of [25, 9000]) t.equal((await lax.set(url(port))).status, 200)
    for (const port of [443, 22]) t.equal((await lax.set(url(port))).status, 400)
  },
)

t.test(
  'an origin that is opened for one tenant and path is closed for other tenants and paths [notifications.opened]',
  async (t) => {
    const origin = 'https://10.1.2.3:9443'
    const allowOrigins = [{ origin, tenants: ['acme'], paths: ['/hooks/acme'] }]
    const hooks = await HookClient.start(t, {}, { notifications: { allowOrigins } })
    const to = (path: string) => hooks.set({ ...HOOK, url: `${origin}${path}` })
    for (const path of [
      '/hooks/acme',
      '/hooks/acme?k=v',
      '/hooks/acme/x',
      '/hooks/%61cme/é',
      '/hooks/x/../acme/',
    ])
      t.equal((await to(path)).status, 200, path)
    const beyond = [
      [
        '/',
        '/hooks',
        '/hooks/acme2',
        '/hooks/acm',
        '/HOOKS/acme',
        '/hooks/acme%2F..%2Fother',
        '/x?/hooks/acme',
      ],
      [
        '/hooks/acme/../other',
        '/hooks/acme/%2e%2e/other',
        '/hooks/acme/..%2fother',
        '/hooks/acme/..%5cother',
      ],
      [
        '/hooks/acme/..;/other',
        '/hooks/acme/..;a=b/other',
        '/hooks/acme/%2e%2e%3b/other',
        '/hooks/acme\\..\\other',
      ],
      ['/hooks/acme/%252e%252e/other', '/hooks/acme/%00', '/hooks/acme/%zz'],
    ].flat()
    for (const path of beyond)
      t.match(
        await to(path),
        {
          status: 400,
          json: { message: /path is none that notifications\.allow_origins opens to this tenant/ },
        },
        path,
      )
    t.match(
      await hooks.set({ ...HOOK, url: 'https://10.1.2.3:8443/hooks/acme' }),
      { status: 400, json: { message: /no public address/ } },
      'another origin',
    )
    const { memory } = hooks.films.world
    await memory.tenant('rival')
    const rival = hooks.films.as({ token: await memory.bearer('rival') })
    await rival.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'films' } })
    const body = { configs: [{ ...HOOK, url: `${origin}/hooks/acme` }] }
    const refused = await rival.ask({ method: 'PUT', path: PATH, body })
    t.match(refused, { status: 400, json: { message: /port 9443 is not allowed: use 443 or 8443/ } })
    t.notMatch(String(refused.json['message']), /opens/, 'it does not learn that others may')
  },
)
