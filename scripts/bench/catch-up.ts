/**
 * `node scripts/bench/catch-up.ts [--objects N] [--away S] [--concurrency C] [--keep-entries K] [--keep-bytes B]`: how long a node that
 * was away, and one that is empty, need to become equal while the others write as fast as this machine permits.
 *
 * Owns: the measurement, of four real nodes of one process with their logs, states and sockets. Rule: no figure is judged here; bytes,
 * entries and processor time are printed with the seconds, because all nodes and the load share the machine.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { type Cluster, createCluster, type Member } from '../../cluster/index.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore } from '../../src/store/open-store.ts'
import { freeBasePort } from '../local/free-ports.ts'
import { NO_COPIES } from './no-copies.ts'

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '5000' },
    away: { type: 'string', default: '5' },
    concurrency: { type: 'string', default: '64' },
    'keep-entries': { type: 'string', default: '250000' },
    'keep-bytes': { type: 'string', default: String(256 * 1024 ** 2) },
  },
})
const [OBJECTS, AWAY_S, CONCURRENCY] = [values.objects, values.away, values.concurrency].map(Number) as [
  number,
  number,
  number,
]
const [KEEP_ENTRIES, KEEP_BYTES] = [Number(values['keep-entries']), Number(values['keep-bytes'])]

/** Writes in flight while the state is filled: as many as a node accepts. Nothing is measured then. */
const FILL_CONCURRENCY = 960
/** Size of an inline body. Bytes. */
const BODY_BYTES = 256
/** A node counts as equal when it is behind by no more than this. Entries. */
const LAG_MAX = 50
const POLL_MS = 100
/** A catch-up that takes longer counts as failed. */
const CATCH_UP_MAX_S = 300
const NAMES = ['n1', 'n2', 'n3', 'n4'] as const

const root = mkdtempSync(join(tmpdir(), 'holdfast-catch-up-'))
const logger = pino({ level: 'silent' })
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

const base = await freeBasePort(NAMES.length, { from: 20_000, to: 30_000 })
const members: readonly Member[] = NAMES.map((nodeId, i) => ({
  nodeId,
  peerAddress: `127.0.0.1:${base + 10 * i}`,
  zone: '',
  weight: 1,
}))
const running = new Map<string, Cluster>()

async function start(nodeId: string): Promise<Cluster> {
  const dataDir = join(root, nodeId)
  mkdirSync(join(dataDir, 'state'), { recursive: true })
  const { stateMachine } = openStore({ dir: join(dataDir, 'state'), logger })
  const cluster = await createCluster(
    {
      clusterId: 'bench-catch-up',
      nodeId,
      dataDir,
      listen: members.find((member) => member.nodeId === nodeId)?.peerAddress ?? '',
      members,
      tls: null,
      fingerprint: 'bench',
      heartbeatMs: 100,
      electionTimeoutMs: 1_000,
      logKeepEntries: KEEP_ENTRIES,
      logKeepBytes: KEEP_BYTES,
      logPinBytes: 4 * 1024 ** 3,
    },
    {
      stateMachine,
      copyLedger: NO_COPIES,
      logger,
    },
  )
  running.set(nodeId, cluster)
  return cluster
}

async function stop(nodeId: string): Promise<void> {
  await running.get(nodeId)?.stop()
  running.delete(nodeId)
}

async function figure(cluster: Cluster | undefined, name: string): Promise<number> {
  const samples = (await cluster?.metrics()) ?? []
  return samples.find((row) => row.name === `holdfast_${name}`)?.value ?? 0
}

function leader(): Cluster | undefined {
  return [...running.values()].find((cluster) => cluster.isJobRunner())
}

function putOf(n: number): Command {
  const sealed = Buffer.alloc(BODY_BYTES, n)
  return {
    type: 'putObject',
    tenantId: 'acme',
    bucket: 'films',
    key: `k${(n * 2_654_435_761) % 2 ** 32}-${n}`,
    size: BODY_BYTES,
    etag: `${n}`,
    contentType: 'text/plain',
    checksums: {},
    metadata: {},
    masterKeyId: 'mk-1',
    body: { kind: 'inline', chunkId: `${n}`, sealed },
    precondition: { ifMatch: null, ifNoneMatch: null },
    idempotency: null,
    tags: {},
    retention: null,
    legalHold: false,
  }
}

let written = 0

/** Writes new objects until `isOver`, `CONCURRENCY` at a time. */
async function load(isOver: () => boolean, atOnce: number): Promise<void> {
  const one = async (): Promise<void> => {
    while (!isOver()) {
      const cluster = leader()
      if (cluster === undefined) await pause(POLL_MS)
      else await cluster.propose(encodeCommand(putOf(written++))).catch(() => pause(POLL_MS))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

async function begin(): Promise<void> {
  for (const nodeId of NAMES.slice(0, 3)) await start(nodeId)
  while (leader() === undefined) await pause(POLL_MS)
  await leader()?.reachesLevel(2, 30_000)
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  const setup: readonly Command[] = [
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: 'films', ...plain },
  ]
  for (const command of setup) await leader()?.propose(encodeCommand(command))
  const since = performance.now()
  await load(() => written >= OBJECTS, Math.max(CONCURRENCY, FILL_CONCURRENCY))
  const seconds = (performance.now() - since) / 1000
  process.stdout.write(
    `${written} objects filled in ${seconds.toFixed(0)} s, ${(written / seconds).toFixed(0)} a second\n`,
  )
}

interface CatchUp {
  readonly seconds: number | null
  readonly behind: number
  readonly rssMiB: number
  readonly windowMiB: number
  readonly processorS: number
  readonly writesPerS: number
}

/** From the start of the node until its state has caught up with the leader's, and stays so for a second. */
async function catchUp(nodeId: string): Promise<CatchUp> {
  const [since, processor, before] = [performance.now(), process.cpuUsage(), written]
  const cluster = await start(nodeId)
  let [behind, rss, window, equalSince] = [0, 0, 0, Number.POSITIVE_INFINITY]
  const elapsedS = (): number => (performance.now() - since) / 1000
  while (performance.now() - equalSince < 1_000 && elapsedS() < CATCH_UP_MAX_S) {
    const committed = await figure(leader(), 'raft_commit_index')
    const lag = committed - (await figure(cluster, 'raft_applied_index'))
    behind = Math.max(behind, lag)
    rss = Math.max(rss, process.memoryUsage.rss())
    window = Math.max(window, await figure(cluster, 'raft_log_window_bytes'))
    equalSince = lag <= LAG_MAX ? Math.min(equalSince, performance.now()) : Number.POSITIVE_INFINITY
    await pause(POLL_MS)
  }
  const { user, system } = process.cpuUsage(processor)
  const isEqual = Number.isFinite(equalSince)
  return {
    seconds: isEqual ? (equalSince - since) / 1000 : null,
    behind,
    rssMiB: rss / 1024 ** 2,
    windowMiB: window / 1024 ** 2,
    processorS: (user + system) / 1e6,
    writesPerS: (written - before) / elapsedS(),
  }
}

async function lineOf(what: string, nodeId: string, result: CatchUp): Promise<string> {
  const cluster = running.get(nodeId)
  const mib = async (name: string): Promise<string> =>
    `${((await figure(cluster, name)) / 1024 ** 2).toFixed(2)} MiB`
  const { seconds, behind, rssMiB, windowMiB, processorS, writesPerS } = result
  return [
    `${what}: ${seconds === null ? `not equal within ${CATCH_UP_MAX_S} s` : `equal after ${seconds.toFixed(1)} s`}`,
    `${behind} entries behind at most, ${writesPerS.toFixed(0)} writes/s meanwhile`,
    `${await figure(cluster, 'raft_snapshots_installed_total')} snapshots, fetched ${await mib('raft_snapshot_fetched_bytes_total')}, reused ${await mib('raft_snapshot_reused_bytes_total')}`,
    `window of the log ${windowMiB.toFixed(2)} MiB, read back by the leader ${await figure(leader(), 'raft_log_read_back_total')} entries`,
    `all nodes: ${processorS.toFixed(1)} s of processor, ${rssMiB.toFixed(0)} MiB`,
  ].join('; ')
}

async function measure(): Promise<readonly string[]> {
  await begin()
  const lines = [`${written} objects of ${BODY_BYTES} bytes, ${CONCURRENCY} writes in flight`]
  let isOver = false
  const writers = load(() => isOver, CONCURRENCY)
  try {
    const away = NAMES.slice(0, 3).find((nodeId) => running.get(nodeId) !== leader()) ?? 'n3'
    await stop(away)
    await pause(AWAY_S * 1000)
    lines.push(await lineOf(`away for ${AWAY_S} s`, away, await catchUp(away)))
    lines.push(await lineOf('empty', 'n4', await catchUp('n4')))
    return [...lines, `${written} objects at the end`]
  } finally {
    isOver = true
    await writers
  }
}

try {
  const before = loadavg()[0] ?? 0
  const lines = await measure()
  const loads = `load average ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}`
  process.stdout.write(`${[machine, ...lines].join('\n')}\n`)
} finally {
  await Promise.all([...running.keys()].map(stop))
  rmSync(root, { recursive: true, force: true })
}
