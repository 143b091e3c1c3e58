/**
 * `npm run bench:s3 [-- --rounds N --seconds S]`: the same objects through the native API and through the S3 API, turn by turn in one run.
 *
 * Owns: the turns and the table. Rules: the ways alternate, so that what else happens on the machine meets all of them; `native + MD5` claims a digest that S3 has
 * to compute for its etag, so that the cost of MD5 stands apart from the cost of the API.
 */
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../local/options.ts'
import { type Asked, BenchClient } from './client.ts'
import { freshCluster, type MeasuredCluster, withCluster } from './cluster.ts'
import { runLoad } from './load.ts'
import { logIn, makeBucket } from './log-in.ts'
import { BenchObjects } from './objects.ts'
import { Processes } from './processes.ts'
import { S3Signer } from './s3-signer.ts'
import { columnsOf } from './table.ts'

const KIB = 1024
const BUCKET = 'bench-s3'
const KINDS = [
  { label: '4 KiB', bytes: 4 * KIB, clients: 32, storedMin: 500 },
  { label: '64 MiB', bytes: 64 * KIB * KIB, clients: 2, storedMin: 2 },
] as const
const WAYS = ['native', 'native + MD5', 's3'] as const
type Way = (typeof WAYS)[number]

interface Turn {
  readonly perSecond: number
  readonly nodeCpuMs: number
}

/** Connections of each client, and what each way sends. */
class Ways {
  readonly #target: MeasuredCluster
  readonly #token: string
  readonly #signer: S3Signer
  readonly #clients = new Map<string, BenchClient>()

  constructor(target: MeasuredCluster, token: string) {
    this.#target = target
    this.#token = token
    this.#signer = new S3Signer(target)
  }

  async put(way: Way, objects: BenchObjects, client: number): Promise<void> {
    const index = objects.next()
    const md5 =
      way === 'native + MD5'
        ? { 'content-md5': createHash('md5').update(bytesOf(objects, index)).digest('base64') }
        : {}
    const asked = {
      method: 'PUT',
      path: this.#path(way, objects, index),
      body: objects.body(index),
      headers: md5,
    } as const
    const { status } = await this.#ask(way, { ...asked, bodyBytes: objects.size }, client)
    if (status !== 200) throw new Error(`PUT gave ${status}`)
    objects.keep({ index, node: client % this.#target.endpoints.length })
  }

  async get(way: Way, objects: BenchObjects, index: number, client: number): Promise<void> {
    const answer = await this.#ask(way, { method: 'GET', path: this.#path(way, objects, index) }, client)
    if (answer.status !== 200 || answer.bytes !== objects.size)
      throw new Error(`GET gave ${answer.status} with ${answer.bytes} bytes`)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()))
  }

  #path(way: Way, objects: BenchObjects, index: number): string {
    const key = objects.key(index)
    return way === 's3' ? `/${BUCKET}/${key}` : `/buckets/${BUCKET}/objects/${key}`
  }

  #ask(way: Way, asked: Asked, client: number): ReturnType<BenchClient['ask']> {
    const endpoint = this.#target.endpoints[client % this.#target.endpoints.length] ?? ''
    const name = `${way === 's3'} ${client}`
    let found = this.#clients.get(name)
    if (found === undefined) {
      found =
        way === 's3' ? new BenchClient(endpoint, null, { root: '' }) : new BenchClient(endpoint, this.#token)
      this.#clients.set(name, found)
    }
    if (way !== 's3') return found.ask(asked)
    return found.ask({
      ...asked,
      headers: this.#signer.headers(asked.method, asked.path, new URL(endpoint).host),
    })
  }
}

function bytesOf(objects: BenchObjects, index: number): Buffer {
  return Buffer.concat([...objects.pieces(index)])
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

interface Options {
  readonly rounds: number
  readonly seconds: number
}

async function measure(cluster: MeasuredCluster, { rounds, seconds }: Options): Promise<string> {
  await makeBucket(cluster, BUCKET)
  const ways = new Ways(cluster, await logIn(cluster))
  const processes = Processes.of(cluster.pids)
  const figures = new Map<string, Turn[]>()
  const turn = async (row: string, way: Way, load: Parameters<typeof runLoad>[0]): Promise<void> => {
    processes?.startMeasuring()
    const { latencies, seconds: took, errors, firstError } = await runLoad(load)
    if (errors > 0) throw new Error(`${row}, ${way}: ${firstError}`)
    const cpu = processes?.sinceStart().cpuSeconds ?? Number.NaN
    const turns = figures.get(`${row}|${way}`) ?? []
    figures.set(`${row}|${way}`, [
      ...turns,
      { perSecond: latencies.count / took, nodeCpuMs: (cpu * 1000) / latencies.count },
    ])
  }
  try {
    for (const { label, bytes, clients, storedMin } of KINDS) {
      const objects = new BenchObjects(label.replace(' ', ''), bytes)
      while (objects.stored.length < storedMin) await ways.put('native', objects, 0)
      for (let round = 0; round <= rounds; round++)
        for (const way of WAYS) {
          let next = 0
          const put = (client: number) => ways.put(way, objects, client)
          const get = (client: number) => ways.get(way, objects, next++ % storedMin, client)
          const isWarmUp = round === 0
          const load = { clients, seconds: isWarmUp ? Math.min(2, seconds) : seconds }
          const kept = isWarmUp ? `warm-up ${label}` : null
          await turn(kept ?? `PUT ${label}`, way, { ...load, operation: put })
          if (way !== 'native + MD5') await turn(kept ?? `GET ${label}`, way, { ...load, operation: get })
        }
    }
  } finally {
    await ways.close()
  }
  return tableOf(figures)
}

interface TableRow {
  readonly row: string
  readonly way: string
  readonly turns: readonly Turn[]
  readonly native: readonly Turn[]
}

function tableOf(figures: ReadonlyMap<string, readonly Turn[]>): string {
  const rows: readonly TableRow[] = [...figures]
    .filter(([name]) => !name.startsWith('warm-up'))
    .map(([name, turns]) => {
      const [row = '', way = ''] = name.split('|')
      return { row, way, turns, native: figures.get(`${row}|native`) ?? [] }
    })
  const rate = (turns: readonly Turn[]): number => median(turns.map(({ perSecond }) => perSecond))
  const cpu = (turns: readonly Turn[]): number => median(turns.map(({ nodeCpuMs }) => nodeCpuMs))
  return columnsOf<TableRow>(
    [
      { title: 'operation', of: ({ row }) => row },
      { title: 'API', of: ({ way }) => way },
      { title: 'ops/s', of: ({ turns }) => rate(turns).toPrecision(3) },
      {
        title: 'of native',
        of: ({ turns, native }) => `${((100 * rate(turns)) / rate(native)).toFixed(0)} %`,
      },
      { title: 'node CPU ms/op', of: ({ turns }) => cpu(turns).toPrecision(3) },
      { title: 'of native', of: ({ turns, native }) => `${((100 * cpu(turns)) / cpu(native)).toFixed(0)} %` },
    ],
    rows,
  ).join('\n')
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '6' } },
})
const options = {
  rounds: wholeNumber(values.rounds, '--rounds', { min: 1, max: 100 }),
  seconds: wholeNumber(values.seconds, '--seconds', { min: 1, max: 600 }),
}
process.stdout.write(
  `${await withCluster(await freshCluster(null), (cluster) => measure(cluster, options))}\n`,
)
