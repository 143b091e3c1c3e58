/**
 * `npm run bench:replication [-- --objects 2000 --bytes 1024 --large 4 --mib 128 --nodes 3]`: how fast a bucket is sent to a second cluster, with many small
 * objects and with large ones, and how far a change is behind.
 *
 * Owns: the measurement over two clusters on loopback. Rules: nodes are processes as they are shipped; processor time of both sides stands beside wall time, because other work
 * on the machine makes only the second longer; what was sent is compared at the end; no figure is judged here.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type DataClient, dataClient } from '../../src/client/clients.ts'
import { LoopbackCluster } from '../local/loopback-cluster.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { Processes } from './processes.ts'
import { type ReplicationFigures, replicationTable, type SentSpan } from './replication-figures.ts'

const BUCKET = 'sent'
const WRITERS = 8
const POLL_MS = 20
const SINGLE_CHANGES = 20
const MIB = 1024 ** 2

interface Sizes {
  readonly objects: number
  readonly bytes: number
  readonly large: number
  readonly mib: number
  readonly nodes: number
}

interface Site {
  readonly cluster: LoopbackCluster
  readonly client: DataClient
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function started(settings: string | null, nodes: number): Promise<Site> {
  const cluster = await LoopbackCluster.start(settings, { nodes })
  const client = dataClient(cluster.target)
  await client.call('createBucket', { body: { name: BUCKET, versioning: 'Enabled' } })
  return { cluster, client }
}

async function store(client: DataClient, keys: readonly string[], body: Uint8Array): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    for (let key = keys[next++]; key !== undefined; key = keys[next++])
      await client.call('putObject', { params: { bucket: BUCKET, key }, headers: {}, body })
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

async function statusOf(client: DataClient) {
  return (await client.call('getReplicationStatus', { params: { bucket: BUCKET } })).answer
}

/** Until nothing waits; returns the lags that were seen. */
async function sent(client: DataClient): Promise<readonly number[]> {
  const lags: number[] = []
  for (;;) {
    const { pending, failed, lagSeconds, lastError } = await statusOf(client)
    if (failed > 0) throw new Error(`${failed} changes were given up: ${String(lastError)}`)
    if (pending === 0) return lags
    lags.push(lagSeconds)
    await wait(POLL_MS)
  }
}

async function span(here: Site, there: Site, keys: readonly string[], body: Uint8Array): Promise<SentSpan> {
  const processes = [here, there].map(({ cluster }) => Processes.of(cluster.pids))
  for (const one of processes) one?.startMeasuring()
  const start = performance.now()
  await store(here.client, keys, body)
  const writtenSeconds = (performance.now() - start) / 1000
  const lags = await sent(here.client)
  const sentSeconds = (performance.now() - start) / 1000
  const [processorHere = 0, processorThere = 0] = processes.map((one) => one?.sinceStart().cpuSeconds ?? NaN)
  say(`${keys.length} objects are there after ${sentSeconds.toFixed(1)} s`)
  const bytes = keys.length * body.length
  return { objects: keys.length, bytes, writtenSeconds, sentSeconds, processorHere, processorThere, lags }
}

/** ms from the acknowledgement here until it is read there. */
async function single(here: Site, there: Site, n: number): Promise<number> {
  const params = { bucket: BUCKET, key: `single/${n}` }
  await here.client.call('putObject', { params, headers: {}, body: Buffer.from(`${n}`) })
  const start = performance.now()
  for (;;) {
    const isThere = await there.client.call('headObject', { params }).then(
      () => true,
      () => false,
    )
    if (isThere) return performance.now() - start
    await wait(1)
  }
}

async function measured(here: Site, there: Site, sizes: Sizes): Promise<ReplicationFigures> {
  const { accessKeyId, secretKey, endpoints } = there.cluster.target
  const target = { endpoint: endpoints[0] ?? '', bucket: BUCKET, accessKeyId, secretKey }
  await here.client.call('setBucketReplication', { params: { bucket: BUCKET }, body: { target } })
  const lags: number[] = []
  for (let n = 0; n < SINGLE_CHANGES; n++) {
    lags.push(await single(here, there, n))
    await sent(here.client)
  }
  const keys = (kind: string, count: number) => Array.from({ length: count }, (_, n) => `${kind}/${n}`)
  const small = await span(here, there, keys('small', sizes.objects), randomBytes(sizes.bytes))
  const large = await span(here, there, keys('large', sizes.large), randomBytes(sizes.mib * MIB))
  for (let continuationToken: string | undefined, isDone = false; !isDone; ) {
    const body = continuationToken === undefined ? {} : { continuationToken }
    const { answer } = await here.client.call('compareBucketReplication', {
      params: { bucket: BUCKET },
      body,
    })
    if (answer.differences.length > 0)
      throw new Error(`Not the same: ${JSON.stringify(answer.differences[0])}`)
    continuationToken = answer.nextContinuationToken
    isDone = continuationToken === undefined
  }
  return { small, large, single: lags }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      objects: { type: 'string', default: '2000' },
      bytes: { type: 'string', default: '1024' },
      large: { type: 'string', default: '4' },
      mib: { type: 'string', default: '128' },
      nodes: { type: 'string', default: '3' },
    },
  })
  const sizes = {
    objects: wholeNumber(values.objects, '--objects', { min: 1, max: 400_000 }),
    bytes: wholeNumber(values.bytes, '--bytes', { min: 1, max: MIB }),
    large: wholeNumber(values.large, '--large', { min: 1, max: 1000 }),
    mib: wholeNumber(values.mib, '--mib', { min: 1, max: 1024 }),
    nodes: wholeNumber(values.nodes, '--nodes', { min: 1, max: 3 }),
  }
  const before = loadavg()[0]?.toFixed(1) ?? '?'
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-replication-'))
  const sites: Site[] = []
  try {
    const there = await started(null, sizes.nodes)
    sites.push(there)
    const settings = join(folder, 'settings.yaml')
    const [origin = ''] = there.cluster.target.endpoints
    writeFileSync(settings, `notifications:\n  allow_http: true\n  allow_origins: ["${origin}"]\n`)
    const here = await started(settings, sizes.nodes)
    sites.push(here)
    const figures = await measured(here, there, sizes)
    const after = loadavg()[0]?.toFixed(1) ?? '?'
    const lines = [
      ...replicationTable(figures),
      `${sizes.nodes} nodes at each site; Node ${process.versions.node}, ${availableParallelism()} cores, load average ${before} before and ${after} after`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
  } finally {
    for (const { client, cluster } of sites) {
      await client.close()
      await cluster.stop()
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
