/**
 * A tenant in the console from its first key to its end, in a real browser: names of everything that are script, a key that is shown once and
 * used by a real client, the tenant deleted by its plan and its name, and found in the audit log; the token is nowhere but in memory.
 */
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import {
  breakPolicy,
  HOSTILE,
  HOSTILE_NAMES,
  LARGE_SCREEN,
  notShown,
  policySaw,
  ranForeign,
  refused,
  traces,
  watchPolicy,
} from '../helpers/console-page.ts'
import { walks } from '../helpers/console-walk.ts'
import { MANY_ADMIN_REQUESTS } from '../helpers/member-steps.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

/** Of zones. */
const ZONE_CHARS_MAX = 63
const BODY = 'the first day'

t.test('tenants in Chromium', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1, MANY_ADMIN_REQUESTS)
  const browser = await Browser.start(t)
  const [node] = cluster.plan
  if (node === undefined) throw new Error('there is no node')
  if (browser === null) {
    process.stderr.write(`NOT TESTED: tenants in the console. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const admin = async (method: 'POST' | 'PUT', path: string, body: object): Promise<void> => {
    const answer = await cluster.admin(node.nodeId, { method, path, body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`)
  }
  const driver = await ConsoleDriver.open(browser, node.adminUrl)
  await driver.page.resize(LARGE_SCREEN)
  await driver.page.run(watchPolicy)
  await driver.logIn(cluster.setup.ownerToken)
  const showsAll = async (texts: readonly string[]): Promise<void> => {
    let missing: readonly string[] = []
    await until('each is the whole text of an element', async () => {
      missing = await driver.page.run<readonly string[]>(notShown, ...texts)
      return missing.length === 0
    }).catch((cause: unknown) => {
      throw new Error(`not shown: ${missing.join('\n')}`, { cause })
    })
  }

  await t.test('names of everything are shown as texts, and none of them runs', async (t) => {
    for (const [n, name] of HOSTILE_NAMES.entries())
      await admin('POST', '/tenants', { id: `tenant-${n}`, name })
    for (const name of HOSTILE_NAMES) {
      await admin('POST', '/tenants/tenant-0/accounts', { name, description: name })
      await admin('POST', '/tenants/tenant-0/keys', { name, scopes: 'read' })
    }
    await admin('PUT', `/cluster/members/${node.nodeId}/placement`, {
      zone: HOSTILE.slice(0, ZONE_CHARS_MAX),
      reason: HOSTILE,
    })
    await admin('POST', '/cluster/rebalance', { tenantId: 'tenant-0', reason: HOSTILE })
    await driver.go('tenants')
    await driver.sees('tenant-0')
    await showsAll(HOSTILE_NAMES)
    await driver.go('tenants/tenant-0')
    await driver.sees('Access keys')
    await showsAll(HOSTILE_NAMES)
    await driver.go('cluster')
    await driver.sees(HOSTILE.slice(0, ZONE_CHARS_MAX))
    await driver.go('operations')
    await driver.sees('rebalance')
    // What a person types is a name of others in the answer, in refusals too.
    await driver.go(`tenants/${encodeURIComponent(HOSTILE)}`)
    await driver.sees('This part could not be loaded')
    await driver.go(`cluster/${encodeURIComponent(HOSTILE)}/replace`)
    await driver.sees('Demote')
    t.notMatch(await driver.text(), /Show the plan/, 'a link to a member that is none opens nothing')
    await driver.go('audit')
    await driver.fill('Operation, such as deleteObject', 'setMemberPlacement')
    await driver.click('Search')
    await driver.sees(/setMemberPlacement/)
    t.equal(await driver.page.run<unknown>(ranForeign), null)
    t.same(await driver.page.run<readonly string[]>(policySaw), [])
  })

  let key = { accessKeyId: '', secretAccessKey: '' }
  const client = (): S3Client =>
    new S3Client({ endpoint: node.dataUrl, region: 'us-east-1', forcePathStyle: true, credentials: key })

  await t.test('walk: a key is made, and its lines work in a client', async (t) => {
    await driver.go('tenants/tenant-1')
    await walks(t, driver, { of: 'make an access key with lines to paste', clicksMax: 4 }, async () => {
      const fields = { May: 'read,write,delete,admin' }
      await driver.plans('Create an access key', fields, 'The tenant has 0 of at most')
      await driver.click('Do it')
      await driver.sees('Copy the secret now')
      await driver.click('Lines to paste')
    })
    const lines = await driver.text()
    const [, accessKeyId = ''] = /export AWS_ACCESS_KEY_ID=(\S+)/.exec(lines) ?? []
    const [, secretAccessKey = ''] = /export AWS_SECRET_ACCESS_KEY=(\S+)/.exec(lines) ?? []
    key = { accessKeyId, secretAccessKey }
    await driver.click('Close')
    const s3 = client()
    await s3.send(new CreateBucketCommand({ Bucket: 'diary' }))
    await s3.send(new PutObjectCommand({ Bucket: 'diary', Key: HOSTILE, Body: BODY }))
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'diary', Key: HOSTILE }))
    t.equal(await Body?.transformToString(), BODY)
    s3.destroy()
    t.notMatch(await driver.page.run<string>(traces), secretAccessKey, 'the secret is gone with its dialog')
  })

  await t.test('what the tenant stores and sets is shown as text too', async (t) => {
    const { accessKeyId, secretAccessKey: secretKey } = key
    const proof = JSON.stringify({ accessKeyId, secretKey })
    const { body } = await cluster.call(node.nodeId, 'POST', '/auth/token', proof)
    const { token } = JSON.parse(body.toString()) as { readonly token: string }
    const send = async (
      path: string,
      text: string,
      more: Readonly<Record<string, string>>,
    ): Promise<void> => {
      const headers = { authorization: `Bearer ${token}`, ...more }
      const answer = await fetch(`${node.dataUrl}/api/v1/buckets/diary${path}`, {
        method: 'PUT',
        body: text,
        headers,
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    }
    await send('/objects/plain', BODY, { 'x-service-meta-note': HOSTILE, 'content-type': 'text/html' })
    const url = `https://hooks.invalid/${HOSTILE}`
    const hook = { id: 'first', url, events: ['object-created'], prefix: HOSTILE }
    await send('/notifications', JSON.stringify({ configs: [hook] }), { 'content-type': 'application/json' })
    await driver.go('objects')
    await driver.logInWithKey(accessKeyId, secretKey)
    await driver.click('diary')
    await driver.click('plain')
    await driver.sees('ETag')
    await showsAll([HOSTILE])
    await driver.click('Close')
    await driver.go('bucket/diary/notifications')
    await driver.sees('first')
    await driver.sees(url)
    t.equal(await driver.page.run<unknown>(ranForeign), null)
    t.same(await driver.page.run<readonly string[]>(policySaw), [])
  })

  await t.test(
    'walk: a tenant is deleted after its plan has said what goes, and its name is typed',
    async (t) => {
      await driver.go('tenants')
      await driver.sees('tenant-1')
      await driver.go('tenants/tenant-1')
      await walks(t, driver, { of: 'disable and delete a tenant', clicksMax: 8 }, async () => {
        const fields = { Reason: 'The contract ended' }
        await driver.plans('Disable', fields, /Access keys\s+1/)
        await driver.does('The tenant is disabled.', 'tenant-1')
        await driver.plans('Delete', fields, /Buckets\s+1\s+Objects\s+2\s+Versions\s+2/)
        t.notOk(await driver.isEnabled('Do it'))
        await driver.does('Succeeded', 'tenant-1')
      })
      await t.rejects(
        client().send(new GetObjectCommand({ Bucket: 'diary', Key: HOSTILE })),
        'its key is refused',
      )
    },
  )

  await t.test('walk: who deleted it is found in the audit log', async (t) => {
    await driver.go('health')
    await walks(t, driver, { of: 'who deleted a tenant', clicksMax: 2 }, async () => {
      await driver.click('Audit')
      await driver.fill('Operation, such as deleteObject', 'deleteTenant')
      await driver.click('Search')
      await driver.sees(/deleteTenant tenant-1\b/)
    })
    t.match(await driver.text(), /adm_/)
  })

  await t.test('the token is nowhere but in memory, and the policy has refused nothing', async (t) => {
    const found = await driver.page.run<string>(traces)
    t.notMatch(found, cluster.setup.ownerToken)
    t.notMatch(found, 'svcadm_')
    t.notMatch(found, key.secretAccessKey)
    t.match(found, '/admin/api/v1/tenants', 'it looks at what was asked for')
    t.notMatch(JSON.stringify(await driver.page.history()), 'svcadm_')
    t.same(await driver.page.run<readonly string[]>(refused), [])
    t.same(await driver.page.run<readonly string[]>(policySaw), [])
    await driver.page.run(breakPolicy)
    await until('a violation is noticed', async () =>
      (await driver.page.run<readonly string[]>(policySaw)).some((seen) => seen.startsWith('img-src')),
    )
  })
})
