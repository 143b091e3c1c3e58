/**
 * Garbage from deletion to removal on three nodes as the service runs them: LevelDB, log files, blob files, sockets, the real
 * clock. Deleted chunks leave all disks, also that of a node that was down, and needed ones stay.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Cluster, createCluster, type Member } from '../../../cluster/index.ts'
import type { ChunkUse } from '../../../src/state-machine/chunks/commands.ts'
import type { Command, ReplyValues } from '../../../src/state-machine/commands.ts'
import { createCopyLedger } from '../../../src/store/ledger/copy-ledger.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { LevelStateReader } from '../../../src/store/reads/level-state-reader.ts'
import { createPropose } from '../../../src/commands/propose.ts'
import { Collection } from '../../../src/workers/collection.ts'
import { Discarding } from '../../../src/workers/discarding.ts'
import { UploadSessions } from '../../../src/workers/upload-sessions.ts'
import { until } from '../../helpers/async.ts'
import { SILENT } from '../../helpers/loggers.ts'
import { freeBasePort } from '../../helpers/process-cluster.ts'
import { createTenant, putChunks } from '../../state-machine/map-world.ts'
import { temporaryDirectory } from '../../store/store-world.ts'
import { usageOf } from '../../../src/state-machine/usage/usage.ts'
import { chunkRanges } from '../../../src/state-machine/chunks/keys.ts'

interface Running {
  readonly cluster: Cluster
  readonly reader: LevelStateReader
  readonly uploads: UploadSessions
  readonly collection: Collection
  readonly discarding: Discarding
  do<C extends Command>(command: C): Promise<ReplyValues[C['type']]>
}

class Place {
  readonly #root: string
  readonly #members: readonly Member[]
  readonly nodes = new Map<string, Running>()

  constructor(root: string, port: number) {
    this.#root = root
    this.#members = [0, 1, 2].map((i) => {
      return { nodeId: `n${i + 1}`, peerAddress: `127.0.0.1:${port + 10 * i}`, zone: 'z', weight: 1 }
    })
  }

  async startAll(): Promise<void> {
    await Promise.all(this.#members.map(({ nodeId }) => this.start(nodeId)))
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.nodes.values()].map(({ cluster }) => cluster.stop()))
  }

  async start(nodeId: string): Promise<void> {
    const members = this.#members
    const dataDir = join(this.#root, nodeId)
    mkdirSync(dataDir, { recursive: true })
    const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
    const listen = members.find((member) => member.nodeId === nodeId)?.peerAddress ?? ''
    const own = { nodeId, dataDir, listen, members, clusterId: 'c1', tls: null, fingerprint: 'key' }
    const pace = {
      heartbeatMs: 30,
      electionTimeoutMs: 300,
      logKeepEntries: 1_000,
      logKeepBytes: 2 ** 20,
      logPinBytes: 2 ** 26,
    }
    const propose = createPropose({ propose: (command) => cluster.propose(command) })
    const copyLedger = createCopyLedger(reader, propose, {
      reachesLevel: (level, withinMs) => cluster.reachesLevel(level, withinMs),
    })
    const cluster: Cluster = await createCluster(
      { ...own, ...pace },
      { stateMachine, copyLedger, logger: SILENT },
    )
    const uploads = new UploadSessions({ nodeId, nextSession: () => cluster.blobs.nextSession(), propose })
    const names = members.map((member) => member.nodeId)
    const parts = { cluster, state: reader, propose, members: () => names, now: () => 0, logger: SILENT }
    const collection = new Collection({ confirmedTime: () => 0, ...parts, delayMs: 0 })
    const discarding = new Discarding({ ...parts, delayMs: 0 })
    this.nodes.set(nodeId, {
      cluster,
      reader,
      uploads,
      collection,
      discarding,
      do: async (command) => {
        const reply = await propose(command)
        assert(reply.ok, reply.ok ? '' : `${command.type}: ${reply.message}`)
        return reply.value as never
      },
    })
  }

  node(nodeId: string): Running {
    const running = this.nodes.get(nodeId)
    assert(running !== undefined, `${nodeId} runs`)
    return running
  }

  /** Copies on the disk of a node, by name. */
  filesOf(nodeId: string): readonly string[] {
    const blobs = join(this.#root, nodeId, 'blobs')
    return readdirSync(blobs)
      .filter((name) => /^[0-9a-f]{2}$/.test(name))
      .flatMap((shard) => readdirSync(join(blobs, shard)))
  }

  async collected(): Promise<void> {
    for (const { collection, discarding } of this.nodes.values()) {
      await discarding.round().catch(() => false)
      await collection.round().catch(() => false)
    }
  }
}

/** As ingest does it, with one chunk. */
async function uploadTo({ cluster, uploads }: Running, text: string) {
  const upload = await uploads.begin()
  const bytes = Buffer.alloc(300_000, text)
  const checksum = createHash('sha256').update(bytes).digest('hex')
  const name = { id: checksum, birth: upload.newBirth() }
  const { replicas, missing } = await cluster.blobs.write({ ...name, bytes, checksum })
  const about = { size: 10, sealedSize: bytes.length, checksum, existing: false }
  const use: ChunkUse = { id: checksum, birth: name.birth, ...about, replicas, missing }
  return { use, end: () => upload.end('known') }
}

async function put(node: Running, key: string, text: string): Promise<ChunkUse> {
  const { use, end } = await uploadTo(node, text)
  await node.do(putChunks(key, [use]))
  end()
  return use
}

const remove = (key: string) =>
  ({ type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key, versionId: null, ifMatch: null }) as const

t.test('garbage on three nodes', async (t) => {
  const place = new Place(temporaryDirectory(t), await freeBasePort(3))
  t.teardown(() => place.stopAll())
  await place.startAll()
  const [n1, n2] = [place.node('n1'), place.node('n2')]
  await until('a leader', () => [...place.nodes.values()].every(({ cluster }) => cluster.readiness().ready))
  await n1.do(createTenant('acme'))
  await n1.do({
    type: 'createBucket',
    tenantId: 'acme',
    name: 'photos',
    bucketsMax: 1,
    versioning: 'Unversioned',
    objectLockEnabled: false,
  })
  const kept = await put(n2, 'kept', 'kept')
  const isOnlyKept = (nodeId: string): boolean => place.filesOf(nodeId).join() === `${kept.id}.${kept.birth}`

  await t.test('a deleted chunk leaves every disk, with all its rows', async (t) => {
    await put(n1, 'gone', 'gone')
    await until('three copies each', () => ['n1', 'n2', 'n3'].every((id) => place.filesOf(id).length === 2))
    await n2.do(remove('gone'))
    await until('the copies are gone', async () => {
      await place.collected()
      return ['n1', 'n2', 'n3'].every(isOnlyKept)
    })
    await until('the rows too', async () => (await drops(n1)) === 0)
    t.match(usageOf(n1.reader, 'acme'), { objects: 1, chunkCount: 1, copyBytes: 900_000 })
  })

  await t.test('a node that was down removes its copies when it is back', async (t) => {
    await put(n1, 'gone', 'gone again')
    await until('three copies', () => place.filesOf('n3').length === 2)
    await place.node('n3').cluster.stop()
    place.nodes.delete('n3')
    await n1.do(remove('gone'))
    await until('the others removed theirs', async () => {
      await place.collected()
      return ['n1', 'n2'].every(isOnlyKept)
    })
    t.equal(place.filesOf('n3').length, 2)
    await place.start('n3')
    await until('so does it', () => isOnlyKept('n3'))
  })

  await t.test(
    'the remains of an upload stay until its session has moved on, and are removed then',
    async (t) => {
      const { use, end } = await uploadTo(n1, 'never committed')
      await until('three copies', () => place.filesOf('n3').length === 2)
      await restart(place, 'n3')
      t.equal(place.filesOf('n3').length, 2, 'it may still commit')
      end()
      await n1.uploads.advance()
      await restart(place, 'n3')
      await until('abandoned', () => isOnlyKept('n3'))
      const late = await createPropose(n1.cluster)(putChunks('late', [use]))
      t.match(late, { ok: false, code: 'session_ended' })
    },
  )
})

async function drops({ reader }: Running): Promise<number> {
  const found = await Promise.all(
    ['n1', 'n2', 'n3'].map((id) => reader.page(chunkRanges.dropsOf(id), { limit: 10 })),
  )
  return found.flatMap(({ items }) => items).length
}

async function restart(place: Place, nodeId: string): Promise<void> {
  await place.node(nodeId).cluster.stop()
  await place.start(nodeId)
  await place.node(nodeId).cluster.readBarrier()
}
