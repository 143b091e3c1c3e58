/**
 * Three nodes whose heaps are small, with the largest requests of each kind at once: uploads, downloads, ranges, completions, documents of
 * buckets, batch deletes, pages of listings. No node ends, every answer is a success or a 503 with Retry-After, and acknowledged data is
 * present.
 *
 * HOLDFAST_HEAP_MIB: heap of each node. HOLDFAST_PARTS: number of equal parts of 5 MiB of the object. HOLDFAST_PART_KIB: parts of this
 * size instead, no two equal, at nodes that accept parts below 5 MiB. The output holds the peak memory of each node.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { nodeProgram, sourceProgram } from '../../scripts/build/node-program.ts'
import { type Asked, ProcessCluster, serverCommand, sha256 } from '../helpers/process-cluster.ts'

const HEAP_MIB = Number(process.env['HOLDFAST_HEAP_MIB'] ?? 96)
const PARTS = Number(process.env['HOLDFAST_PARTS'] ?? 8)
/** All memory of a node, heap, buffers and caches together: the requirement in RELIABILITY.md. MiB */
const NODE_MIB_MAX = 768
const MIB = 1024 * 1024
const PART_KIB = Number(process.env['HOLDFAST_PART_KIB'] ?? 0)
const PART_BYTES = PART_KIB === 0 ? 5 * MIB : PART_KIB * 1024
const SMALL_PARTS = fileURLToPath(new URL('../helpers/small-parts.ts', import.meta.url))
const RANGE_BYTES = 4 * MIB
/** More chunks than an upload has in flight. */
const LARGE_BYTES = 16 * MIB
const LARGE_AT_ONCE = 12
const LANES = 24
const KEYS = 1_000
const KEY_CHARACTERS_MAX = 1_024
const PAUSE_MS = 250
/** A batch is four entries; each may wait as long as a proposal may. */
const ANSWER_MS_MAX = 120_000

const skip = process.platform === 'linux' ? false : 'how much memory a process held is read from /proc'

function largestMib(pid: number): number {
  const [, kib = ''] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}

class Clients {
  readonly answers = new Map<string, number>()
  /** Answers that are neither a success nor a 503 with Retry-After. */
  readonly unexpected: string[] = []
  readonly wrong: string[] = []
  readonly #cluster: ProcessCluster
  readonly #stored = new Map<string, string>()
  #turn = 0

  constructor(cluster: ProcessCluster) {
    this.#cluster = cluster
  }

  /** One request, at the next node. Null: it was refused temporarily. */
  async asked(asked: Asked): Promise<Buffer | null> {
    const { plan } = this.#cluster
    const { nodeId = '' } = plan[this.#turn++ % plan.length] ?? {}
    const path = `/buckets/work${asked.path}`
    const { status, headers, body } = await this.#cluster
      .ask(nodeId, { timeoutMs: ANSWER_MS_MAX, ...asked, path })
      .catch((cause) => {
        throw new Error(`${asked.method} ${path} at ${nodeId} got no answer`, { cause })
      })
    const code = status < 300 ? 'done' : (JSON.parse(body.toString()) as { code: string }).code
    this.answers.set(code, (this.answers.get(code) ?? 0) + 1)
    if (status < 300) return body
    if (status !== 503 || headers['retry-after'] === undefined)
      this.unexpected.push(`${asked.method} ${asked.path}: ${status} ${code}`)
    return null
  }

  /** Repeats the request until it succeeds. */
  async insisted(asked: Asked): Promise<Buffer> {
    for (;;) {
      const body = await this.asked(asked)
      if (body !== null) return body
      if (this.unexpected.length > 0) throw new Error(this.unexpected.join('; '))
      await wait(PAUSE_MS)
    }
  }

  async put(key: string, body: Buffer): Promise<void> {
    if ((await this.asked({ method: 'PUT', path: `/objects/${key}`, body })) !== null)
      this.#stored.set(key, sha256(body))
  }

  keys(prefix: string): readonly string[] {
    return [...this.#stored.keys()].filter((key) => key.startsWith(prefix))
  }

  async get(key: string): Promise<void> {
    const read = await this.asked({ method: 'GET', path: `/objects/${key}` })
    if (read !== null && sha256(read) !== this.#stored.get(key)) this.wrong.push(key)
  }
}

/** Large bodies are equal, so they are on the disks once. */
function partOf(number: number): Buffer {
  return bodyOf(PART_BYTES, PART_KIB === 0 ? 1 : number)
}

async function uploadInParts(t: Test, clients: Clients): Promise<void> {
  const start = performance.now()
  const alike = PART_KIB === 0 ? partOf(1) : null
  const started = await clients.insisted({ method: 'POST', path: '/multipart/parts' })
  const { uploadId } = JSON.parse(started.toString()) as { uploadId: string }
  const etags = new Map<number, string>()
  let next = 1
  const lane = async (): Promise<void> => {
    while (next <= PARTS) {
      const partNumber = next++
      const path = `/multipart/${uploadId}/parts/${partNumber}/parts`
      const stored = await clients.insisted({ method: 'PUT', path, body: alike ?? partOf(partNumber) })
      if (partNumber % 1_000 === 0) t.comment(`${partNumber} parts after ${seconds(start)} s`)
      etags.set(partNumber, (JSON.parse(stored.toString()) as { etag: string }).etag)
    }
  }
  await Promise.all(Array.from({ length: PART_KIB === 0 ? 6 : 2 * LANES }, lane))
  const parts = Array.from({ length: PARTS }, (_, n) => ({
    partNumber: n + 1,
    etag: etags.get(n + 1) ?? '',
  }))
  t.comment(`${PARTS} parts stored after ${seconds(start)} s`)
  const completion = performance.now()
  const path = `/multipart/${uploadId}/complete/parts`
  await clients.insisted({ method: 'POST', path, body: JSON.stringify({ parts }) })
  t.comment(`completed in ${seconds(completion)} s`)
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1)
}

/** Ranges all over the object, across part boundaries. */
async function readRanges(clients: Clients): Promise<void> {
  const ranges = Array.from({ length: LANES }, async (_, n) => {
    const from = Math.floor((n * (PARTS * PART_BYTES - RANGE_BYTES)) / (LANES - 1))
    const first = Math.floor(from / PART_BYTES) + 1
    const last = Math.floor((from + RANGE_BYTES - 1) / PART_BYTES) + 1
    const headers = { range: `bytes=${from}-${from + RANGE_BYTES - 1}` }
    const read = await clients.insisted({ method: 'GET', path: '/objects/parts', headers })
    const parts = Array.from({ length: last - first + 1 }, (_part, m) => partOf(first + m))
    const at = from % PART_BYTES
    const expected = Buffer.concat(parts).subarray(at, at + RANGE_BYTES)
    if (!expected.equals(read)) clients.wrong.push(`parts from ${from}`)
  })
  await Promise.all(ranges)
}

/** The largest documents that a bucket may have. */
async function describeBucket(cluster: ProcessCluster, clients: Clients): Promise<void> {
  const origins = Array.from({ length: 9 }, () => `https://${'x'.repeat(245)}`)
  const rules = Array.from({ length: 26 }, () => ({ allowedOrigins: origins, allowedMethods: ['GET'] }))
  const configs = Array.from({ length: 100 }, (_, n) => ({
    id: `hook-${n}`,
    url: `https://hooks.example.com/${'x'.repeat(1_900)}`,
    events: ['object-created'],
    prefix: `${n}-`.padEnd(KEY_CHARACTERS_MAX, 'x'),
    suffix: 'x'.repeat(KEY_CHARACTERS_MAX),
  }))
  const resources = Array.from({ length: 70 }, (_, n) => `arn:aws:s3:::work/${n}-${'x'.repeat(220)}*`)
  const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: resources }
  const policy = { Version: '2012-10-17', Statement: [statement] }
  const path = `/tenants/${cluster.setup.tenantId}/buckets/work/policy`
  for (let round = 0; round < 4; round += 1)
    await Promise.all([
      clients.asked({ method: 'PUT', path: '/cors', body: JSON.stringify({ rules }) }),
      clients.asked({ method: 'PUT', path: '/notifications', body: JSON.stringify({ configs }) }),
      cluster.admin('n2', { method: 'PUT', path, body: policy }).then(({ status, body }) => {
        if (status !== 200 && status !== 503) clients.unexpected.push(`policy: ${status} ${body.toString()}`)
      }),
    ])
}

async function runsWithinBounds(t: Test, cluster: ProcessCluster): Promise<void> {
  for (const { nodeId } of cluster.plan) {
    t.ok(cluster.isRunning(nodeId), `${nodeId} runs`)
    const mib = largestMib(cluster.pid(nodeId))
    t.comment(`${nodeId} held ${mib} MiB at most`)
    t.ok(mib <= NODE_MIB_MAX, `${nodeId} held ${mib} MiB at most`)
  }
}

t.test(`three nodes with heaps of ${HEAP_MIB} MiB`, { skip, timeout: 900_000 + PARTS * 1000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3, null, {
    launch: (node) => {
      const hooks = PART_KIB === 0 ? [] : ['--import', SMALL_PARTS]
      const main = PART_KIB === 0 ? nodeProgram() : sourceProgram()
      const [program = '', ...args] = serverCommand(node, main)
      return { command: [program, `--max-old-space-size=${HEAP_MIB}`, ...hooks, ...args] }
    },
  })
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')
  const clients = new Clients(cluster)
  const numbers = Array.from({ length: KEYS }, (_, n) => n)
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < KEYS; n += LANES) await clients.put(`small-${n}`, Buffer.from(`${n}`))
  }
  await Promise.all(numbers.slice(0, LANES).map(lane))
  await Promise.all(
    numbers.slice(0, LARGE_AT_ONCE).map((n) => clients.put(`large-${n}`, bodyOf(LARGE_BYTES, n))),
  )
  await uploadInParts(t, clients)
  await describeBucket(cluster, clients)
  await runsWithinBounds(t, cluster)
  const longNames = numbers.map((n) => ({ key: `${n}-`.padEnd(KEY_CHARACTERS_MAX, 'x') }))
  const removals = [clients.keys('small-').map((key) => ({ key })), longNames, longNames]
  await Promise.all([
    readRanges(clients),
    ...clients.keys('large-').map((key) => clients.get(key)),
    ...numbers.slice(0, 12).map(() => clients.asked({ method: 'GET', path: '/objects?maxKeys=1000' })),
    ...removals.map((objects) =>
      clients.asked({ method: 'POST', path: '/objects:batchDelete', body: JSON.stringify({ objects }) }),
    ),
  ])
  await runsWithinBounds(t, cluster)
  t.same(clients.wrong, [], 'nothing was read wrong')
  t.comment(`answers: ${JSON.stringify([...clients.answers])}`)
  t.same(clients.unexpected, [], 'every answer is a success or a 503 with Retry-After')
})

/** No two pages of it are equal. */
function bodyOf(size: number, seed: number): Buffer {
  const body = Buffer.alloc(size)
  for (let position = 0; position < size; position += 4096)
    body.writeUInt32LE(seed * 7919 + position, position)
  return body
}
