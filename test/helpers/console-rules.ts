/**
 * Steps of the console test on the rules of a bucket: lifecycle, replication, webhooks, CORS, and on those of the replication of a tenant, each set
 * in the page and seen through the API.
 */
import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { until } from './async.ts'
import type { ConsoleDriver } from './console-driver.ts'
import { fitsScreens, isAccessible } from './console-page.ts'
import type { ProcessCluster } from './process-cluster.ts'
import { DOOR_OFFSET } from './replicated-side.ts'
import { TcpDoor } from './tcp-door.ts'

interface RulesWorld {
  readonly cluster: ProcessCluster
  readonly driver: ConsoleDriver
  readonly nodeId: string
  /** Leads to its data listener, by a port that targets may have. */
  readonly doorUrl: string
}

const BUCKET = 'ruled'

/** A key of a client, as headers. */
function customerKey(): Record<string, string> {
  const key = Buffer.alloc(32, 7)
  return {
    'x-service-customer-algorithm': 'AES256',
    'x-service-customer-key': key.toString('base64'),
    'x-service-customer-key-md5': createHash('md5').update(key).digest('base64'),
  }
}

/** JSON of the data API, or null where there is nothing. */
async function json<T>({ cluster, nodeId }: RulesWorld, path: string): Promise<T | null> {
  const { status, body } = await cluster.call(nodeId, 'GET', `/buckets/${BUCKET}${path}`)
  return status === 200 ? (JSON.parse(body.toString()) as T) : null
}

export async function rulesOfABucket(t: Test, cluster: ProcessCluster, driver: ConsoleDriver): Promise<void> {
  const [first] = cluster.plan
  if (first === undefined) throw new Error('there is no node')
  const { nodeId, dataUrl } = first
  const world = { cluster, driver, nodeId, doorUrl: await openDoor(t, dataUrl) }
  await cluster.login(nodeId)
  for (const name of [BUCKET, 'copies'])
    await cluster.call(nodeId, 'POST', '/buckets', JSON.stringify({ name, versioning: 'Enabled' }))
  for (let n = 0; n < 3; n++)
    await cluster.call(nodeId, 'PUT', `/buckets/${BUCKET}/objects/logs/${n}`, Buffer.from('0123456789'))
  await cluster.ask(nodeId, {
    method: 'PUT',
    path: `/buckets/${BUCKET}/objects/sealed`,
    body: Buffer.from('0123456789'),
    headers: customerKey(),
  })
  await driver.go(`objects/${BUCKET}`)
  await driver.sees('SSE-C')
  await driver.click('sealed')
  await driver.sees('Sealed with a key of the client')
  await isAccessible(t, driver, 'an object with a key of the client')
  await driver.click('Close')
  await driver.click('Rules')
  await t.test('a lifecycle rule shows what it would delete before it is saved', (t) => lifecycle(t, world))
  await t.test('a replication is set, shows its state, and is ended', (t) => replication(t, world))
  await t.test('a webhook is added, tested, delivered again and removed', (t) => webhooks(t, world))
  await t.test('a CORS rule is added, changed and removed', (t) => cors(t, world))
}

interface Lifecycle {
  readonly rules: readonly { readonly id: string; readonly status: string }[]
}

async function lifecycle(t: Test, world: RulesWorld): Promise<void> {
  const { driver } = world
  await driver.sees('No rule: nothing is deleted automatically.')
  const fields = {
    'Name of the rule': 'old-logs',
    'Object key begins with': 'logs/',
    'Objects expire': 'days',
    Days: 'many',
  }
  await driver.plans('Add a rule', fields, '"many" is not a whole number')
  await driver.fill('Objects expire', 'date')
  await driver.fill('Date', '2020-01-01')
  await isAccessible(t, driver, 'the editor of a rule')
  await driver.click('Show the plan')
  await driver.sees('Objects that get a delete marker')
  await driver.sees('logs/2')
  t.equal(await json(world, '/lifecycle'), null, 'a plan sets nothing')
  await driver.click('As curl')
  await driver.sees(/curl -fsS -X PUT -H "Authorization: Bearer \$TOKEN"[^\n]*"old-logs"[^\n]*\/lifecycle'/)
  await driver.click('Back')
  await driver.fill('Date', '2100-01-01')
  await driver.click('Show the plan')
  await driver.sees('Nothing is due now.')
  await driver.does('Saved.')
  await driver.sees('Objects expire on 2100-01-01.')
  await fitsScreens(t, driver, 'lifecycle rules')
  await driver.plans('Disable: old-logs')
  await driver.does('1 rule is left.')
  await driver.sees('Disabled')
  const set = await json<Lifecycle>(world, '/lifecycle')
  t.match(set, { rules: [{ id: 'old-logs', status: 'Disabled' }] })
  await driver.plans('Remove: old-logs')
  await driver.does('0 rules are left.')
  t.equal(await json(world, '/lifecycle'), null)
}

async function replication(t: Test, world: RulesWorld): Promise<void> {
  const { driver, cluster, nodeId } = world
  const { accessKeyId, secretKey } = cluster.setup
  await driver.click('Replication')
  await driver.sees('This bucket is not replicated.')
  await driver.click('Set up')
  await driver.fill('Address of the store', world.doorUrl)
  await driver.fill('Bucket there', 'nowhere')
  await driver.fill('Access key id there', accessKeyId ?? '')
  await driver.fill('Secret key there', secretKey ?? '')
  await driver.click('As curl')
  await driver.sees('"secretKey":"SECRETKEY"')
  await isAccessible(t, driver, 'a target')
  await driver.click('Save')
  await driver.sees('create the bucket')
  await driver.fill('Bucket there', 'copies')
  await driver.click('Save')
  await driver.sees('The target has answered')
  await driver.click('Close')
  await until('the objects are there', async () => {
    await driver.click('Refresh')
    const { status } = await cluster.call(nodeId, 'GET', '/buckets/copies/objects/logs/2')
    return status === 200 && /Everything that is acknowledged here is there/.test(await driver.text())
  })
  await fitsScreens(t, driver, 'a replication')
  await driver.click('Compare')
  await driver.sees('Lists both sites')
  await driver.click('Compare')
  await driver.sees('not sent: only its client has the key')
  await driver.click('Close')
  await driver.click('Test the target')
  await driver.sees('saves the same replication again')
  await driver.click('Test the target')
  await driver.sees('accepts the key')
  await driver.click('Close')
  await driver.click('Pause')
  await driver.sees('Disables every rule')
  await driver.click('Pause')
  await driver.sees('Paused: no rule is enabled.')
  await driver.click('Close')
  await driver.click('Resume')
  await driver.sees('Enables every rule')
  await driver.click('Resume')
  await driver.sees('The target has answered')
  await driver.click('Close')
  await driver.sees('all objects; delete markers are sent')
  await removesRules(t, world)
  await driver.plans('End the replication', {}, /\d+ changes \([^)]+\) wait and are dropped/)
  await driver.does('The replication is ended.', BUCKET)
  t.equal(await json(world, '/replication'), null)
}

interface Replication {
  readonly target: object
  readonly rules: readonly { readonly id: string }[]
}

async function removesRules(t: Test, world: RulesWorld): Promise<void> {
  const { driver, cluster, nodeId } = world
  const rulesSet = async (): Promise<readonly string[]> =>
    ((await json<Replication>(world, '/replication'))?.rules ?? []).map(({ id }) => id)
  const [all = ''] = await rulesSet()
  await driver.click('Add a rule')
  await driver.fill('Name of the rule', 'only-logs')
  await driver.fill('Object key begins with', 'logs/')
  await driver.fill('Status', 'no')
  await driver.click('Save')
  await driver.sees('The target has answered')
  await driver.click('Close')
  await driver.sees('objects whose key begins with logs/')
  await driver.plans(`Remove: ${all}`, {}, 'No enabled rule is left')
  t.same(await rulesSet(), [all, 'only-logs'], 'a plan sets nothing')
  await isAccessible(t, driver, 'a plan without a rule')
  await driver.does('The target has answered')
  t.same(await rulesSet(), ['only-logs'])
  const { target } = (await json<Replication>(world, '/replication')) ?? { target: {} }
  await driver.sees('Paused: no rule is enabled.')
  const other = JSON.stringify({
    target,
    rules: [{ id: 'other', filter: { prefix: 'other/' } }, { id: 'only-logs' }],
  })
  const { status, body } = await cluster.call(nodeId, 'PUT', `/buckets/${BUCKET}/replication`, other)
  t.equal(status, 200, body.toString())
  await driver.plans('Remove: only-logs', {}, 'The rules have changed')
  await driver.click('Close')
  await driver.sees('begins with other/')
  await driver.plans('Remove: other')
  await driver.does('The target has answered')
  await until('it is not shown', async () => !(await driver.text()).includes('begins with other/'))
  await driver.plans('Remove: only-logs', {}, 'No rule is left: all objects are sent then')
  await driver.does('The target has answered')
  t.same(await rulesSet(), ['everything'])
  await driver.sees('all objects; delete markers are sent')
}

/** Of the tenant `demo`, whose screen is shown. */
export async function rulesOfATenant(t: Test, cluster: ProcessCluster, driver: ConsoleDriver): Promise<void> {
  const [first] = cluster.plan
  if (first === undefined) throw new Error('there is no node')
  const { nodeId } = first
  const rulesSet = async (): Promise<readonly string[] | null> => {
    const path = '/tenants/demo/replication'
    const { status, body } = await cluster.admin(nodeId, { method: 'GET', path })
    return status === 200 ? (JSON.parse(body.toString()) as Replication).rules.map(({ id }) => id) : null
  }
  const target = {
    'Address of the store': await openDoor(t, first.dataUrl),
    'Names of buckets there begin with': 'nowhere-',
    'Access key id there': cluster.setup.accessKeyId ?? '',
    'Secret key there': cluster.setup.secretKey ?? '',
    'Buckets that are not there': 'no',
  }
  await driver.plans('Set up', target, 'follow it')
  await driver.does('The target has answered')
  await driver.sees('all objects; delete markers are sent')
  await driver.plans('Edit: everything', { Status: 'no' }, 'follow it')
  await driver.does('The target has answered')
  await driver.sees('(Disabled)')
  for (const id of ['letters', 'logs']) {
    const rule = { 'Name of the rule': id, 'Object key begins with': `${id}/` }
    await driver.plans('Add a rule', rule, 'follow it')
    await driver.does('The target has answered')
    await driver.sees(`objects whose key begins with ${id}/`)
  }
  await driver.plans('Remove: everything', {}, 'Rules that are left')
  await driver.does('The target has answered')
  await until('it is not shown', async () => !(await driver.text()).includes('(Disabled)'))
  await driver.plans('Edit: logs', { Status: 'no' }, 'follow it')
  await driver.does('The target has answered')
  await driver.sees('(Disabled)')
  await driver.plans('Remove: letters', {}, 'No enabled rule is left')
  await isAccessible(t, driver, 'a plan of a tenant without a rule')
  t.same(await rulesSet(), ['letters', 'logs'], 'a plan sets nothing')
  await driver.does('The target has answered')
  t.same(await rulesSet(), ['logs'])
  await until('it is not shown', async () => !(await driver.text()).includes('begins with letters/'))
  await fitsScreens(t, driver, 'a replication of a tenant')
  await driver.plans('Remove: logs', {}, 'No rule is left: all objects are sent then')
  await driver.does('The target has answered')
  await driver.plans('End the replication', {}, 'follow it')
  t.notOk(await driver.isEnabled('Do it'))
  await driver.does('The replication is ended.', 'demo')
  t.equal(await rulesSet(), null)
}

/** To a data listener, at a port that targets may have. */
async function openDoor(t: Test, dataUrl: string): Promise<string> {
  const port = Number(new URL(dataUrl).port)
  await TcpDoor.open(t, port + DOOR_OFFSET, port)
  return `http://127.0.0.1:${port + DOOR_OFFSET}`
}

interface Webhooks {
  readonly configs: readonly { readonly id: string; readonly signingSecret?: string }[]
}

interface Deliveries {
  readonly deliveries: readonly { readonly deliveryId: string; readonly attempts: number }[]
}

async function webhooks(t: Test, world: RulesWorld): Promise<void> {
  const { driver, doorUrl } = world
  await driver.click('Webhooks')
  await driver.sees('No webhook')
  await driver.click('Add a webhook')
  await driver.fill('Address', `${doorUrl}/api/v1/healthz`)
  await driver.fill('Id', 'first')
  await isAccessible(t, driver, 'a webhook')
  await driver.click('Save')
  await driver.sees('Copy the secret now')
  await driver.click('Close')
  await driver.sees('When objects are stored, removed')
  await driver.click('Send a test: first')
  await driver.sees('Sends one event')
  await driver.click('Send a test')
  await until('the test is listed', async () => {
    await driver.click('Refresh')
    return /status 4\d\d/.test(await driver.text())
  })
  const sent = await json<Deliveries>(world, '/notifications/deliveries')
  const deliveryId = sent?.deliveries[0]?.deliveryId ?? ''
  await driver.click(`Deliver again: first ${deliveryId}`)
  await until('it is tried once more', async () => {
    const now = await json<Deliveries>(world, '/notifications/deliveries')
    return (now?.deliveries[0]?.attempts ?? 0) > (sent?.deliveries[0]?.attempts ?? 0)
  })
  await fitsScreens(t, driver, 'webhooks')
  await driver.click('Remove: first')
  await driver.fill('Type first to confirm', 'first')
  await driver.click('Remove')
  await driver.sees('No webhook')
  t.match(await json<Webhooks>(world, '/notifications'), { configs: [] })
}

async function cors(t: Test, world: RulesWorld): Promise<void> {
  const { driver } = world
  await driver.click('CORS')
  await driver.sees('No rule: pages of other origins')
  await driver.click('Add a rule')
  await driver.fill('Origins', 'https://app.example, https://other.example')
  await driver.click('Save')
  await driver.sees('GET, HEAD')
  await fitsScreens(t, driver, 'CORS rules')
  await driver.click('Edit: rule 1')
  await driver.fill('Name of the rule', 'pages')
  await driver.click('Save')
  await until('the rule is changed', async () => {
    const set = await json<{ readonly rules: readonly object[] }>(world, '/cors')
    return JSON.stringify(set?.rules[0]).includes('"id":"pages"')
  })
  await driver.click('Remove: pages')
  await driver.sees('Pages that need it')
  await driver.click('Remove')
  await driver.sees('No rule: pages of other origins')
  t.equal(await json(world, '/cors'), null)
}
