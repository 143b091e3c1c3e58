/**
 * `node scripts/bench/repair.ts [--copies 2000] [--bytes 16384]`: how fast a node makes owed copies, and how many entries of the log that takes.
 *
 * Owns: the measurement, over three real nodes of one process with their logs, states, disks and sockets. Rule: no figure is judged here; entries and
 * processor time are printed with the seconds, because all nodes share the machine.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { type BlobRef, type Cluster, createCluster, type Member } from '../../cluster/index.ts'
import { createPropose, type Propose } from '../../src/commands/propose.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { createCopyLedger } from '../../src/store/ledger/copy-ledger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { freeBasePort } from '../local/free-ports.ts'
import { wholeNumber } from '../local/options.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'

/** Chunks of one object. */
const CHUNKS_PER_PUT = 100
const WRITES_AT_ONCE = 32
/** Share of the owed copies that the rows of the node must name before the measurement starts. */
const OWED_LEAST = 0.95
const POLL_MS = 20
const NAMES = ['n1', 'n2', 'n3'] as const
/** The node that is down while the others store. */
const OWING = 'n3'

const { values } = parseArgs({
  options: { copies: { type: 'string', default: '2000' }, bytes: { type: 'string', default: '16384' } },
})
const copies = wholeNumber(values.copies, '--copies', { min: 100, max: 100_000 })
const bytesOfCopy = wholeNumber(values.bytes, '--bytes', { min: 100, max: 4 * 1024 ** 2 })
const root = mkdtempSync(join(tmpdir(), 'holdfast-bench-repair-'))
const logger = pino({ level: 'silent' })
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

interface BenchNode {
  readonly cluster: Cluster
  readonly propose: Propose
  readonly pending: () => number
}

async function start(nodeId: string, members: readonly Member[]): Promise<BenchNode> {
  const dataDir = join(root, nodeId)
  mkdirSync(join(dataDir, 'state'), { recursive: true })
  const { stateMachine, reader } = openStore({ dir: join(dataDir, 'state'), logger })
  const propose = createPropose({ propose: (command, how) => cluster.propose(command, how) }, reader)
  const copyLedger = createCopyLedger(reader, propose, {
    reachesLevel: (level, withinMs) => cluster.reachesLevel(level, withinMs),
  })
  const place = {
    listen: members.find((one) => one.nodeId === nodeId)?.peerAddress ?? '',
    members,
    tls: null,
  }
  const log = { logKeepEntries: 250_000, logKeepBytes: 2 ** 28, logPinBytes: 2 ** 30 }
  const about = { clusterId: 'bench-repair', nodeId, dataDir, fingerprint: 'bench' }
  const cluster: Cluster = await createCluster(
    { ...about, ...place, ...log, heartbeatMs: 100, electionTimeoutMs: 2_000 },
    { stateMachine, copyLedger, logger },
  )
  // No copy is made before the clock starts.
  if (nodeId === OWING) cluster.setRepairRate(1)
  return { cluster, propose, pending: () => reader.get(chunkKeys.repairTotal())?.count ?? 0 }
}

async function figure({ cluster }: BenchNode, name: string): Promise<number> {
  const samples = await cluster.metrics()
  return samples.find((row) => row.name === `holdfast_${name}`)?.value ?? 0
}

/** Copies on two disks, and one object for each CHUNKS_PER_PUT of them. */
async function store(node: BenchNode, session: string): Promise<void> {
  const refs: BlobRef[] = []
  const one = async (n: number): Promise<void> => {
    const bytes = randomBytes(bytesOfCopy)
    const checksum = createHash('sha256').update(bytes).digest('hex')
    const name = { id: checksum, birth: `${session}-${n.toString(36)}` }
    const { replicas } = await node.cluster.blobs.write({ ...name, bytes, checksum })
    refs.push({ ...name, size: bytesOfCopy, checksum, replicas, owner: 'acme' })
  }
  for (let first = 0; first < copies; first += WRITES_AT_ONCE) {
    const count = Math.min(WRITES_AT_ONCE, copies - first)
    await Promise.all(Array.from({ length: count }, (_, n) => one(first + n)))
  }
  for (let first = 0; first < copies; first += CHUNKS_PER_PUT)
    await node.propose(putOf(first, refs.slice(first, first + CHUNKS_PER_PUT)))
}

function putOf(n: number, refs: readonly BlobRef[]): Command {
  const chunks = refs.map(({ id, birth, size, checksum, replicas }) => {
    const missing = NAMES.filter((nodeId) => !replicas.includes(nodeId))
    return { id: id as string, birth, size, sealedSize: size, checksum, existing: false, replicas, missing }
  })
  return {
    type: 'putObject',
    tenantId: 'acme',
    bucket: 'films',
    key: `k${n}`,
    size: refs.length * bytesOfCopy,
    etag: `${n}`,
    contentType: 'text/plain',
    checksums: {},
    metadata: {},
    masterKeyId: 'mk-1',
    body: { kind: 'chunks', chunks, copiesMin: 2 },
    precondition: { ifMatch: null, ifNoneMatch: null },
    idempotency: null,
    tags: {},
    retention: null,
    legalHold: false,
  }
}

/** A node that was down while the others stored makes its owed copies; measured from when its rows name them. */
async function repaired(owing: BenchNode): Promise<void> {
  while (owing.pending() < copies * OWED_LEAST) await pause(POLL_MS)
  const entries = await figure(owing, 'raft_applied_index')
  const [made, owed] = [await figure(owing, 'repair_done_total'), owing.pending()]
  const [since, processor] = [performance.now(), process.cpuUsage()]
  owing.cluster.setRepairRate(null)
  while (owing.pending() > 0) await pause(POLL_MS)
  const seconds = (performance.now() - since) / 1000
  const { user, system } = process.cpuUsage(processor)
  const count = (await figure(owing, 'repair_done_total')) - made
  const used = (await figure(owing, 'raft_applied_index')) - entries
  const each = (user + system) / 1000 / Math.max(1, count)
  process.stdout.write(
    `${owed} copies of ${bytesOfCopy} bytes owed: ${(owed / seconds).toFixed(0)} a second, ${used} entries, ${each.toFixed(2)} ms of processor for each (all nodes)\n`,
  )
}

const base = await freeBasePort(NAMES.length, { from: 20_000, to: 30_000 })
const members: readonly Member[] = NAMES.map((nodeId, i) => ({
  nodeId,
  peerAddress: `127.0.0.1:${base + 10 * i}`,
  zone: nodeId,
  weight: 1,
}))
const others = NAMES.filter((nodeId) => nodeId !== OWING)
const nodes = await Promise.all(others.map((nodeId) => start(nodeId, members)))
try {
  while (!nodes.every(({ cluster }) => cluster.readiness().ready)) await pause(POLL_MS)
  const [node] = nodes
  if (node === undefined) throw new Error('there is no node')
  await node.cluster.reachesLevel(3, 30_000)
  const session = node.cluster.blobs.nextSession()
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  await node.propose({ type: 'createTenant', id: 'acme', name: 'acme', ...keys })
  await node.propose({ type: 'createBucket', tenantId: 'acme', name: 'films', ...plain })
  await node.propose({ type: 'openSession', session, node: 'n1', keep: [] })
  await store(node, session)
  const owing = await start(OWING, members)
  nodes.push(owing)
  await repaired(owing)
  process.stdout.write(
    `load averages ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}\n`,
  )
} finally {
  await Promise.all(nodes.map(({ cluster }) => cluster.stop()))
  rmSync(root, { recursive: true, force: true })
}
