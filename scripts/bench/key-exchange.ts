/**
 * `node scripts/bench/key-exchange.ts [--objects 100000] [--rate 50]`: the data key of a tenant is exchanged on three nodes while clients write and read, and
 * the disks are looked through afterwards: which former copies are left, and what opens the image of a disk from before.
 *
 * Owns: the objects, the phases, the figures. Rules: the rate of the clients is the same before and during the exchange; delays of the event loop and times of
 * the processor are those of the nodes; no figure is judged here.
 */
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { request } from 'undici'
import { type DataClient, dataClient } from '../../src/client/clients.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { LoopbackCluster } from '../local/loopback-cluster.ts'
import { wholeNumber } from '../local/options.ts'
import { copiesOn, type DiskRows, opens, ringOf, rowsOn, withBlobs } from './disk-image.ts'
import { Processes } from './processes.ts'

const TENANT = 'demo'
const BUCKET = 'exchanged'
const WRITERS = 96
/** Half of the objects lie in rows, half in packs; each thousandth is a file of its own. */
const SMALL_BYTES = 1_024
const PACKED_BYTES = 9_216
const FILE_BYTES = 300_000
const BASELINE_MS = 30_000
const POLL_MS = 500
const SAMPLED = 500

const { values } = parseArgs({
  options: { objects: { type: 'string', default: '100000' }, rate: { type: 'string', default: '50' } },
})

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const seconds = (ms: number): string => (ms / 1000).toFixed(1)

interface Left {
  readonly chunksLeft: number
  readonly inlineBytesLeft: number
}

/** Clients at one rate, and how long each of their requests took. */
class PacedLoad {
  readonly #client: DataClient
  readonly #rate: number
  #times: number[] = []
  #failed = 0
  #isStopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(client: DataClient, rate: number) {
    this.#client = client
    this.#rate = rate
  }

  start(objects: number): void {
    this.#running = this.#run(objects)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  /** Of the requests since the last call. */
  figures(): string {
    const times = this.#times.toSorted((a, b) => a - b)
    const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1)
    const text = `${times.length} requests, ${this.#failed} failed, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
    this.#times = []
    this.#failed = 0
    return text
  }

  async #run(objects: number): Promise<void> {
    const under = new Set<Promise<void>>()
    for (let n = 0; !this.#isStopped; n++) {
      const one = this.#one(n, objects).finally(() => under.delete(one))
      under.add(one)
      if (under.size >= WRITERS) await Promise.race(under)
      await wait(1000 / this.#rate)
    }
    await Promise.all(under)
  }

  async #one(n: number, objects: number): Promise<void> {
    const startedAt = performance.now()
    try {
      if (n % 2 === 0)
        await put(this.#client, `load${n % 1000}`, randomBytes(n % 4 === 0 ? SMALL_BYTES : PACKED_BYTES))
      else await read(this.#client, keyOf(Math.floor(Math.random() * objects)))
      this.#times.push(performance.now() - startedAt)
    } catch {
      this.#failed += 1
    }
  }
}

const keyOf = (n: number): string => `o${n}`

async function put(client: DataClient, key: string, body: Buffer): Promise<void> {
  await client.call('putObject', { params: { bucket: BUCKET, key }, headers: {}, body })
}

async function read(client: DataClient, key: string): Promise<void> {
  const { answer } = await client.call('getObject', { params: { bucket: BUCKET, key } })
  await answer.toArray()
}

async function fill(client: DataClient, objects: number): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    for (let n = next++; n < objects; n = next++) {
      const size = n % 1000 === 999 ? FILE_BYTES : n % 2 === 0 ? SMALL_BYTES : PACKED_BYTES
      await put(client, keyOf(n), randomBytes(size))
      if (n % 10_000 === 0) say(`${n} objects`)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

/** p99 of the delay of the event loop of each node since it was asked last. */
async function delays(cluster: LoopbackCluster): Promise<string> {
  const lags = await Promise.all(
    cluster.plan.map(async ({ adminUrl }) => {
      const { body } = await request(`${adminUrl}/metrics`)
      const page = await body.text()
      const lag = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(page)?.[1]
      return lag === undefined ? '?' : (Number(lag) * 1000).toFixed(1)
    }),
  )
  return lags.join(' / ')
}

interface Phase {
  readonly name: string
  readonly ms: number
  readonly processor: number
  readonly lag: string
  readonly load: string
}

async function phase(
  name: string,
  cluster: LoopbackCluster,
  load: PacedLoad,
  work: () => Promise<void>,
): Promise<Phase> {
  load.figures()
  await delays(cluster)
  const processes = Processes.of(cluster.pids)
  processes?.startMeasuring()
  const startedAt = performance.now()
  await work()
  const ms = performance.now() - startedAt
  return {
    name,
    ms,
    processor: processes?.sinceStart().cpuSeconds ?? 0,
    lag: await delays(cluster),
    load: load.figures(),
  }
}

async function exchange(cluster: LoopbackCluster): Promise<void> {
  const path = `/tenants/${TENANT}/encryption`
  const ask = { nodeId: 'n1', path, status: 200 } as const
  await cluster.manage({
    ...ask,
    method: 'POST',
    path: `${path}/rotate`,
    body: { reason: 'measured' },
    status: 202,
  })
  for (let n = 0; ; n++) {
    const answer = await cluster.manage({ ...ask, method: 'GET' })
    const left = answer['exchange'] as Left | null
    if (left === null) return
    if (n % 60 === 0) say(`${left.chunksLeft} chunks and ${left.inlineBytesLeft} bytes of small bodies left`)
    await wait(POLL_MS)
  }
}

/** Bytes in packs are found by the births in the headers of their records, whether a name leads to them or not. */
function recordsIn(dataDir: string, births: ReadonlySet<string>): number {
  const packs = join(dataDir, 'blobs', 'packs')
  let found = 0
  for (const name of readdirSync(packs)) {
    const bytes = readFileSync(join(packs, name))
    for (let at = bytes.indexOf('HFRECD\r\n'); at !== -1; at = bytes.indexOf('HFRECD\r\n', at + 512)) {
      const length = bytes[at + 121] ?? 0
      if (births.has(bytes.toString('latin1', at + 122, at + 122 + length))) found += 1
    }
  }
  return found
}

async function examine(
  cluster: LoopbackCluster,
  image: string,
  before: DiskRows,
): Promise<readonly string[]> {
  const births = new Set(before.chunks.map(({ birth }) => birth))
  const lines: string[] = []
  for (const { nodeId, dataDir } of cluster.plan) {
    const { tenant, chunks } = await rowsOn(dataDir, TENANT)
    const copies = await copiesOn(dataDir)
    const left = [...copies].filter((copy) => births.has(copy.slice(copy.indexOf('.') + 1))).length
    const named = chunks.filter(
      ({ birth, keyVersion }) => births.has(birth) || keyVersion !== tenant.dataKeyVersion,
    ).length
    lines.push(
      `${nodeId}: key version ${tenant.dataKeyVersion ?? 1}, former key ${tenant.formerKey === undefined ? 'gone' : 'there'}; of ${births.size} former chunks ${named} named by rows, ${left} under a name on the disk, ${recordsIn(dataDir, births)} records without a name in packs that are not compacted yet`,
    )
  }
  const [first] = cluster.plan
  if (first === undefined) return lines
  const { masterKeyFile } = loadConfig(first.configFile, {}).security
  const after = await rowsOn(first.dataDir, TENANT)
  const [old, now] = [await ringOf(before.tenant, masterKeyFile), await ringOf(after.tenant, masterKeyFile)]
  const step = Math.max(1, Math.floor(before.chunks.length / SAMPLED))
  const sampled = before.chunks.filter(({ replicas }, n) => n % step === 0 && replicas.includes('n3'))
  const count = async (ring: typeof old): Promise<number> =>
    withBlobs(image, async (store) => {
      let opened = 0
      for (const chunk of sampled) if (await opens(store, chunk, ring)) opened += 1
      return opened
    })
  return [
    ...lines,
    `Image of n3 from before, ${sampled.length} chunks: ${await count(old)} open with the key of its time, ${await count(now)} with the keys of now`,
  ]
}

async function measure(
  cluster: LoopbackCluster,
  objects: number,
  rate: number,
  image: string,
): Promise<readonly string[]> {
  const client = dataClient(cluster.target)
  try {
    await client.call('createBucket', { body: { name: BUCKET } })
    const startedAt = performance.now()
    await fill(client, objects)
    say(`stored in ${seconds(performance.now() - startedAt)} s`)
    await cluster.signal('n3', 'SIGTERM')
    cpSync(cluster.plan.find(({ nodeId }) => nodeId === 'n3')?.dataDir ?? '', image, { recursive: true })
    cluster.startNode('n3')
    await cluster.ready('n3')
    const before = await rowsOn(image, TENANT)
    const load = new PacedLoad(client, rate)
    load.start(objects)
    const phases = [
      await phase('before', cluster, load, () => wait(BASELINE_MS)),
      await phase('exchange', cluster, load, () => exchange(cluster)),
      await phase('after', cluster, load, () => wait(BASELINE_MS)),
    ]
    await load.stop()
    for (const { nodeId } of cluster.plan) await cluster.signal(nodeId, 'SIGTERM')
    return [
      `${objects} objects, ${before.chunks.length} chunks, clients at ${rate} requests/s`,
      '',
      '| phase | s | processor of all nodes, s | event loop p99, n1 / n2 / n3, ms | clients |',
      '|---|---:|---:|---|---|',
      ...phases.map(
        ({ name, ms, processor, lag, load: of }) =>
          `| ${name} | ${seconds(ms)} | ${processor.toFixed(1)} | ${lag} | ${of} |`,
      ),
      '',
      ...(await examine(cluster, image, before)),
    ]
  } finally {
    await client.close()
  }
}

const objects = wholeNumber(values.objects, '--objects', { min: 10, max: 10_000_000 })
const rate = wholeNumber(values.rate, '--rate', { min: 1, max: 10_000 })
const image = mkdtempSync(join(tmpdir(), 'holdfast-image-'))
const cluster = await LoopbackCluster.start(null)
try {
  const lines = await measure(cluster, objects, rate, image)
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, load average ${(loadavg()[0] ?? 0).toFixed(1)} after`
  process.stdout.write(`${[machine, '', ...lines].join('\n')}\n`)
} finally {
  await cluster.stop()
  rmSync(image, { recursive: true, force: true })
}
