/**
 * `node scripts/bench/bucket-open.ts [--objects 1000000 --bytes 256 --rounds 200]`: how long one node takes for what the console asks when a bucket of very many objects is
 * opened: its counts, the buckets with their counts, the first page of what it holds.
 *
 * Owns: the measurement, from the request of a client on loopback to the last byte of the answer. Rules: the objects come from a seeded backup; the first round is of a node
 * that has just started, and stands beside the others; processor time of the node stands beside the time by the clock, because other work on the machine makes only the
 * second longer; no figure is judged here.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type DataClient, dataClient } from '../../src/client/clients.ts'
import { nodeProgram } from '../build/node-program.ts'
import { LoopbackCluster } from '../local/loopback-cluster.ts'
import { wholeNumber } from '../local/options.ts'
import { Processes } from './processes.ts'
import { seedBackup } from './seeded-backup.ts'
import { Latencies, percentile } from './statistics.ts'

const BUCKET = 'large'
const folder = mkdtempSync(join(tmpdir(), 'holdfast-open-'))
const say = (text: string): void => void process.stderr.write(`${text}\n`)

interface Sizes {
  readonly objects: number
  readonly bytes: number
  readonly rounds: number
}

type Asks = Readonly<Record<string, (client: DataClient) => Promise<unknown>>>

const ASKS: Asks = {
  'counts of the bucket': (client) => client.call('getBucketUsage', { params: { bucket: BUCKET } }),
  'buckets with counts': (client) => client.call('listBuckets', { query: { include: 'usage' } }),
  'first page, by folders': (client) =>
    client.call('listObjects', { params: { bucket: BUCKET }, query: { delimiter: '/', maxKeys: 1000 } }),
  'all three at once': (client) =>
    Promise.all(
      Object.entries(ASKS)
        .slice(0, 3)
        .map(([, ask]) => ask(client)),
    ),
}

/** Resolves with a cluster of one node that holds the objects. */
async function seeded(origin: LoopbackCluster, { objects, bytes }: Sizes): Promise<LoopbackCluster> {
  const client = dataClient(origin.target)
  await client.call('createBucket', { body: { name: BUCKET } })
  await client.close()
  await origin.signal('n1', 'SIGTERM')
  const { clusterId, tenantId } = origin.setup
  const dataDir = origin.plan[0]?.dataDir ?? ''
  const into = join(folder, 'seeded')
  mkdirSync(into)
  const { masterKeyFile } = origin
  await seedBackup({
    dataDir,
    masterKeyFile,
    clusterId,
    tenantId,
    bucket: BUCKET,
    folder: into,
    objects,
    bytes,
    say,
  })
  rmSync(dataDir, { recursive: true })
  return LoopbackCluster.start(join(folder, 'settings.yaml'), {
    nodes: 1,
    successorOf: origin,
    beforeStart: async ([node]) => {
      const words = ['--config', node?.configFile ?? '', '--from', `directory:${into}`]
      const run = spawnSync(process.execPath, [nodeProgram(), 'backup', 'restore', ...words], {
        stdio: 'inherit',
      })
      if (run.status !== 0) throw new Error(`holdfast backup restore ended with ${String(run.status)}`)
    },
  })
}

async function timed(ask: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await ask()
  return performance.now() - from
}

async function measure(client: DataClient, cluster: LoopbackCluster, rounds: number): Promise<void> {
  for (const [name, ask] of Object.entries(ASKS)) {
    const first = await timed(() => ask(client))
    const spent = new Latencies(rounds)
    const processes = Processes.of(cluster.pids)
    processes?.startMeasuring()
    for (let n = 0; n < rounds; n++) spent.add(await timed(() => ask(client)))
    const processor = ((processes?.sinceStart().cpuSeconds ?? NaN) * 1000) / rounds
    const sorted = spent.sorted()
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(sorted, share)?.toFixed(1))
    console.log(`| ${name} | ${first.toFixed(1)} | ${p50} | ${p99} | ${processor.toFixed(1)} |`)
  }
}

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '100000' },
    bytes: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '200' },
  },
})
const sizes: Sizes = {
  objects: wholeNumber(values.objects, '--objects', { min: 1, max: 10_000_000 }),
  bytes: wholeNumber(values.bytes, '--bytes', { min: 1, max: 8192 }),
  rounds: wholeNumber(values.rounds, '--rounds', { min: 10, max: 100_000 }),
}
writeFileSync(join(folder, 'settings.yaml'), `backup:\n  directory: ${JSON.stringify(folder)}\n`)
try {
  const origin = await LoopbackCluster.start(null, { nodes: 1 })
  const cluster = await seeded(origin, sizes)
  const client = dataClient(cluster.target)
  const { answer } = await client.call('getBucketUsage', { params: { bucket: BUCKET } })
  console.log(
    `${answer.objects} objects, ${answer.logicalBytes} bytes; load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores\n`,
  )
  console.log(
    '| asked | first, ms | p50, ms | p99, ms | processor of the node, ms |\n|---|---:|---:|---:|---:|',
  )
  await measure(client, cluster, sizes.rounds)
  await client.close()
  await cluster.stop()
  await origin.stop()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
