/**
 * Members in one process with nothing simulated: LevelDB, blob files, sockets, real time; and one tenant with a bucket.
 */
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import {
  BlobMissingError,
  type BlobRef,
  type Cluster,
  Condition,
  createCluster,
  type Member,
} from '../../cluster/index.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import type { LevelStateReader } from '../../src/store/reads/level-state-reader.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createPropose, type Propose } from '../../src/commands/propose.ts'
import { type SampleBlob, sampleBlob } from '../blobs/blob-samples.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { createTenant, putChunks } from '../state-machine/map-world.ts'
import { removeWitnessesIn } from '../helpers/flush-witnesses.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'

/** A busy machine delays three nodes in one process by seconds; with a shorter one their elections would not end. */
const ELECTION_MS = 3_000

/** A pass aims to take nine tenths of this. */
const SCRUB_EVERY_MS = 1_000

/** Every other blob goes to a pack, the rest to their own files. */
const PACKED_BYTES = 20_000
const FILED_BYTES = 300_000

export interface RealNode {
  readonly nodeId: string
  readonly cluster: Cluster
  readonly reader: LevelStateReader
  readonly propose: Propose
  /** The disk of its blobs. */
  readonly directory: string
}

/** Under the blobs of a node. */
export type FilesOf = (nodeId: string) => FileOps

export interface Upload {
  readonly blob: SampleBlob
  readonly ref: BlobRef
  readonly missing: readonly string[]
}

export class RealNodes {
  nodes: readonly RealNode[] = []
  readonly #root: string
  readonly #ports: readonly number[]
  readonly #filesOf: FilesOf
  #session = ''
  #births = 0
  #puts = 0

  private constructor(root: string, ports: readonly number[], filesOf: FilesOf) {
    this.#root = root
    this.#ports = ports
    this.#filesOf = filesOf
  }

  /** One node for each weight: n1, n2 and so on, each in its own zone; their blobs are on the system's disk by default. */
  static async start(
    t: Test,
    weights: readonly number[] = [1, 1, 1],
    filesOf: FilesOf = () => systemFileOps,
  ): Promise<RealNodes> {
    const root = await mkdtemp(join(tmpdir(), 'holdfast-real-'))
    t.teardown(() => {
      removeWitnessesIn(root)
      return rm(root, { recursive: true, force: true })
    })
    const real = new RealNodes(root, await freePorts(weights.length), filesOf)
    t.teardown(() => real.stop())
    await real.open(weights)
    const { propose } = real.node('n1')
    await propose(createTenant('acme'))
    await propose({
      type: 'createBucket',
      tenantId: 'acme',
      name: 'photos',
      bucketsMax: 10,
      versioning: 'Unversioned',
      objectLockEnabled: false,
    })
    await real.openSession()
    return real
  }

  /** Also after `stop`, with other weights. */
  async open(weights: readonly number[]): Promise<void> {
    const members = weights.map((weight, n): Member => {
      const peerAddress = `127.0.0.1:${this.#ports[n]}`
      return { nodeId: `n${n + 1}`, peerAddress, zone: `z${n + 1}`, weight }
    })
    this.nodes = await Promise.all(
      members.map((member) =>
        startNode(this.#root, { member, members, blobFiles: this.#filesOf(member.nodeId) }),
      ),
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ cluster }) => cluster.stop()))
  }

  node(nodeId: string): RealNode {
    const node = this.nodes.find((one) => one.nodeId === nodeId)
    if (node === undefined) throw new Error(`There is no node "${nodeId}"`)
    return node
  }

  async openSession(): Promise<string> {
    const { cluster, propose } = this.node('n1')
    this.#session = cluster.blobs.nextSession()
    await propose({ type: 'openSession', session: this.#session, node: 'n1', keep: [] })
    return this.#session
  }

  /** Copies on disks under a birth of the present session, or of `session`, through a node; no row names them yet. */
  async upload(seed: number, session = this.#session, through = 'n1'): Promise<Upload> {
    const sample = sampleBlob(seed, seed % 2 === 0 ? PACKED_BYTES : FILED_BYTES)
    const birth = `${session}-${(this.#births++).toString(36)}`
    const blob = { ...sample, birth }
    const { replicas, missing } = await this.node(through).cluster.blobs.write(blob)
    const { id, size, checksum } = blob
    return { blob, ref: { id, birth, size, checksum, replicas, owner: 'acme' }, missing }
  }

  /** One object of these chunks. */
  async commit(uploads: readonly Upload[]): Promise<void> {
    const chunks = uploads.map(({ ref, missing }) => {
      const { id, birth, size, checksum, replicas } = ref
      const sizes = { size, sealedSize: size }
      return { id: id as string, birth, ...sizes, checksum, existing: false, replicas, missing }
    })
    const reply = await this.node('n1').propose(putChunks(`object-${this.#puts++}`, chunks))
    if (!reply.ok) throw new Error(reply.message)
  }

  /** The nodes that the rows of n1 list for the blob. */
  listed({ id, birth }: BlobRef): readonly string[] {
    const chunk = this.node('n1').reader.get(chunkKeys.chunk('acme', id as string))
    return chunk?.birth === birth ? chunk.replicas : []
  }
}

/** The uploads with a copy on the node's own disk, damaged or not, as `<id>.<birth>`. */
export async function copiesOn(
  { cluster, nodeId }: RealNode,
  uploads: readonly { readonly ref: BlobRef }[],
): Promise<string[]> {
  const held: string[] = []
  for (const { ref } of uploads) {
    const [own] = cluster.blobs.copies({ ...ref, replicas: [nodeId] })
    try {
      for await (const piece of own?.read(0, 1) ?? []) void piece
      held.push(`${ref.id}.${ref.birth}`)
    } catch (cause) {
      if (!(cause instanceof BlobMissingError)) throw cause
    }
  }
  return held.sort()
}

/** Changes the only place that holds these bytes, a separate file or a pack. */
export async function flipBit(directory: string, { bytes }: SampleBlob): Promise<void> {
  const found = await placeOf(directory, bytes)
  if (found === null) throw new Error(`No file below ${directory} holds these bytes`)
  // In place: a reader that has the file open must see the change.
  const file = await open(found.path, 'r+')
  try {
    await file.write(Uint8Array.of(found.byte ^ 4), 0, 1, found.at)
  } finally {
    await file.close()
  }
}

/** The position of a byte near their end. The node keeps running: other files may vanish between listing and reading. */
async function placeOf(directory: string, bytes: Uint8Array) {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const content = entry.isFile() ? await readFile(path).catch(() => null) : null
    const start = content?.indexOf(bytes) ?? -1
    if (content === null || start < 0) continue
    const at = start + bytes.length - 100
    return { path, at, byte: content.readUInt8(at) }
  }
  return null
}

interface NewNode {
  readonly member: Member
  readonly members: readonly Member[]
  readonly blobFiles: FileOps
}

async function startNode(root: string, newcomer: NewNode): Promise<RealNode> {
  const { member, members, blobFiles } = newcomer
  const { nodeId } = member
  const dataDir = join(root, nodeId)
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger: SILENT })
  const propose = createPropose({ propose: (command) => proposed(cluster, command) })
  const copyLedger = createCopyLedger(reader, propose, {
    reachesLevel: (level, withinMs) => cluster.reachesLevel(level, withinMs),
  })
  const options = { clusterId: 'real', nodeId, dataDir, listen: member.peerAddress, members, tls: null }
  const raft = {
    heartbeatMs: 100,
    electionTimeoutMs: ELECTION_MS,
    logKeepEntries: 10_000,
    logKeepBytes: 1 << 24,
    logPinBytes: 2 ** 26,
  }
  const cluster: Cluster = await createCluster(
    { ...options, ...raft, fingerprint: 'key', scrubEveryMs: SCRUB_EVERY_MS },
    { stateMachine, copyLedger, logger: SILENT, blobFiles },
  )
  return { nodeId, cluster, reader, propose, directory: join(dataDir, 'blobs') }
}

/** Elections of a busy machine may outlast the deadline of a proposal; one that reached no leader has changed nothing. */
async function proposed(cluster: Cluster, command: Uint8Array): ReturnType<Cluster['propose']> {
  let reply: Uint8Array | null = null
  await until('a leader takes the command', async () => {
    reply = await cluster.propose(command).catch((cause: unknown) => {
      if (cause instanceof Condition && cause.code === 'no_leader') return null
      throw cause
    })
    return reply !== null
  })
  return reply ?? new Uint8Array()
}

/** All ports stay bound until all are known, so that no two are equal. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports: number[] = []
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (typeof address === 'object' && address !== null) ports.push(address.port)
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
