/**
 * The console in a real browser, on real nodes: log-in, every screen at two widths, its policy, its accessibility, where the token is.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import {
  fitsScreens,
  HOSTILE,
  isAccessible,
  loadAxe,
  ranForeign,
  refused,
  SCREENS,
  traces,
} from '../helpers/console-page.ts'
import { rulesOfABucket, rulesOfATenant } from '../helpers/console-rules.ts'
import { weightsOfTwo } from '../helpers/console-weights.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'

/** A configuration. */
interface Written {
  readonly node: object
}

/** An admin token, made as an operator makes one. */
function tokenOf(dataDir: string, role: string): string {
  const words = ['admin-token', 'create', '--name', role, '--role', role, '--data', dataDir, '--json']
  const said = execFileSync(process.execPath, [nodeProgram(), ...words], { encoding: 'utf8' })
  return (JSON.parse(said) as { readonly token: string }).token
}

t.test('the console in Chromium', { timeout: 900_000 }, async (t) => {
  const disks = temporaryFolder(t)
  const cluster = await ProcessCluster.start(t, 1, null, {
    spares: 1,
    beforeStart: async ({ plan: [first] }) => {
      if (first === undefined) return
      const directories = ['d1', 'd2'].map((name) => join(disks, name))
      for (const directory of directories) mkdirSync(directory)
      const { node, ...rest } = parse(readFileSync(first.configFile, 'utf8')) as Written
      const written = { ...rest, node: { ...node, blob_directories: directories } }
      writeFileSync(first.configFile, stringify(written))
    },
  })
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: the console in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const [first] = cluster.plan
  if (first === undefined) throw new Error('there is no node')
  const driver = await ConsoleDriver.open(browser, first.adminUrl)
  await loadAxe(driver)
  const token = cluster.setup.ownerToken

  await t.test('a token that is none, or is wrong, is refused with what to do', async (t) => {
    await driver.fill('Admin token', 'hello')
    await driver.click('Log in')
    await driver.sees('This token is wrong')
    await driver.fill('Admin token', 'two words')
    await driver.click('Log in')
    await driver.sees('This is not an admin token')
    await isAccessible(t, driver, 'the log-in')
  })

  await t.test('one node is shown as what it is: no failure is survived', async () => {
    await driver.logIn(token)
    await driver.sees('The cluster has 1 voter')
    await driver.sees('Data is safe, with something to look at')
  })

  await t.test('what the doctor finds on the node is shown, and an error makes the sentence', async (t) => {
    await driver.sees(/Notice\s+n1: .*d2 and .* are on one file system/)
    chmodSync(first.dataDir, 0o777)
    await driver.go('cluster')
    await driver.sees(/Certificates\s+none/)
    await driver.go('health')
    await driver.sees(/Data needs attention now\s+n1: .* has mode 777: other users can put files into it/)
    await isAccessible(t, driver, 'an error of the doctor')
    chmodSync(first.dataDir, 0o700)
    await driver.go('cluster')
    await driver.go('health')
    await driver.sees('Data is safe, with something to look at')
  })

  for (const [screen, words] of SCREENS)
    await t.test(`${screen} fits small and large screens, in both themes`, async (t) => {
      await driver.go(screen)
      await driver.sees(words)
      await fitsScreens(t, driver, screen)
    })

  await t.test('texts of others are shown as texts', async (t) => {
    await driver.go('tenants')
    await driver.plans('Create a tenant', { Name: HOSTILE, Id: 'hostile' })
    await driver.click('Do it')
    await driver.sees('is created.')
    await isAccessible(t, driver, 'a dialog')
    await driver.click('Close')
    await driver.sees(HOSTILE)
    t.equal(await driver.page.run<unknown>(ranForeign), null)
  })

  await t.test('an access key is made, shown once, and works', async (t) => {
    await driver.go('tenants/hostile')
    await driver.plans('Create an access key')
    await driver.click('Do it')
    await driver.sees('Copy the secret now')
    const [accessKeyId = '', secretKey = ''] = (await driver.text())
      .split('\n')
      .filter((line) => /^(AK[A-Z0-9]{10,}|[\w+/-]{40,})$/.test(line.trim()))
    const proof = JSON.stringify({ accessKeyId, secretKey })
    t.match(await cluster.call(first.nodeId, 'POST', '/auth/token', proof), { status: 200 })
    await driver.click('Close')
    await driver.sees(accessKeyId)
    t.notMatch(await driver.page.run<string>(traces), secretKey)
  })

  await t.test('the data key of a tenant is exchanged by its plan and its name', async (t) => {
    await driver.go('tenants/hostile')
    await driver.sees('Version of the data key')
    await driver.plans('Exchange the key', { Reason: 'Yearly' }, 'are sealed again')
    t.notOk(await driver.isEnabled('Do it'))
    await driver.does('It runs: see Operations.', 'hostile')
  })

  await t.test('a backup is planned, and what stands in its way is said', async (t) => {
    await driver.go('backups')
    const fields = { Target: 'nowhere', Reason: 'Test' }
    await driver.plans('Back up now', fields, /This was not done|What stands in the way/)
    await isAccessible(t, driver, 'a refused plan')
    await driver.click('Close')
  })

  await t.test('the audit log finds who made it, and saves no formula', async (t) => {
    await driver.go('audit')
    await driver.fill('Tenant', 'hostile')
    await driver.fill('Operation, such as deleteObject', 'createTenant')
    await driver.click('Search')
    await until('only this operation is listed', async () => {
      const text = await driver.text()
      return text.includes('createTenant hostile') && !text.includes('queryAuditLog')
    })
    t.match(await driver.text(), /adm_/)
    await driver.click('Saved searches')
    await driver.fill('Save this search as', 'who made it')
    await driver.click('Save')
    await driver.click('Reset')
    await driver.sees('queryAuditLog')
    await driver.click('Search: who made it')
    await until('the saved search is repeated', async () => !(await driver.text()).includes('queryAuditLog'))
    await driver.click('createTenant hostile')
    await driver.sees('Answered with')
    await isAccessible(t, driver, 'a row')
    await driver.click('All rows of this request')
    await until('its request alone is listed', async () => {
      const rows = (await driver.text()).split('Audit rows')[1] ?? ''
      return rows.includes('createTenant') && !rows.includes('queryAuditLog')
    })
    await driver.click('Remove: who made it')
  })

  await t.test('the chain of the audit log is checked to its end', async (t) => {
    await driver.go('audit')
    await driver.click('Verify the chain')
    await driver.sees('The audit log is whole')
    t.match(await driver.text(), /\d+:[0-9a-f]{64}/)
    await isAccessible(t, driver, 'a checked log')
  })

  await t.test('the screen of the cluster names the master key that seals', async (t) => {
    await driver.go('cluster')
    await driver.sees('holds the keys themselves')
    t.match(await driver.text(), /mk-/)
  })

  await t.test('another weight shows what it moves before it is set', async (t) => {
    await driver.go('cluster/placement')
    const fields = { Weight: 'much', Reason: 'More disks' }
    await driver.plans(`Weight and zone: ${first.nodeId}`, fields, '"much" is not a number')
    await driver.fill('Weight', '2')
    await driver.click('Show the plan')
    await driver.sees('A rebalance would then move nothing.')
    await isAccessible(t, driver, 'a plan of placement')
    await driver.click('As curl')
    await driver.sees(/-X PUT [^\n]*"weight":2[^\n]*\/placement'/)
    await driver.does('The placement is set.')
    await driver.plans(`As in the file: ${first.nodeId}`)
    await driver.does('The placement is set.')
  })

  await t.test('a disk of several is drained by its plan, and used again', async (t) => {
    const disk = `${first.nodeId} ${join(disks, 'd1')}`
    const shows = (state: string): Promise<void> =>
      until(`a disk ${state}`, async () => {
        await driver.click('Refresh')
        return new RegExp(`d1\\s+(?:${state}|drained)`).test(await driver.text())
      })
    await driver.plans(`Drain: ${disk}`, { Reason: 'It is replaced' }, 'the other disks of the node take')
    await isAccessible(t, driver, 'a plan of a disk')
    await driver.does('The disk drains')
    await shows('draining')
    await driver.plans(`Use again: ${disk}`, { Reason: 'It stays' })
    await driver.does('The disk is used again.')
  })

  await t.test('the rules of a bucket', async (t) => {
    const { accessKeyId, secretKey } = cluster.setup
    if (accessKeyId === null || secretKey === null) throw new Error('there is no access key')
    await driver.go('objects')
    await driver.logInWithKey(accessKeyId, secretKey)
    await rulesOfABucket(t, cluster, driver)
    t.notMatch(await driver.page.run<string>(traces), secretKey)
  })

  await t.test('a node joins by the wizard, which shows each step as it happens', async (t) => {
    const [spare] = cluster.spares
    if (spare === undefined) throw new Error('there is no spare node')
    cluster.startJoining(spare.nodeId)
    await driver.go('cluster')
    const fields = {
      'Name of the node': spare.nodeId,
      'Peer address': 'nowhere.invalid:1',
      Reason: 'More room',
    }
    await driver.plans('Join a node', fields, 'is not host:port')
    await driver.fill('Peer address', spare.peerAddress)
    await until('the plan has no blocker', async () => {
      await driver.click('Show the plan')
      await driver.sees('What will happen')
      if (!/What stands in the way/.test(await driver.text())) return true
      await driver.click('Back')
      return false
    })
    await isAccessible(t, driver, 'a plan')
    await driver.does('Succeeded')
    await driver.sees(/Voter/)
    await driver.sees(spare.nodeId)
    cluster.hasJoined(spare.nodeId)
  })

  await t.test('weights of two members are planned together and set one after another', async (t) => {
    await weightsOfTwo(t, cluster, driver)
  })

  await t.test('a policy is shown in words, planned, and removed', async (t) => {
    await driver.go('tenants/demo')
    await driver.click('ruled')
    await driver.sees('No policy')
    await driver.plans('Set the policy', { Policy: '{"Version":' }, 'this is not JSON')
    await isAccessible(t, driver, 'a policy')
    const Statement = [
      { Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::ruled/*' },
    ]
    await driver.fill('Policy', JSON.stringify({ Version: '2012-10-17', Statement }))
    await driver.click('Show the plan')
    await driver.sees('1 statement denies something')
    await driver.does('The policy is set.')
    await driver.sees('denies s3:DeleteObject to every key on arn:aws:s3:::ruled/*')
    await fitsScreens(t, driver, 'a policy')
    t.equal((await cluster.call(first.nodeId, 'DELETE', '/buckets/ruled/objects/logs/0')).status, 403)
    await driver.go('tenants/demo')
    await driver.click('Test access')
    await driver.fill('Bucket', 'ruled')
    await driver.fill('Object key', 'logs/0')
    await driver.click('Ask')
    await driver.sees('Yes, it may')
    await driver.sees('the scopes of the key')
    await driver.fill('Operation', 'deleteObject')
    await driver.click('Ask')
    await driver.sees('No, it may not')
    await driver.sees('the policy of the bucket')
    await driver.sees('Statement 1')
    await isAccessible(t, driver, 'a test of access')
    await driver.click('Close')
    await driver.click('ruled')
    await driver.plans('Remove the policy')
    await driver.does('The policy is removed.', 'ruled')
    await driver.sees('No policy')
  })

  await t.test('the replication of a tenant shows which buckets follow it', async (t) => {
    await driver.go('tenants/demo')
    await driver.sees('The buckets of this tenant are not replicated as a whole')
    const fields = {
      'Address of the store': 'http://127.0.0.1:1',
      'Access key id there': 'AK',
      'Secret key there': 'secret',
    }
    await driver.plans('Set up', fields, /This was not done|What stands in the way|follow it/)
    await isAccessible(t, driver, 'a replication of a tenant')
    await driver.click('Close')
  })

  await t.test('its rules are added, changed and removed by plans, and its end needs the name', async (t) => {
    await rulesOfATenant(t, cluster, driver)
  })

  await t.test('what cannot be taken back needs the name typed', async (t) => {
    await driver.go('tenants/hostile')
    await driver.plans('Disable', { Reason: 'Test' }, 'This cannot be undone')
    t.notOk(await driver.isEnabled('Do it'))
    await driver.fill('Type hostile to confirm', 'hostil')
    t.notOk(await driver.isEnabled('Do it'))
    await driver.does('The tenant is disabled.', 'hostile')
    await driver.sees('Revoked')
  })

  await t.test('its policy has refused nothing, and the token is nowhere but in memory', async (t) => {
    t.same(await driver.page.run<readonly string[]>(refused), [])
    const found = await driver.page.run<string>(traces)
    t.notMatch(found, token)
    t.match(found, 'holdfast-theme', 'it looks where something is')
  })

  await t.test('a role sees what it may, and a request made all the same is refused', async (t) => {
    await driver.click('Log out')
    const viewer = tokenOf(first.dataDir, 'viewer')
    await driver.logIn(viewer)
    await driver.go('tenants/hostile')
    await driver.sees('Usage and quota')
    for (const name of ['Set quota', 'Create an access key', 'Exchange the key'])
      t.notOk(await driver.isEnabled(name), name)
    t.notMatch(await driver.text(), /^Cluster$/m, 'a section that needs an owner')
    const answer = await fetch(`${first.adminUrl}/admin/api/v1/cluster/membership`, {
      headers: { authorization: `Bearer ${viewer}` },
    })
    t.equal(answer.status, 403)
  })

  await t.test('a log-out forgets what was shown', async (t) => {
    await driver.click('Log out')
    await driver.sees('Admin token')
    t.notMatch(await driver.text(), /At a glance|History/)
  })
})
