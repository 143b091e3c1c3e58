/**
 * A page of one build and a node of another: what the page says of it, that it continues to work both ways during a rolling upgrade of three
 * nodes, and that no form is lost. No released version before this one has a console, so both builds are of these sources.
 */
import t from 'tap'
import { buildOf, differenceOf } from '../../packages/console/src/judge/build.ts'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import { isAccessible, loadAxe, refused } from '../helpers/console-page.ts'
import { membershipAt } from '../helpers/member-steps.ts'
import { otherBuild } from '../helpers/other-build.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const HOME = 'n1'
const NEWER = '99.0.0'

const html = (version: string, script: string): string =>
  `<meta name="holdfast-version" content="${version}">\n<script type="module" src="${script}"></script>`

t.test('what a page is of is read from it, and nothing else is', async (t) => {
  t.same(buildOf(html('0.3.0', 'console.1.js')), { version: '0.3.0', script: 'console.1.js' })
  t.equal(buildOf('<h1>No console here</h1>'), null)
  t.equal(buildOf(html('<script>', 'console.1.js')), null)
})

t.test('builds are compared by their numbers, then by their bytes', async (t) => {
  const build = (version: string, script = 'a.js') => ({ version, script })
  t.equal(differenceOf(build('0.3.0'), build('0.3.0')), null)
  t.equal(differenceOf(build('0.3.0'), build('0.3.0', 'b.js')), 'other')
  t.equal(differenceOf(build('0.9.0'), build('0.10.0', 'b.js')), 'newer')
  t.equal(differenceOf(build('1.0'), build('0.10.0', 'b.js')), 'older')
  t.equal(differenceOf(build('1.0.0'), build('1.0.0-rc.1', 'b.js')), 'other')
})

t.test('a rolling upgrade while a page is open', { timeout: 900_000 }, async (t) => {
  const present = nodeProgram()
  const newer = otherBuild(t, NEWER)
  const programs = new Map<string, string>()
  const cluster = await ProcessCluster.start(t, 3, null, {
    launch: ({ nodeId, configFile }) => ({
      command: [process.execPath, programs.get(nodeId) ?? present, 'server', '--config', configFile],
    }),
  })
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: a console and a node of two builds. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const becomes = async (nodeId: string, program: string): Promise<void> => {
    await cluster.signal(nodeId, 'SIGTERM')
    programs.set(nodeId, program)
    cluster.startNode(nodeId)
    await until(`${nodeId} serves`, () => cluster.ready(nodeId))
  }
  const driver = await ConsoleDriver.open(browser, cluster.node(HOME).adminUrl)
  await loadAxe(driver)
  await driver.logIn(cluster.setup.ownerToken)
  const fillsTenant = async (id: string): Promise<void> => {
    await driver.go('tenants')
    await driver.click('Create a tenant')
    await driver.fill('Name', `Tenant ${id}`)
    await driver.fill('Id', id)
  }
  const createsTenant = async (id: string): Promise<void> => {
    await driver.click('Show the plan')
    await driver.does(`Tenant ${id} is created.`)
  }

  await t.test('the page says that the node is newer, works with it, and keeps its form', async (t) => {
    await fillsTenant('first')
    await becomes(HOME, newer)
    await driver.sees(`This node runs ${NEWER}, which is newer than this page`)
    await createsTenant('first')
    await driver.go('health')
    await driver.sees(/Members run different versions: .*99\.0\.0/)
    await isAccessible(t, driver, 'a newer node')
  })

  await t.test('a reload shows the console of the node', async (t) => {
    await driver.click('Reload the page')
    // Nothing can be asked of a page that goes.
    const shown = (): Promise<string> => driver.text().catch(() => '')
    await until('the log-in is shown', async () => (await shown()).includes('Admin token'))
    await driver.logIn(cluster.setup.ownerToken)
    await driver.go('tenants')
    await driver.sees('Tenant first')
    t.notMatch(await driver.text(), 'This node runs')
  })

  await t.test('a newer page works with the node that went back', async () => {
    await fillsTenant('second')
    await becomes(HOME, present)
    await driver.sees(`which is older than this page (${NEWER})`)
    await createsTenant('second')
  })

  await t.test('nothing is said any more when all nodes are of the build of the page', async (t) => {
    for (const { nodeId } of cluster.plan) await becomes(nodeId, newer)
    await until('every member reports it', async () => {
      const { members } = await membershipAt(cluster, HOME)
      return members.every((member) => 'version' in member && member.version === NEWER)
    })
    await until('the notice is gone', async () => !(await driver.text()).includes('This node runs'))
    await fillsTenant('third')
    await createsTenant('third')
    await driver.go('health')
    await driver.sees('At a glance')
    await until('no version is found to differ', async () => {
      await driver.go('cluster')
      await driver.sees('Address')
      await driver.go('health')
      await driver.sees('At a glance')
      return !(await driver.text()).includes('different versions')
    })
    t.same(await driver.page.run<readonly string[]>(refused), [])
  })
})
