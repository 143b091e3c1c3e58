/**
 * Two clusters of one node each; the lines of the runbook about a second site are typed at both: set up, an outage, what is sent again, the loss of the first site,
 * its return with its data and without. [deploy/runbooks/second-site.md]
 */
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { installCommand, typed } from '../helpers/runbook.ts'
import { TcpDoor } from '../helpers/tcp-door.ts'
import { TypedPage } from '../helpers/typed-page.ts'

const PAGE = fileURLToPath(new URL('../../deploy/runbooks/second-site.md', import.meta.url))
/** The port offset of a target that the launcher allows on this machine. */
const DOOR_OFFSET = 99
const KEYS = ['2026/a.jpg', '2026/b.jpg', 'c.jpg']

const portOf = (cluster: ProcessCluster): number => Number(new URL(cluster.node('n1').dataUrl).port)
const doorOf = (cluster: ProcessCluster): string => `http://127.0.0.1:${portOf(cluster) + DOOR_OFFSET}`
const objectAt = (bucket: string, key: string): string =>
  `/buckets/${bucket}/objects/${encodeURIComponent(key)}`

async function put(cluster: ProcessCluster, bucket: string, key: string, text: string): Promise<void> {
  const { status } = await cluster.call('n1', 'PUT', objectAt(bucket, key), Buffer.from(text))
  if (status !== 200) throw new Error(`PUT ${key}: ${status}`)
}

async function textsIn(cluster: ProcessCluster, bucket: string): Promise<Readonly<Record<string, string>>> {
  const { body } = await cluster.call('n1', 'GET', `/buckets/${bucket}/objects`)
  const { objects } = JSON.parse(body.toString()) as { readonly objects: readonly { readonly key: string }[] }
  const texts: Record<string, string> = {}
  for (const { key } of objects)
    texts[key] = (await cluster.call('n1', 'GET', objectAt(bucket, key))).body.toString()
  return texts
}

t.test('the lines of second-site.md', { timeout: 1_800_000 }, async (t) => {
  const [first, other] = [await ProcessCluster.start(t, 1), await ProcessCluster.start(t, 1)]
  const door = await TcpDoor.open(t, portOf(first) + DOOR_OFFSET, portOf(other))
  await TcpDoor.open(t, portOf(other) + DOOR_OFFSET, portOf(first))
  await first.login('n1')
  await other.login('n1')
  const made = await first.call('n1', 'POST', '/buckets', '{"name":"photos"}')
  t.equal(made.status, 201)
  await first.call('n1', 'PUT', '/buckets/photos/versioning', '{"status":"enabled"}')
  for (const key of KEYS) await put(first, 'photos', key, `${key} of before`)

  const bin = temporaryFolder(t)
  installCommand(bin)
  const envOf = ({ setup, plan: [node] }: ProcessCluster) => ({
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOLDFAST_TOKEN_CACHE: 'off',
    HOLDFAST_ENDPOINT: node?.dataUrl ?? '',
    HOLDFAST_ACCESS_KEY_ID: setup.accessKeyId ?? '',
    HOLDFAST_SECRET_KEY: setup.secretKey ?? '',
    OTHER_ACCESS_KEY_ID: other.setup.accessKeyId ?? '',
    OTHER_SECRET_KEY: other.setup.secretKey ?? '',
    FIRST_ACCESS_KEY_ID: first.setup.accessKeyId ?? '',
    FIRST_SECRET_KEY: first.setup.secretKey ?? '',
  })
  const desks = { here: temporaryFolder(t), there: temporaryFolder(t) }
  const page = new TypedPage({
    page: PAGE,
    local: (text) =>
      text
        .replaceAll('https://s3.other.example', doorOf(first))
        .replaceAll('https://s3.first.example', doorOf(other)),
    // Columns are as wide as their contents.
    type: async (machine, lines) => {
      const isThere = machine === 'there'
      const desk = isThere ? desks.there : desks.here
      return (await typed(`cd '${desk}'\n${lines}`, envOf(isThere ? other : first))).replaceAll(/ +/g, ' ')
    },
  })
  const same = async (t: Test, bucket = 'photos'): Promise<void> => {
    const [here, there] = [await textsIn(first, bucket), await textsIn(other, 'photos-copy')]
    t.strictSame(there, here, 'both sites have the same')
  }

  await t.test('it is set up, and what was there before arrives', async (t) => {
    await page.type(t, 'Set it up')
    t.equal(Object.keys(await textsIn(other, 'photos-copy')).length, KEYS.length)
    await same(t)
  })

  await t.test('an outage loses nothing', async (t) => {
    door.shut()
    await put(first, 'photos', 'c.jpg', 'written in the outage')
    await first.call('n1', 'DELETE', objectAt('photos', '2026/a.jpg'))
    await until('the outage is seen', async () => {
      const { body } = await first.call('n1', 'GET', '/buckets/photos/replication/status')
      return (JSON.parse(body.toString()) as { unreachableSince: unknown }).unreachableSince !== null
    })
    await page.type(t, 'The other site does not answer')
    door.reopen()
    await page.type(t, 'After the outage')
    await same(t)
  })

  await t.test('what was removed at the other site is sent again', async (t) => {
    const path = objectAt('photos-copy', '2026/b.jpg')
    const { headers } = await other.call('n1', 'HEAD', path)
    const versionId = String(headers['x-service-version-id'])
    t.equal((await other.call('n1', 'DELETE', `${path}?versionId=${versionId}`)).status, 204)
    await page.type(t, 'Send again what is not there')
    await same(t)
  })

  await t.test('the first site is gone, and the other one takes writes', async (t) => {
    await first.signal('n1', 'SIGKILL')
    await page.type(t, 'Fail over')
    await put(other, 'photos-copy', 'c.jpg', 'written at the other site')
  })

  await t.test('the first site is back with its disks, and gets what was written meanwhile', async (t) => {
    first.startNode('n1')
    await first.allReady()
    await first.login('n1')
    await page.type(t, 'Fail back, with the data of this site')
    const texts = await textsIn(first, 'photos')
    t.equal(texts['after.txt'], 'after the fail-over')
    t.equal(texts['c.jpg'], 'written at the other site')
    await same(t)
  })

  await t.test('an empty site gets everything', async (t) => {
    await page.type(t, 'Fail back, to an empty site')
    await same(t, 'photos-new')
  })

  await page.type(t, 'End it')
  t.equal((await first.call('n1', 'GET', '/buckets/photos/replication')).status, 404)
  t.same(page.untyped, [], 'every line was typed')
})
