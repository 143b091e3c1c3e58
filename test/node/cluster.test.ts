/**
 * The cluster as the service uses it: real disks, real sockets, real threads, three members in one process.
 */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createCluster } from '../../cluster/index.ts'
import type { BlobRef, Cluster, ClusterOptions, Member, ReplicaTask } from '../../cluster/base/types.ts'
import { collected } from '../helpers/async.ts'
import { MemoryState, MemoryStateMachine, command, textOf } from '../helpers/memory-state-machine.ts'
import { SILENT } from '../helpers/loggers.ts'
import { NO_COPIES } from '../../scripts/bench/no-copies.ts'
import { removeWitnessesIn } from '../helpers/flush-witnesses.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('No port')
  return address.port
}

class Place {
  readonly root: string
  readonly members: readonly Member[]
  readonly states = new Map<string, MemoryState>()
  readonly tasks: ReplicaTask[] = []

  readonly #changes: Partial<ClusterOptions>

  private constructor(root: string, members: readonly Member[], changes: Partial<ClusterOptions>) {
    this.root = root
    this.members = members
    this.#changes = changes
  }

  static async make(
    t: Test,
    { count = 3, changes = {} }: { readonly count?: number; readonly changes?: Partial<ClusterOptions> } = {},
  ): Promise<Place> {
    const root = await mkdtemp(join(tmpdir(), 'holdfast-cluster-'))
    t.teardown(() => {
      removeWitnessesIn(root)
      return rm(root, { recursive: true, force: true })
    })
    const members: Member[] = []
    for (let i = 1; i <= count; i += 1) {
      const peerAddress = `127.0.0.1:${await freePort()}`
      members.push({ nodeId: `n${i}`, peerAddress, zone: 'z', weight: 1 })
    }
    return new Place(root, members, changes)
  }

  options(nodeId: string, changes: Partial<ClusterOptions> = {}): ClusterOptions {
    const member = this.members.find((row) => row.nodeId === nodeId)
    return {
      clusterId: 'c1',
      nodeId,
      dataDir: join(this.root, nodeId),
      listen: member?.peerAddress ?? '127.0.0.1:0',
      members: this.members,
      tls: null,
      fingerprint: 'key 1',
      heartbeatMs: 30,
      electionTimeoutMs: 300,
      logKeepEntries: 1_000,
      logKeepBytes: 1024 * 1024,
      logPinBytes: 2 ** 26,
      ...this.#changes,
      ...changes,
    }
  }

  start(nodeId: string, changes: Partial<ClusterOptions> = {}): Promise<Cluster> {
    const state = this.states.get(nodeId) ?? new MemoryState()
    this.states.set(nodeId, state)
    return createCluster(this.options(nodeId, changes), {
      stateMachine: new MemoryStateMachine(state),
      copyLedger: {
        ...NO_COPIES,
        pending: (target) => this.tasks.filter((task) => task.target === target),
        copyStatus: () => 'owed',
        done: async (tasks) => tasks.forEach((task) => this.tasks.splice(this.tasks.indexOf(task), 1)),
      },
      logger: SILENT,
    })
  }

  async startAll(t: Test): Promise<Cluster[]> {
    const clusters = await Promise.all(this.members.map(({ nodeId }) => this.start(nodeId)))
    t.teardown(() => Promise.all(clusters.map((cluster) => cluster.stop())))
    return clusters
  }
}

/** Turns the event loop until the condition holds; the runner's time limit ends it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Every file in the directory with its contents. */
async function contentOf(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name))
  const rows = files.map(async (path) => `${path} ${(await readFile(path)).toString('base64')}`)
  return (await Promise.all(rows)).sort()
}

for (const raftThread of [false, true]) {
  t.test(raftThread ? 'createCluster, with Raft on a thread of its own' : 'createCluster', (t) =>
    serves(t, { raftThread }),
  )
}

async function serves(t: Test, changes: Partial<ClusterOptions>): Promise<void> {
  t.test(
    'replicates commands and blobs over real sockets and disks, and survives losing a node',
    async (t) => {
      const place = await Place.make(t, { changes })
      const clusters = await place.startAll(t)
      const [first, second, third] = clusters
      if (!first || !second || !third) throw new Error('three nodes')
      for (const [i, cluster] of clusters.entries()) {
        t.equal(textOf(await cluster.propose(command(`append from ${cluster.nodeId}`))), String(i + 1))
      }
      for (const cluster of clusters) {
        await cluster.readBarrier()
        t.strictSame(place.states.get(cluster.nodeId)?.current.texts, ['from n1', 'from n2', 'from n3'])
        t.strictSame(cluster.readiness(), { ready: true, reasons: [] })
      }

      const bytes = Buffer.alloc(300_000, 'holdfast')
      const checksum = createHash('sha256').update(bytes).digest('hex')
      const name = { id: checksum, birth: `${first.blobs.nextSession()}-0` }
      const { replicas } = await first.blobs.write({ ...name, bytes, checksum })
      t.equal(replicas.length, 3)
      const ref: BlobRef = { ...name, size: bytes.length, checksum, replicas }
      for (const cluster of clusters) {
        for (const copy of cluster.blobs.copies(ref)) {
          t.ok(
            bytes.equals(Buffer.concat(await collected(copy.read(0, bytes.length)))),
            `${copy.nodeId} from ${cluster.nodeId}`,
          )
        }
      }

      await third.stop()
      t.equal(textOf(await first.propose(command('append without n3'))), '4')
      await second.readBarrier()
      t.equal(place.states.get('n2')?.current.texts.at(-1), 'without n3')

      const lone = { id: checksum, birth: `${first.blobs.nextSession()}-0` }
      const two = await first.blobs.write({ ...lone, bytes, checksum })
      t.strictSame([...two.missing], ['n3'], 'the third copy is missing')
      place.tasks.push({ ref: { ...ref, ...lone, replicas: two.replicas }, target: 'n3', permit: 1 })

      const again = await place.start('n3')
      t.teardown(() => again.stop())
      await again.readBarrier()
      t.equal(place.states.get('n3')?.current.texts.length, 4, 'caught up')
      await until(() => place.tasks.length === 0)
      const repaired = { ...ref, ...lone, replicas: ['n3'] }
      for (const copy of again.blobs.copies(repaired)) {
        t.ok(
          bytes.equals(Buffer.concat(await collected(copy.read(0, bytes.length)))),
          'repaired by the committed task',
        )
      }
      t.notOk(lone.birth.startsWith(again.blobs.nextSession()))
    },
  )

  t.test('serves when it is the only member, and measures itself', async (t) => {
    const place = await Place.make(t, { count: 1, changes })
    const [cluster] = await place.startAll(t)
    if (!cluster) throw new Error('one node')
    t.equal(textOf(await cluster.propose(command('append alone'))), '1')
    await cluster.readBarrier()
    const samples = await cluster.metrics()
    const names = samples.map(({ name, labels }) => name + JSON.stringify(labels ?? {}))
    t.equal(new Set(names).size, names.length, 'no sample is reported twice')
    const value = (name: string): number | undefined =>
      samples.find((sample) => sample.name === `holdfast_raft_${name}`)?.value
    t.equal(value('is_leader'), 1)
    t.equal(value('voters'), 1)
    t.ok((value('log_fsyncs_total') ?? 0) > 0)
    t.match(names.join(), /holdfast_blob_.*holdfast_repair_/)
    for (const { name, kind } of samples) t.equal(kind === 'counter', name.endsWith('_total'), name)
    await cluster.stop()
    t.strictSame(cluster.readiness().ready, false)
    await t.rejects(cluster.propose(command('append late')), { code: 'shutting_down' })
  })
}

t.test('createCluster keeps everything when all nodes stop and start again', async (t) => {
  const place = await Place.make(t)
  const before = await Promise.all(place.members.map(({ nodeId }) => place.start(nodeId)))
  for (let i = 0; i < 5; i += 1) await before[i % 3]?.propose(command(`append ${i}`))
  await Promise.all(before.map((cluster) => cluster.stop()))
  const [first] = await place.startAll(t)
  t.equal(textOf((await first?.propose(command('append last'))) ?? new Uint8Array()), '6')
})

t.test('createCluster refuses', async (t) => {
  const place = await Place.make(t, { count: 1 })
  const cluster = await place.start('n1')
  await cluster.propose(command('append kept'))
  await t.rejects(place.start('n1'), { code: 'data_dir_in_use', hint: /other process/ })
  t.equal(textOf(await cluster.propose(command('append still'))), '2', 'and the running one is not disturbed')
  const port = place.options('n1').listen
  const kept = place.states.get('n1')
  place.states.delete('n1')
  await t.rejects(place.start('n1', { dataDir: join(place.root, 'other') }), { code: 'address_in_use' }, port)
  const onThread = { dataDir: join(place.root, 'other'), raftThread: true }
  await t.rejects(place.start('n1', onThread), {
    name: 'StartError',
    code: 'address_in_use',
    hint: /holds it/,
  })
  if (kept) place.states.set('n1', kept)
  await cluster.stop()

  const dataDir = join(place.root, 'n1')
  const before = await contentOf(dataDir)
  const cases: readonly [string, Partial<ClusterOptions>, RegExp][] = [
    ['foreign_cluster', { clusterId: 'c2' }, /its own data directory/],
    [
      'foreign_node',
      { nodeId: 'n9', members: place.members.map((row) => ({ ...row, nodeId: 'n9' })) },
      /node id/,
    ],
    ['wrong_fingerprint', { fingerprint: 'key 2' }, /key file/],
    ['data_not_empty', { isJoining: true }, /without --join/],
  ]
  for (const [code, changes, hint] of cases) {
    await t.test(code, async (t) => {
      await t.rejects(createClusterIn(place, { dataDir, ...changes }), { code, hint })
      t.strictSame(await contentOf(dataDir), before, 'nothing was changed')
    })
  }

  await t.test('takes a newer key while the older one is still listed, and never goes back', async (t) => {
    const place = await Place.make(t, { count: 1 })
    await (await place.start('n1')).stop()
    const newer = { fingerprint: 'key 2', olderFingerprints: ['key 0', 'key 1'] }
    await (await place.start('n1', newer)).stop()
    await (await place.start('n1', { fingerprint: 'key 2' })).stop()
    await t.rejects(place.start('n1'), { code: 'wrong_fingerprint' })
  })

  await t.test('takes another key after the group refused the one of the first start', async (t) => {
    const place = await Place.make(t, { count: 1 })
    const mistaken = await place.start('n1', { fingerprint: 'a key of another cluster' })
    await mistaken.forgetFingerprint()
    await mistaken.stop()
    await (await place.start('n1')).stop()
    await t.rejects(place.start('n1', { fingerprint: 'key 2' }), { code: 'wrong_fingerprint' })
  })

  await t.test('unknown_member', async (t) => {
    const fresh = join(place.root, 'fresh')
    const members = place.members.map((row) => ({ ...row, nodeId: 'n8' }))
    await t.rejects(createClusterIn(place, { dataDir: fresh, members }), {
      code: 'unknown_member',
      hint: /one of n8/,
    })
  })

  await t.test('identity_missing', async (t) => {
    const lost = join(place.root, 'lost')
    await mkdir(join(lost, 'raft'), { recursive: true })
    await t.rejects(place.start('n1', { dataDir: lost }), { code: 'identity_missing', hint: /Restore/ })
    t.strictSame(await readdir(lost), ['raft'])
  })

  await t.test('damaged_identity', async (t) => {
    const damaged = join(place.root, 'damaged')
    await mkdir(damaged)
    await writeFile(join(damaged, 'identity.json'), '{"format":1,')
    await t.rejects(place.start('n1', { dataDir: damaged }), { code: 'damaged_identity' })
  })

  await t.test(
    'and starts again afterwards with its data, its identity readable only by its owner',
    async (t) => {
      const again = await place.start('n1')
      t.equal(textOf(await again.propose(command('append third'))), '3')
      await again.stop()
      t.equal((await stat(join(dataDir, 'identity.json'))).mode & 0o777, 0o600)
    },
  )
})

function createClusterIn(place: Place, changes: Partial<ClusterOptions>): Promise<Cluster> {
  return place.start('n1', changes)
}
