/**
 * People who log in to the console at an identity provider, in a real browser: the way back ends at another node than it began, every node serves the
 * session, no page of another origin can use it, and a log-out everywhere ends it everywhere.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import { fitsScreens, loadAxe, refused, traces } from '../helpers/console-page.ts'
import { CLIENT, OidcServer } from '../helpers/oidc-server.ts'
import { ProcessCluster, serverCommand } from '../helpers/process-cluster.ts'

const PORTS_OF_A_NODE = 10

/** The node after this one, as the local cluster gives ports. */
function nextUrl(adminUrl: string): string {
  const url = new URL(adminUrl)
  url.port = String(Number(url.port) + PORTS_OF_A_NODE)
  return url.origin
}

/** Runs in the page. */
const address = (): string =>
  (globalThis as { readonly location?: { readonly href: string } }).location?.href ?? ''

/** Runs in a page of another origin: what its requests to the console come to. */
async function attack(root: string): Promise<readonly string[]> {
  const outcomes: string[] = []
  for (const init of [
    { headers: { 'x-holdfast-console': '1' } },
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-holdfast-console': '1' },
      body: '{}',
    },
    { method: 'POST', mode: 'no-cors', body: '{"id":"evil","name":"x"}' },
  ] as const)
    for (const path of ['/admin/api/v1/tenants', '/console/log-in/end?everywhere=true'])
      outcomes.push(
        await fetch(root + path, { ...init, credentials: 'include' }).then(
          ({ type, status }) => `${type} ${status}`,
          () => 'blocked',
        ),
      )
  return outcomes
}

t.test('a log-in at a provider, in Chromium', { timeout: 300_000 }, async (t) => {
  const provider = await OidcServer.start(t, 'ES256')
  const settings = `
console:
  oidc:
    issuer: ${provider.issuer}
    name: Test SSO
    client_id: ${CLIENT.id}
    log_out_at_provider: true
    rules: [{group: storage-admins, role: owner}, {group: watchers, role: viewer}]
`
  provider.isPublic = true
  const cluster = await ProcessCluster.start(t, 2, settings, {
    launch: (node) => ({
      command: serverCommand(node),
      env: node.nodeId === 'n1' ? { HOLDFAST_CONSOLE__URL: nextUrl(node.adminUrl) } : {},
    }),
  })
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: the log-in in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const [n1, n2] = cluster.plan
  if (n1 === undefined || n2 === undefined) throw new Error('there are two nodes')
  const here = await ConsoleDriver.open(browser, n1.adminUrl, 'Log in with Test SSO')

  await t.test('begins at one node and ends at another', async (t) => {
    await loadAxe(here)
    await fitsScreens(t, here, 'the log-in')
    await here.click('Log in with Test SSO')
    await here.sees('alice, owner')
    t.equal(await here.page.run<string>(address), `${n2.adminUrl}/console/`)
    await loadAxe(here)
    await fitsScreens(t, here, 'a session')
  })

  const there = await ConsoleDriver.open(browser, n1.adminUrl, 'alice, owner')

  await t.test('is a cookie that no script reads, and nowhere else', async (t) => {
    const [cookie, ...others] = await here.page.cookies()
    t.match(cookie, { name: 'holdfast-session', httpOnly: true, sameSite: 'Strict' })
    t.same(others, [], 'what was pending is gone')
    for (const driver of [here, there]) {
      const found = await driver.page.run<string>(traces)
      for (const secret of [cookie?.value ?? 'none', 'svcses_', 'code=']) t.notMatch(found, secret)
      t.same(await driver.page.run<readonly string[]>(refused), [])
    }
  })

  await t.test('serves changes at every node, whose rows name the person', async (t) => {
    await there.go('tenants')
    await there.plans('Create a tenant', { Name: 'Acme', Id: 'acme' })
    await there.does('is created.')
    await here.go('tenants')
    await here.sees('Acme')
    const { token } = { token: cluster.setup.ownerToken }
    const answer = await fetch(`${n1.adminUrl}/admin/api/v1/audit?session=alice&operation=createTenant`, {
      headers: { authorization: `Bearer ${token}` },
    })
    t.match(await answer.json(), { records: [{ actor: { session: 'alice', role: 'owner' } }] })
  })

  await t.test('is of no use to a page of another origin', async (t) => {
    const foreign = await browser.open(`${provider.issuer}/keys`)
    const outcomes = await foreign.run<readonly string[]>(attack, n2.adminUrl)
    t.same(outcomes, ['blocked', 'blocked', 'blocked', 'blocked', 'opaque 0', 'opaque 0'])
    await here.go('audit')
    await here.sees('Audit rows')
    await here.go('tenants')
    await here.sees('Acme')
    t.notMatch(await here.text(), /evil/)
  })

  await t.test('ends everywhere at once', async (t) => {
    await there.click('alice, owner')
    await there.sees('Id in the audit log')
    await there.click('Log out everywhere')
    await until('the node has ended it', async () => (await there.page.cookies()).length === 0)
    await here.go('audit')
    await here.click('Search')
    await here.sees('Your session has ended')
    t.same(await here.page.cookies(), [])
  })

  await t.test('shows what the role of the person may see', async (t) => {
    provider.person = { sub: 'u-vi', preferred_username: 'vi', groups: ['watchers'] }
    await here.click('Log in with Test SSO')
    await here.sees('vi, viewer')
    await here.go('tenants')
    await here.sees('Acme')
    t.notOk(await here.isEnabled('Create a tenant'))
    t.notMatch(await here.text(), /^Cluster$/m)
    const before = provider.asked.filter((path) => path === '/end-session').length
    await here.click('Log out')
    await until(
      'the browser was at the provider',
      async () => provider.asked.filter((path) => path === '/end-session').length === before + 1,
    )
    await here.sees('Log in with Test SSO')
    t.equal(await here.page.run<string>(address), `${n2.adminUrl}/console/`, 'and came back')
    t.same(await here.page.cookies(), [])
    t.same(await here.page.run<readonly string[]>(refused), [])
  })

  await t.test('a person without a role learns that, and gets no session', async (t) => {
    provider.person = { sub: 'u-eve', preferred_username: 'eve', groups: [] }
    await here.click('Log in with Test SSO')
    await here.sees("No group of 'eve' has a role here")
    t.same(await here.page.cookies(), [])
    await here.click('Back to the console')
    await here.sees('Admin token')
  })
})
