/**
 * The log-in of people over HTTP: from the button to a session, what a session may do, and who may not use one.
 */
import t from 'tap'
import { FORMER_SECRET_MS } from '../../src/state-machine/tenants/records.ts'
import { CLIENT } from '../helpers/oidc-server.ts'
import { ApiWorld, type Ask } from './api-world.ts'
import {
  asked,
  later,
  LOG_IN,
  loggedIn,
  MINUTE_MS,
  OWN_PAGE,
  post,
  SESSION,
  session,
  start,
  TENANTS,
  wayBack,
} from './log-in-world.ts'

t.test('a log-in', async (t) => {
  await t.test('gives a session with the role of the group, whose person the audit log names', async (t) => {
    const it = await start(t)
    const browser = await loggedIn(it)
    t.match(await asked(browser), {
      status: 200,
      json: {
        name: 'alice',
        role: 'owner',
        tenantId: null,
        user: { subject: 'u-alice', issuer: it.server.issuer },
      },
    })
    const made = await browser.call({
      method: 'POST',
      path: TENANTS,
      headers: OWN_PAGE,
      body: { id: 'acme', name: 'A' },
    })
    t.equal(made.status, 201)
    const { json } = await asked(browser, '/admin/api/v1/audit?session=alice')
    const rows = json['records'] as readonly {
      readonly operation: string
      readonly actor: object
      readonly details: object
    }[]
    t.match(
      rows.find(({ operation }) => operation === 'createTenant'),
      { actor: { type: 'adminToken', id: /^ses_/, role: 'owner', session: 'alice' } },
    )
    t.match(
      rows.find(({ operation }) => operation === 'finishLogIn'),
      { actor: { session: 'alice' }, details: { name: 'alice', role: 'owner', subject: 'u-alice' } },
    )
  })

  await t.test(
    'leaves two cookies that no script reads, and neither a token nor a code anywhere else',
    async (t) => {
      const it = await start(t, { consoleUrl: 'https://console.example' })
      const browser = it.open()
      const path = await wayBack(browser)
      t.match(
        browser.set.get('__Host-holdfast-log-in'),
        /; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=600$/,
      )
      const back = await browser.call({ path })
      t.match(
        browser.set.get('__Host-holdfast-session'),
        /^__Host-holdfast-session=svcses_[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=28800$/,
      )
      t.notOk(browser.cookies.has('__Host-holdfast-log-in'), 'what was pending is forgotten')
      t.match(back.headers, {
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        location: '/console/',
      })
      t.equal(back.bytes.length, 0)
      const said = JSON.stringify([it.world.memory.lines, it.world.memory.auditRows])
      for (const secret of [session(browser), CLIENT.secret, /code=\w+/, /svclog_/]) t.notMatch(said, secret)
      t.notMatch(JSON.stringify((await asked(browser)).json), session(browser))
    },
  )

  await t.test('over plain HTTP on this machine its cookies are not Secure', async (t) => {
    const browser = await loggedIn(await start(t))
    t.match(browser.set.get('holdfast-session'), /; HttpOnly; SameSite=Strict/)
    t.notMatch(browser.set.get('holdfast-session'), /Secure/)
  })

  await t.test('is refused without a group that has a role, and without a tenant that exists', async (t) => {
    const it = await start(t)
    it.server.person = { sub: 'u-eve', preferred_username: '<eve>', groups: ['others'] }
    const browser = it.open()
    const denied = await browser.call({ path: await wayBack(browser) })
    t.equal(denied.status, 403)
    t.match(
      denied.bytes.toString(),
      /No group of &#39;&#60;eve&#62;&#39;|No group of '&#60;eve&#62;' has a role/,
    )
    t.equal(session(browser), '')
    it.server.person = { sub: 'u-op', groups: ['acme-ops'] }
    t.equal((await browser.call({ path: await wayBack(browser) })).status, 400)
    await it.world.memory.tenant('acme')
    const operator = await loggedIn(it)
    t.match((await asked(operator)).json, { role: 'operator', tenantId: 'acme', mayMakeKeys: false })
    t.equal((await asked(operator, `${TENANTS}/other`)).status, 403)
  })

  await t.test(
    'ends at a hostile provider with a page, and asks it nothing without a browser that began',
    async (t) => {
      const it = await start(t)
      const browser = it.open()
      const path = await wayBack(browser)
      it.server.twistClaims = (claims) => ({ ...claims, nonce: 'other' })
      const failed = await browser.call({ path })
      t.match(failed, { status: 401, headers: { 'content-type': /text\/html/ } })
      t.equal(session(browser), '')
      const line = it.world.memory.lines.find(({ level }) => level === 'warn')
      t.match(line, { fields: { err: { message: /nonce/ } } }, 'the log says why')
      t.match(it.world.memory.auditRows.at(-1), { operation: 'finishLogIn', code: 'invalid_credentials' })
      it.server.twistClaims = (claims) => claims
      const before = it.server.asked.length
      const other = it.open()
      t.equal((await other.call({ path: await wayBack(browser) })).status, 400, 'another browser')
      t.equal(it.server.asked.filter((one) => one === '/token').length, 1)
      t.ok(it.server.asked.length > before)
      const late = await wayBack(browser)
      later(it, 11 * MINUTE_MS)
      t.equal((await browser.call({ path: late })).status, 400, 'after ten minutes')
    },
  )
})

t.test('a cluster with older members opens no session, and says what it waits for', async (t) => {
  const it = await start(t)
  it.world.memory.featureLevel = 6
  const browser = it.open()
  const early = await browser.call({ path: await wayBack(browser) })
  t.equal(early.status, 400)
  t.match(early.bytes.toString(), /feature level 7/)
  t.equal(session(browser), '')
})

t.test('a session', async (t) => {
  await t.test('is no token in a header, and a token is no session', async (t) => {
    const it = await start(t)
    const browser = await loggedIn(it)
    const bearer = await it.world.call({ admin: true, path: SESSION, token: session(browser) })
    t.match(bearer, { status: 401, code: 'token_invalid' })
    const token = await it.world.memory.adminToken('owner')
    const cookie = await it.world.send({
      admin: true,
      path: SESSION,
      headers: { ...OWN_PAGE, cookie: `holdfast-session=${token}` },
    })
    t.equal(cookie.status, 401)
    const wins = await browser.call({ path: SESSION, token })
    t.match(wins.json, { user: null }, 'a header wins')
    t.equal(
      (
        await it.world.send({
          path: '/api/v1/buckets',
          headers: { ...OWN_PAGE, cookie: `holdfast-session=${session(browser)}` },
        })
      ).status,
      401,
    )
  })

  await t.test('is used by pages of the console alone, for reads too', async (t) => {
    const it = await start(t)
    const browser = await loggedIn(it)
    const before = it.world.memory.checksum()
    const foreign: readonly NonNullable<Ask['headers']>[] = [
      {},
      { 'x-holdfast-console': '0' },
      { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' },
      { ...OWN_PAGE, 'sec-fetch-site': 'same-site' },
      { ...OWN_PAGE, origin: 'https://evil.example' },
      { ...OWN_PAGE, origin: 'null' },
      { 'x-holdfast-console': '1', origin: 'http://127.0.0.1:2' },
    ]
    for (const headers of foreign) {
      const what = JSON.stringify(headers)
      t.match(await browser.call({ path: SESSION, headers }), { status: 403, code: 'access_denied' }, what)
      const change = { method: 'POST', path: TENANTS, headers, body: { id: 'evil', name: 'x' } }
      t.match(await browser.call(change), { status: 403 }, what)
      for (const step of ['renew', 'end']) t.equal((await post(browser, step, headers)).status, 403, what)
    }
    t.equal(it.world.memory.checksum(), before, 'nothing has changed')
    for (const origin of ['http://127.0.0.1:1', `http://127.0.0.1:${it.world.adminPort}`])
      t.equal((await asked(browser, SESSION, { origin })).status, 200, origin)
    const preflight = await browser.call({
      method: 'OPTIONS',
      path: TENANTS,
      headers: { origin: 'https://evil.example', 'access-control-request-headers': 'x-holdfast-console' },
    })
    t.equal(preflight.headers['access-control-allow-origin'], undefined)
  })

  await t.test('ends after idle time, and not while it is renewed, and in any case at its end', async (t) => {
    const it = await start(t)
    const idle = await loggedIn(it)
    const used = await loggedIn(it)
    const first = session(used)
    for (let minutes = 20; minutes < 8 * 60; minutes += 20) {
      later(it, 20 * MINUTE_MS)
      t.equal((await post(used, 'renew')).status, 200)
    }
    t.not(session(used), first, 'the secret is another one')
    t.match(await asked(idle), { status: 401, code: 'token_expired' })
    t.equal((await asked(used)).status, 200)
    later(it, 21 * MINUTE_MS)
    t.match(await asked(used), { status: 401 })
  })

  await t.test('has one secret, and for a moment the one before, for requests in flight', async (t) => {
    const it = await start(t)
    const browser = await loggedIn(it)
    const twin = it.open()
    for (const [name, value] of browser.cookies) twin.cookies.set(name, value)
    await post(browser, 'renew')
    t.equal((await asked(twin)).status, 200)
    const again = await post(twin, 'renew')
    t.match(
      again,
      { status: 200, headers: { 'set-cookie': undefined } },
      'a second page gets no third secret',
    )
    later(it, FORMER_SECRET_MS + MINUTE_MS)
    t.match(await asked(twin), { status: 401, code: 'token_invalid' })
    t.equal((await asked(browser)).status, 200)
  })

  await t.test(
    'continues at the provider after a log-out where that is set, and never instead of it',
    async (t) => {
      const it = await start(t, { logsOutAtProvider: true })
      const [a, b, c] = [await loggedIn(it), await loggedIn(it), await loggedIn(it)]
      const ended = await post(a, 'end')
      t.equal(ended.status, 200)
      t.equal(session(a), '', 'the cookie goes')
      const location = new URL(String(ended.json['location']))
      t.equal(location.origin + location.pathname, `${it.server.issuer}/end-session`)
      t.same(
        [...location.searchParams.keys()],
        ['client_id', 'post_logout_redirect_uri'],
        'there is no token in it',
      )
      const { status, headers } = await fetch(location, { redirect: 'manual' })
      t.equal(status, 303)
      t.match(headers.get('location'), /\/console\/$/)
      it.server.twistDocument = (document) => ({ ...document, end_session_endpoint: 'http://id.example/end' })
      later(it, 11 * MINUTE_MS)
      t.equal((await post(b, 'end')).status, 204, 'not to where anyone can read along')
      t.equal((await asked(b)).status, 401)
      it.server.twistDocument = (document) => ({ ...document, end_session_endpoint: undefined })
      later(it, 11 * MINUTE_MS)
      t.equal((await post(c, 'end')).status, 204, 'not where the provider names no place')
      t.equal((await asked(c)).status, 401)
      t.equal((await post(c, 'end')).status, 204, 'and not without a session')
    },
  )

  await t.test('ends by a log-out, here or everywhere, and by its id', async (t) => {
    const it = await start(t)
    const [a, b, c] = [await loggedIn(it), await loggedIn(it), await loggedIn(it)]
    it.server.person = { sub: 'u-bob', groups: ['storage-admins'] }
    const bob = await loggedIn(it)
    const stolen = session(a)
    t.equal((await post(a, 'end')).status, 204)
    t.equal(session(a), '', 'the cookie goes')
    a.cookies.set('holdfast-session', stolen)
    t.equal((await asked(a)).status, 401)
    t.equal((await asked(b)).status, 200)
    t.equal((await post(b, 'end?everywhere=true')).status, 204)
    t.equal((await asked(c)).status, 401)
    t.equal((await asked(bob)).status, 200)
    t.equal((await post(c, 'end')).status, 204, 'a log-out of what has ended forgets the cookie')
    t.equal(session(c), '')
    t.notOk(it.server.asked.includes('/end-session'))
    const { tokenId } = (await asked(bob)).json
    await it.world.memory.change({ type: 'revokeAdminToken', tokenId: String(tokenId) })
    t.match(await asked(bob), { status: 401, code: 'token_invalid' })
  })

  await t.test('does what its role allows and nothing else', async (t) => {
    const it = await start(t)
    it.server.person = { sub: 'u-vi', groups: ['watchers'] }
    const viewer = await loggedIn(it)
    t.equal((await asked(viewer, TENANTS)).status, 200)
    const change = { method: 'POST', path: TENANTS, headers: OWN_PAGE, body: { id: 'acme', name: 'A' } }
    t.match(await viewer.call(change), { status: 403, code: 'access_denied' })
  })
})

t.test('what the page offers', async (t) => {
  const it = await start(t)
  const browser = it.open()
  t.match((await browser.call({ path: `${LOG_IN}/options` })).json, {
    provider: { name: 'Test SSO' },
    hasSession: false,
  })
  const used = await loggedIn(it)
  t.match((await used.call({ path: `${LOG_IN}/options` })).json, { hasSession: true })
  const without = await ApiWorld.start(t)
  const options = await without.send({ admin: true, path: `${LOG_IN}/options` })
  t.match(options.json, { provider: null, hasSession: false })
  for (const path of [LOG_IN, `${LOG_IN}/callback`])
    t.equal((await without.send({ admin: true, path })).status, 401, 'like every path that does not exist')
  const token = await without.memory.adminToken('owner')
  t.equal((await without.send({ admin: true, path: LOG_IN, token })).status, 404)
})
