/**
 * The lines of the runbook about lifecycle rules are typed at a node: what a preview names goes, what is locked stays, and what a rule has hidden is brought
 * back. [deploy/runbooks/lifecycle-rules.md]
 */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { installCommand, typed } from '../helpers/runbook.ts'
import { TypedPage } from '../helpers/typed-page.ts'

const PAGE = fileURLToPath(new URL('../../deploy/runbooks/lifecycle-rules.md', import.meta.url))
const OBJECTS = '/buckets/builds/objects'
const DAY_MS = 86_400_000

interface VersionSeen {
  readonly key: string
  readonly versionId: string
  readonly isDeleteMarker?: boolean
}

t.test('the lines of lifecycle-rules.md', { timeout: 600_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 1)
  await cluster.login('n1')
  const made = JSON.stringify({ name: 'builds' })
  t.equal((await cluster.call('n1', 'POST', '/buckets', made)).status, 201)
  const statusOf = async (key: string): Promise<number> =>
    (await cluster.call('n1', 'GET', `${OBJECTS}/${encodeURIComponent(key)}`)).status
  const store = async (key: string, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    const path = `${OBJECTS}/${encodeURIComponent(key)}`
    const { status, body } = await cluster.ask('n1', { method: 'PUT', path, body: Buffer.from(key), headers })
    t.equal(status, 200, `${key} ${body.toString()}`)
  }
  for (const key of ['tmp/old.log', 'tmp/other.log', 'release.tar']) await store(key)

  const [bin, desk] = [temporaryFolder(t), temporaryFolder(t)]
  installCommand(bin)
  const { setup } = cluster
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOLDFAST_TOKEN_CACHE: 'off',
    HOLDFAST_ENDPOINT: cluster.node('n1').dataUrl,
    HOLDFAST_ADMIN_ENDPOINT: cluster.node('n1').adminUrl,
    HOLDFAST_ADMIN_TOKEN: setup.ownerToken,
    HOLDFAST_ACCESS_KEY_ID: setup.accessKeyId ?? '',
    HOLDFAST_SECRET_KEY: setup.secretKey ?? '',
  }
  let printed = ''
  const page = new TypedPage({
    page: PAGE,
    local: (text) => text,
    // Columns are as wide as their contents.
    type: async (_, lines) => {
      printed = (await typed(`cd '${desk}'\n${lines}`, env)).replaceAll(/ +/g, ' ')
      return printed
    },
  })

  await t.test('a preview names what would go, and changes nothing', async (t) => {
    await page.type(t, 'Look first')
    t.match(printed, /^expired tmp tmp\/old\.log/m)
    t.match(printed, /^objects removed: 2, hidden by a delete marker: 0$/m)
    t.equal(await statusOf('tmp/old.log'), 200)
  })

  await t.test('with versions, what is due is hidden, and what is locked stays below', async (t) => {
    await page.type(t, 'Keep a way back')
    const lock = { status: (await cluster.call('n1', 'PUT', '/buckets/builds/object-lock', '{}')).status }
    t.equal(lock.status, 200)
    const retainUntil = new Date(Date.now() + DAY_MS).toISOString()
    await store('tmp/held.log', {
      'x-service-retention-mode': 'COMPLIANCE',
      'x-service-retain-until': retainUntil,
    })
    await page.type(t, 'Set the rules')
    for (const key of ['tmp/old.log', 'tmp/other.log', 'tmp/held.log'])
      await until(`${key} is hidden`, async () => (await statusOf(key)) === 404)
    t.equal(await statusOf('release.tar'), 200)
  })

  await t.test('the audit log names the rule and the keys', async (t) => {
    await page.type(t, 'See what went')
    t.match(printed, /"applyLifecycleRule"/)
    t.match(printed, /"ruleId": ?"tmp"/)
    t.match(printed, /tmp\/old\.log/)
  })

  await t.test('rules that are taken away remove nothing more', async (t) => {
    await page.type(t, 'Stop at once')
    t.equal((await cluster.call('n1', 'GET', '/buckets/builds/lifecycle')).status, 404)
  })

  await t.test('what was hidden is brought back', async (t) => {
    const { body } = await cluster.call('n1', 'GET', '/buckets/builds/versions?prefix=tmp/old.log')
    const { versions } = JSON.parse(body.toString()) as { readonly versions: readonly VersionSeen[] }
    const marker = versions.find(({ isDeleteMarker }) => isDeleteMarker === true)?.versionId ?? 'none'
    await page.type(t, 'Bring back what was hidden', (text) => text.replaceAll('"$MARKER"', marker))
    t.equal(await statusOf('tmp/old.log'), 200)
  })

  t.same(page.untyped, [], 'every line was typed')
})
