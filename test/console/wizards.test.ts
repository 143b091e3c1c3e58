/**
 * Members are changed in the console, in a real browser, each change to its end by clicks, while programs write and read: a fourth node joins,
 * a node is demoted and removed, a dead one is replaced, the lead is handed over, copies are moved with pause and cancel.
 *
 * Rule: no call of a program fails, and every acknowledged write is read back at the end.
 */
import t, { type Test } from 'tap'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import { isAccessible, loadAxe, refused } from '../helpers/console-page.ts'
import { walks } from '../helpers/console-walk.ts'
import { membershipAt, placed, QUICK_MEMBERS, untilAllowed } from '../helpers/member-steps.ts'
import { runLine } from '../helpers/printed-line.ts'
import { ProcessCluster, sha256 } from '../helpers/process-cluster.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { SteadyLoad } from '../helpers/steady-load.ts'

/** The console is opened here, so this one stays. */
const HOME = 'n1'
const WRITES_BETWEEN = 6
const READERS = 8

/** A plan, allowed or not. */
const PLAN = /What will happen|What stands in the way/
const ENDED = /Succeeded|Finished\./

/** Starts a spare, and waits until a plan that names it could be done. */
async function starts(
  cluster: ProcessCluster,
  nodeId: string,
  path: string,
  more: object = {},
): Promise<void> {
  cluster.startJoining(nodeId)
  const newcomer = { nodeId, peerAddress: cluster.node(nodeId).peerAddress }
  const body = path === '/cluster/voters' ? newcomer : { replacement: newcomer }
  await untilAllowed(cluster, HOME, { path, body: { ...body, ...more, reason: 'Test' } })
}

async function readBack(t: Test, cluster: ProcessCluster, at: string, written: ReadonlyMap<string, string>) {
  const wrong: string[] = []
  await cluster.login(at)
  const left = written.entries()
  const reader = async (): Promise<void> => {
    for (const [key, digest] of left) {
      const { status, body } = await cluster.call(at, 'GET', `/buckets/papers/objects/${key}`)
      if (status !== 200 || sha256(body) !== digest) wrong.push(`${key}: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  t.same(wrong, [], `${at} has all ${written.size} that were acknowledged`)
}

t.test('members are changed in Chromium while programs write and read', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3, QUICK_MEMBERS, { spares: 2 })
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: changes of members in the console. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  await cluster.login(HOME)
  t.equal((await cluster.call(HOME, 'POST', '/buckets', '{"name":"papers"}')).status, 201)
  const load = new SteadyLoad(cluster, 'papers')
  load.start()
  t.teardown(() => load.stop())
  const driver = await ConsoleDriver.open(browser, cluster.node(HOME).adminUrl)
  await loadAxe(driver)
  await driver.logIn(cluster.setup.ownerToken)
  const peerOf = (nodeId: string): string => cluster.node(nodeId).peerAddress
  const loadGoesOn = async (t: Test): Promise<void> => {
    await load.goesOn(WRITES_BETWEEN)
    t.strictSame(load.failures, [], 'no call failed')
  }

  await t.test('a fourth node joins', async (t) => {
    await driver.go('cluster')
    await starts(cluster, 'n4', '/cluster/voters')
    await walks(t, driver, { of: 'take in a fourth node', clicksMax: 4 }, async () => {
      const fields = { 'Name of the node': 'n4', 'Peer address': peerOf('n4'), Reason: 'More room' }
      await driver.plans('Join a node', fields, PLAN)
      await driver.sees('It has no certificate')
      await driver.does(ENDED)
    })
    cluster.hasJoined('n4')
    await driver.sees('n4')
    await loadGoesOn(t)
  })

  await t.test('the lead is handed over', async (t) => {
    const next = (await cluster.leader()) === 'n4' ? HOME : 'n4'
    await walks(t, driver, { of: 'hand over the lead', clicksMax: 4 }, async () => {
      const fields = { 'New leader': next, Reason: 'Maintenance' }
      await driver.plans('Transfer leadership', fields, `${next} becomes the leader`)
      await driver.does(ENDED)
    })
    await until(`${next} leads`, async () => (await cluster.leader()) === next)
    await loadGoesOn(t)
  })

  await t.test('copies are moved, and that is paused, continued and ended', async (t) => {
    await driver.go('operations')
    const fields = { Tenant: 'demo', Bucket: 'nothing', Reason: 'Even disks' }
    await driver.plans('Rebalance', fields, 'bucket "nothing" does not exist')
    await driver.fill('Bucket', 'papers')
    await driver.fill('MiB per second at most', '0.001')
    await driver.click('Show the plan')
    await driver.sees('Every copy is compared with its place')
    await driver.click('Do it')
    const pause = await driver.lineOf('Pause: rebalance')
    t.match(pause, /^curl -fsS -X POST [^\n]*\/operations\/[^\n]*pause'$/)
    await runLine(pause, cluster.setup.ownerToken)
    await driver.sees('Paused')
    await driver.click('Resume: rebalance')
    await driver.sees('Running')
    await driver.click('Pause: rebalance')
    await driver.sees('Paused')
    await isAccessible(t, driver, 'a paused operation')
    await driver.click('Resume: rebalance')
    await driver.sees('Running')
    await driver.plans('Cancel: rebalance', {}, 'planned copies that are not made yet are cancelled')
    await driver.does('Cancelled')
    await loadGoesOn(t)
  })

  await t.test('a node is demoted, then removed by its next plan', async (t) => {
    await driver.go('cluster')
    await walks(t, driver, { of: 'take a node out', clicksMax: 8 }, async () => {
      await driver.plans('Demote: n3', { Reason: 'It is old' }, PLAN)
      await driver.sees(/\d+ copies \(.*\) are made elsewhere first|No copies need to move/)
      await driver.does(ENDED, 'n3')
      await driver.plans('Remove: n3', { Reason: 'It is empty' }, PLAN)
      await driver.does(ENDED, 'n3')
    })
    cluster.hasLeft('n3')
    await driver.sees('Former members')
    t.equal(placed(await membershipAt(cluster, HOME)), 'n1 active voter, n2 active voter, n4 active voter')
    await cluster.signal('n3', 'SIGTERM')
    await loadGoesOn(t)
  })

  await t.test('walk: why is the cluster degraded', async (t) => {
    await cluster.signal('n2', 'SIGKILL')
    await walks(t, driver, { of: 'why is the cluster degraded', clicksMax: 1 }, async () => {
      await driver.click('Health')
      await driver.sees(
        /Data needs attention now\s+n2 does not answer: one more failure stops writes\..*Replace n2/,
      )
    })
    await isAccessible(t, driver, 'a degraded cluster')
  })

  await t.test('a node that answered lately is not declared lost, and that is said', async () => {
    await driver.go('cluster')
    await driver.plans('Declare lost: n2', { Reason: 'Its machine burned' }, PLAN)
    await driver.sees(/What stands in the way[\s\S]*30 s of silence are needed/)
    await driver.click('Close')
  })

  await t.test('walk: how is a dead node replaced', async (t) => {
    await driver.go('health')
    await starts(cluster, 'n5', '/cluster/voters/n2/replace', { confirm: 'n2' })
    await walks(t, driver, { of: 'replace a dead node', clicksMax: 4 }, async () => {
      const fields = { 'Name of the node': 'n5', 'Peer address': peerOf('n5'), Reason: 'It burned' }
      await driver.plans('Replace n2', fields, PLAN)
      await driver.sees('n5 answers and runs')
      await driver.does(ENDED, 'n2')
    })
    cluster.hasJoined('n5')
    cluster.hasLeft('n2')
    t.equal(placed(await membershipAt(cluster, 'n5')), 'n1 active voter, n4 active voter, n5 active voter')
    await loadGoesOn(t)
  })

  if (PLAYS_WHOLE)
    await t.test('a node that stays silent is declared lost', async (t) => {
      await cluster.signal('n4', 'SIGKILL')
      const body = { reason: 'Test', confirm: 'n4' }
      await untilAllowed(cluster, HOME, { path: '/cluster/voters/n4/lost', body })
      await driver.go('cluster')
      await driver.plans('Declare lost: n4', { Reason: 'Its machine burned too' }, PLAN)
      await driver.does(ENDED, 'n4')
      cluster.hasLeft('n4')
      t.equal(
        placed(await membershipAt(cluster, HOME)).replace('n4 lost none, ', ''),
        'n1 active voter, n5 active voter',
        'it has no vote, and is listed until its copies are made again',
      )
      await loadGoesOn(t)
    })

  await t.test('nothing is lost, and the policy of the page has refused nothing', async (t) => {
    await load.stop()
    t.ok(
      load.acknowledged.size > 0 && load.reads > 0,
      `${load.acknowledged.size} writes, ${load.reads} reads`,
    )
    for (const at of [HOME, 'n5']) await readBack(t, cluster, at, load.acknowledged)
    t.same(await driver.page.run<readonly string[]>(refused), [])
  })
})
