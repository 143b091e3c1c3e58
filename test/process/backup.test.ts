/** A backup of a running cluster, and clusters of other sizes that are restored from it. [docs/adr/0086-backups.md] [deploy/runbooks/restore-from-backup.md] */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { MANY_ADMIN_REQUESTS } from '../helpers/member-steps.ts'
import type { ProcessCluster } from '../helpers/process-cluster.ts'
import {
  type BackedUp,
  contentOf,
  ended,
  restoreWith,
  seen,
  startBackedUp,
  startBackup,
  startRestored,
  verifyWith,
} from './backup-world.ts'

const NODES = ['n1', 'n2', 'n3']
const BUCKETS = ['kept', 'plain']
type Content = Readonly<Record<string, ReadonlyMap<string, string | null>>>

/** Bytes that no compression makes smaller, the same for each seed. */
function bytesOf(seed: string, size: number): Buffer {
  const pieces: Buffer[] = []
  for (let n = 0; n * 32 < size; n++) pieces.push(createHash('sha256').update(`${seed}/${n}`).digest())
  return Buffer.concat(pieces).subarray(0, size)
}

async function allOf(cluster: ProcessCluster, nodeId: string): Promise<Content> {
  await cluster.login(nodeId)
  const found: Record<string, ReadonlyMap<string, string | null>> = {}
  for (const bucket of BUCKETS) found[bucket] = await contentOf(cluster, nodeId, bucket)
  return found
}

async function put(cluster: ProcessCluster, nodeId: string, path: string, body: Buffer): Promise<void> {
  const { status } = await cluster.ask(nodeId, { method: 'PUT', path: `/buckets/${path}`, body })
  if (status >= 300) throw new Error(`PUT ${path}: ${status}`)
}

async function fill(cluster: ProcessCluster): Promise<void> {
  for (const name of BUCKETS) await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name }))
  const versioned = { status: 'enabled' }
  const { status } = await cluster.call('n1', 'PUT', '/buckets/kept/versioning', JSON.stringify(versioned))
  if (status >= 300) throw new Error(`versioning: ${status}`)
  for (let n = 0; n < 16; n++) await put(cluster, 'n2', `plain/objects/o${n}`, bytesOf(`o${n}`, 600_000))
  for (let n = 0; n < 8; n++) await put(cluster, 'n3', `plain/objects/small${n}`, bytesOf(`s${n}`, 100 + n))
  await put(cluster, 'n1', 'plain/objects/large', bytesOf('large', 9_500_000))
  for (let n = 0; n < 3; n++)
    for (const key of ['a', 'b', 'c/d'])
      await put(cluster, 'n1', `kept/objects/${key}`, bytesOf(`${key}${n}`, 80_000))
  await cluster.call('n1', 'DELETE', '/buckets/kept/objects/b')
  // Its chunk has no reference when the backup starts, and is collected while it runs.
  await put(cluster, 'n1', 'plain/objects/gone', bytesOf('gone', 300_000))
  await cluster.call('n1', 'DELETE', '/buckets/plain/objects/gone')
}

/** What clients do while the backup runs: none of it may be in the backup, and nothing that it removes may be missing there. */
async function change(cluster: ProcessCluster, at: string): Promise<void> {
  for (let n = 0; n < 8; n++) await cluster.call(at, 'DELETE', `/buckets/plain/objects/o${n}`)
  for (let n = 8; n < 12; n++) await put(cluster, at, `plain/objects/o${n}`, bytesOf(`other${n}`, 500_000))
  await cluster.call(at, 'DELETE', '/buckets/plain/objects/large')
  await put(cluster, at, 'plain/objects/new', bytesOf('new', 700_000))
  await put(cluster, at, 'kept/objects/a', bytesOf('later', 90_000))
}

function chunkFiles({ backups }: BackedUp): readonly { readonly file: string; readonly size: number }[] {
  const folder = join(backups, 'weekly', 'chunks')
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((file) => ({ file, size: statSync(file).size }))
}

const bytesIn = (world: BackedUp): number => chunkFiles(world).reduce((sum, { size }) => sum + size, 0)

async function killLeader(cluster: ProcessCluster): Promise<string> {
  let leader: string | undefined
  await until('there is a leader', async () => (leader = await cluster.leader()) !== undefined)
  const killed = leader ?? 'n1'
  await cluster.signal(killed, 'SIGKILL')
  return killed
}

async function recounted(cluster: ProcessCluster, nodeId: string): Promise<unknown> {
  const asked = {
    method: 'POST',
    path: '/cluster/recount?wait=60s',
    body: { reason: 'after a restore' },
  } as const
  const { body } = await cluster.admin(nodeId, asked)
  if ((JSON.parse(body.toString()) as { status: string }).status !== 'succeeded') return body.toString()
  const repair = await cluster.admin(nodeId, { method: 'GET', path: '/cluster/repair' })
  return (JSON.parse(repair.body.toString()) as { lastRecount: unknown }).lastRecount
}

t.test('a backup under load', { timeout: 1_800_000 }, async (t) => {
  const world = await startBackedUp(t, 3, `${MANY_ADMIN_REQUESTS}\ncluster: { collect_after: 1s }`)
  const { cluster, backups } = world
  await cluster.login('n1')
  await fill(cluster)
  const model = await allOf(cluster, 'n1')

  await t.test('continues after its leader was killed, while objects change', async (t) => {
    const { operationId } = await startBackup(cluster, 'n1', { maxBytesPerSecond: 1_500_000 })
    await until('the cut is written', async () => {
      const { progress } = await seen(cluster, 'n1', operationId)
      return progress.blobsTotal > 0
    })
    await change(cluster, 'n2')
    const killed = await killLeader(cluster)
    const [other = ''] = NODES.filter((nodeId) => nodeId !== killed)
    await until(
      'another node leads',
      async () => (await cluster.leader().catch(() => undefined)) !== undefined,
    )
    const between = await seen(cluster, other, operationId)
    t.equal(between.status, 'running', 'it has not ended before')
    cluster.startNode(killed)
    await until(`${killed} serves`, () => cluster.ready(killed))
    const done = await ended(cluster, other, operationId)
    t.match(done, { status: 'succeeded', error: null, progress: { checksumFailures: 0 } })
    t.equal(done.progress.blobsDone + done.progress.skipped, done.progress.blobsTotal)
  })

  await t.test('a second backup sends what is new, and a third one nothing', async (t) => {
    const before = bytesIn(world)
    const second = await startBackup(cluster, 'n1')
    const done = await ended(cluster, 'n1', second.operationId)
    t.equal(done.status, 'succeeded')
    t.equal(done.progress.bytesMoved, bytesIn(world) - before)
    t.ok(done.progress.bytesMoved > 2_700_000, 'the objects of the change')
    t.ok(done.progress.skipped > 8)
    const third = await ended(cluster, 'n1', (await startBackup(cluster, 'n1')).operationId)
    t.match(third.progress, { bytesMoved: 0, blobsDone: 0 })
  })

  const [first = '', , third = ''] = readdirSync(
    join(backups, 'weekly', 'backups', cluster.setup.clusterId),
  ).toSorted()
  const after = await allOf(cluster, 'n1')
  t.notSame(after, model)
  const restored = (
    nodes: number,
    backup: string,
    check: (seen: Awaited<ReturnType<typeof restoreWith>>) => void,
  ) =>
    startRestored(t, cluster, nodes, async (configFile) => {
      check(await restoreWith(backups, configFile, '--backup', backup))
    })
  const whole = ({ code, err, restored }: Awaited<ReturnType<typeof restoreWith>>): void => {
    t.equal(code, 0, err)
    t.match(restored, { missing: [], damaged: [], lost: { versions: 0 } })
  }

  await t.test('same_cluster and data_not_empty leave everything as it is', async (t) => {
    const same = await restoreWith(backups, cluster.node('n1').configFile)
    t.not(same.code, 0)
    t.match(same.err + JSON.stringify(same.restored), /same_cluster/)
  })
  for (const nodeId of NODES) await cluster.signal(nodeId, 'SIGTERM')

  await t.test('one node begins with the objects of the cut', async (t) => {
    const one = await restored(1, first, whole)
    t.same(await allOf(one, 'n1'), model)
    t.match(await recounted(one, 'n1'), { differences: 0 })
    const again = await restoreWith(backups, one.node('n1').configFile)
    t.not(again.code, 0)
    t.match(again.err + JSON.stringify(again.restored), /data_not_empty/)
    await one.signal('n1', 'SIGTERM')
  })

  await t.test('four nodes begin with the objects of a later cut, and take others', async (t) => {
    const four = await restored(4, third, whole)
    t.same(await allOf(four, 'n4'), after)
    await put(four, 'n3', 'plain/objects/again', bytesOf('o0', 600_000))
    t.equal((await four.call('n1', 'GET', '/buckets/plain/objects/again')).body.length, 600_000)
    t.match(await recounted(four, 'n2'), { differences: 0 })
    for (const nodeId of ['n1', 'n2', 'n3', 'n4']) await four.signal(nodeId, 'SIGTERM')
  })

  await t.test('verify and restore name what is damaged and missing, and the rest is whole', async (t) => {
    const { configFile } = cluster.node('n1')
    t.equal((await verifyWith(backups, configFile, '--backup', first)).code, 0)
    const files = chunkFiles(world).filter(({ size }) => size > 590_000 && size < 610_000)
    const [damaged, missing] = [files[0]?.file ?? '', files[1]?.file ?? '']
    const bytes = readFileSync(damaged)
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1
    writeFileSync(damaged, bytes)
    rmSync(missing)
    const nameOf = (file: string): string => file.slice(join(backups, 'weekly').length + 1)
    const { code, verified } = await verifyWith(backups, configFile, '--backup', first)
    t.not(code, 0)
    t.same(
      verified.damages.map(({ name, what }) => `${name} ${what}`).toSorted(),
      [`${nameOf(damaged)} damaged`, `${nameOf(missing)} missing`].toSorted(),
    )
    let lost: readonly string[] = []
    const one = await restored(1, first, ({ code, restored }) => {
      t.not(code, 0, 'the command says that something is missing')
      t.same(restored.missing, [nameOf(missing)])
      t.same(restored.damaged, [nameOf(damaged)])
      lost = restored.lost.named.map(({ bucket, key }) => `${bucket}/${key}`)
      t.equal(lost.length, 2)
    })
    const found = await allOf(one, 'n1')
    for (const bucket of BUCKETS)
      for (const [version, digest] of model[bucket] ?? []) {
        const isLost = lost.includes(`${bucket}/${(JSON.parse(version) as { key: string }).key}`)
        t.equal(found[bucket]?.get(version), isLost ? null : digest, version)
      }
    const [again = ''] = lost.map((name) => name.split('/')[1] ?? '')
    await put(one, 'n1', `plain/objects/${again}`, bytesOf(again, 600_000))
    t.equal(
      (await one.call('n1', 'GET', `/buckets/plain/objects/${again}`)).status,
      200,
      'an upload brings it back',
    )
    await one.signal('n1', 'SIGTERM')
  })
})
