/**
 * How much work an operation is, counted instead of timed: flushes, messages, rows, barriers, allocations of three real nodes.
 *
 * `node test/process/work.test.ts --rewrite` makes the table of bounds again from what it measures, with the margins of work-bounds.ts: after a
 * change that lowers a figure, so that it stays lowered. A figure that rises is a regression, or has its reason in the commit that raises the bound.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { sourceProgram } from '../../scripts/build/node-program.ts'
import { until } from '../helpers/async.ts'
import { type Asked, ProcessCluster, serverCommand, temporaryFolder } from '../helpers/process-cluster.ts'
import {
  type Bounds,
  boundsFor,
  excesses,
  leastOf,
  figureNames,
  type Figures,
  rounded,
  without,
} from '../helpers/work-bounds.ts'
import type { WorkCounts } from '../helpers/work-counter.ts'

const TABLE = 'test/process/work-bounds.json'
const TABLE_FILE = fileURLToPath(new URL('./work-bounds.json', import.meta.url))
const COUNTER = fileURLToPath(new URL('../helpers/work-counter.ts', import.meta.url))
const KIB = 1024
/** A multiple of the nodes: each gets as many, whichever leads. */
const ALONE = 15
const AT_ONCE = 60
const LISTED = 100
/** Two chunks. Their random bytes cannot be compressed. */
const LARGE = 8 * KIB * KIB
/** Of large bodies, which come alone only. */
const LARGE_ALONE = 3
/** Counted without a request. */
const IDLE_SECONDS = 5
/** No collection may fall between two samples: the space for young objects is larger than what a measurement allocates. */
const YOUNG_MIB = 128
const ATTEMPTS_MAX = 3
/** Objects of each size at least, which reads ask for again and again. */
const STORED = 2 * AT_ONCE
/** A figure above its bound is measured again: what runs beside the operations comes by time. */
const MEASUREMENTS_MAX = 4
/** As many as all measurements of one operation can ask for. */
const DELETED_MAX = AT_ONCE + MEASUREMENTS_MAX * ATTEMPTS_MAX * (AT_ONCE + ALONE)
/** Rarely, so that a slow machine counts few of them between two samples. */
const PACE = 'cluster: { heartbeat: 1s, election_timeout: 10s }\nlogging: { level: warn }\n'
const skip = process.platform !== 'linux'
/** So many equal samples in a row mean that the work of the operations is done. */
const EQUAL_SAMPLES = 5

/** The sums of all nodes. */
interface Light extends WorkCounts {
  /** System calls that write. */
  readonly calls: number
}

interface Sample extends Light {
  readonly messages: number
  readonly entries: number
}

function summed<T extends object>(nodes: readonly T[]): T {
  const [first] = nodes
  if (first === undefined) throw new Error('there are no nodes')
  const sum = (name: string): number =>
    nodes.map((node) => Number(Reflect.get(node, name))).reduce((all, one) => all + one, 0)
  return Object.fromEntries(Object.keys(first).map((name) => [name, sum(name)])) as T
}

class Counting {
  /** Requests that were refused for a moment. */
  refused = 0
  readonly #cluster: ProcessCluster
  readonly #sockets: string

  static async start(t: Test): Promise<Counting> {
    const sockets = temporaryFolder(t)
    const young = `--max-semi-space-size=${YOUNG_MIB}`
    const cluster = await ProcessCluster.start(t, 3, PACE, {
      launch: (node) => {
        const [program = '', ...args] = serverCommand(node, sourceProgram())
        const flags = [
          '--expose-gc',
          '--no-memory-reducer',
          young,
          young.replace('max', 'min'),
          '--import',
          COUNTER,
        ]
        const env = { HOLDFAST_WORK_SOCKET: join(sockets, node.nodeId) }
        return { command: [program, ...flags, ...args], env }
      },
    })
    await cluster.login('n1')
    return new Counting(cluster, sockets)
  }

  private constructor(cluster: ProcessCluster, sockets: string) {
    this.#cluster = cluster
    this.#sockets = sockets
  }

  ask(at: number, asked: Asked): ReturnType<ProcessCluster['ask']> {
    return this.#cluster.ask(`n${1 + (at % 3)}`, asked)
  }

  /** When nothing is under way any more. */
  async settled(): Promise<void> {
    let last = ''
    let equal = 0
    await until('the nodes rest', async () => {
      const now = await this.#resting()
      equal = now === last ? equal + 1 : 0
      last = now
      return equal >= EQUAL_SAMPLES
    })
  }

  /** Costs the nodes nearly nothing. `collect` first frees what nothing uses. */
  async light({ collect = false } = {}): Promise<Light> {
    const nodes = await Promise.all(
      this.#cluster.plan.map(async ({ nodeId }) => {
        const counts = await this.#counts(nodeId, collect ? '/collect' : '/counts')
        const io = readFileSync(`/proc/${this.#cluster.pid(nodeId)}/io`, 'utf8')
        return { ...counts, calls: Number(/^syscw: (\d+)$/m.exec(io)?.[1]) }
      }),
    )
    return summed(nodes)
  }

  async sample(): Promise<Sample> {
    const metrics = await Promise.all(this.#cluster.plan.map(({ adminUrl }) => metricsOf(adminUrl)))
    return { ...(await this.light()), ...summed(metrics) }
  }

  async #resting(): Promise<string> {
    const { fileFlushes, levelFlushes, rowsWritten } = await this.light()
    return `${fileFlushes} ${levelFlushes} ${rowsWritten}`
  }

  #counts(nodeId: string, path: string): Promise<WorkCounts> {
    return new Promise((resolve, reject) => {
      const asked = httpRequest({ socketPath: join(this.#sockets, nodeId), path }, (answer) => {
        let text = ''
        answer.on('data', (piece) => (text += String(piece)))
        answer.on('end', () => resolve(JSON.parse(text) as WorkCounts))
      })
      asked.on('error', reject).end()
    })
  }
}

async function metricsOf(adminUrl: string): Promise<Pick<Sample, 'messages' | 'entries'>> {
  const { body } = await request(`${adminUrl}/metrics`)
  const lines = (await body.text()).split('\n')
  const all = (name: string): number =>
    lines
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
  const leads = all('holdfast_raft_is_leader') === 1
  return {
    messages: all('holdfast_peer_sent_messages_total'),
    entries: leads ? all('holdfast_raft_commit_index') : 0,
  }
}

interface Operation {
  readonly name: string
  /** The n-th request of this kind. */
  readonly asked: (n: number) => Asked
  readonly status: number
  /** Requests at least, for those who use what they stored. */
  readonly askedMin: number
  /** How many come alone, and none at once; by default ALONE, and AT_ONCE at once. */
  readonly onlyAlone?: number
}

function operations(): readonly Operation[] {
  const path = (name: string, n: number): string =>
    `/buckets/counted/objects/${name}-${String(n).padStart(6, '0')}`
  const put = (label: string, name: string, bytes: number, askedMin = STORED): Operation => ({
    name: `PUT ${label}`,
    // No two objects are equal: nothing is deduplicated.
    asked: (n) => ({ method: 'PUT', path: path(name, n), body: Buffer.alloc(bytes, `${name} ${n} `) }),
    status: 200,
    askedMin,
  })
  return [
    put('1 KiB', 'a', KIB, DELETED_MAX),
    put('4 KiB', 'b', 4 * KIB),
    put('64 KiB', 'c', 64 * KIB),
    {
      name: 'PUT 8 MiB',
      asked: (n) => ({ method: 'PUT', path: path('d', n), body: randomBytes(LARGE) }),
      status: 200,
      askedMin: 0,
      onlyAlone: LARGE_ALONE,
    },
    {
      name: 'GET 4 KiB',
      asked: (n) => ({ method: 'GET', path: path('b', n % STORED) }),
      status: 200,
      askedMin: 0,
    },
    {
      name: 'HEAD',
      asked: (n) => ({ method: 'HEAD', path: path('b', n % STORED) }),
      status: 200,
      askedMin: 0,
    },
    {
      name: `LIST ${LISTED} keys`,
      asked: () => ({ method: 'GET', path: `/buckets/counted/objects?maxKeys=${LISTED}` }),
      status: 200,
      askedMin: 0,
    },
    { name: 'DELETE', asked: (n) => ({ method: 'DELETE', path: path('a', n) }), status: 204, askedMin: 0 },
  ]
}

/** A crowded machine may refuse a request for a moment; what was counted meanwhile is counted again. */
async function ask(counting: Counting, { name, asked, status }: Operation, n: number): Promise<void> {
  await until(`${name} is not refused`, async () => {
    const answer = await counting.ask(n, asked(n))
    if (answer.status === status) return true
    if (answer.status !== 503) throw new Error(`${name} gave ${answer.status}: ${answer.body.toString()}`)
    counting.refused += 1
    return false
  })
}

interface Measured {
  readonly figures: Figures
  /** How long the operations took. */
  readonly ms: number
}

/** V8 may collect at a moment of its own: the same work is then counted once more. */
async function measured(counting: Counting, count: number, work: () => Promise<void>): Promise<Measured> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    let ms = 0
    const figures = await attempted(counting, count, async () => {
      const started = performance.now()
      await work()
      ms = performance.now() - started
    })
    if (figures !== null) return { figures, ms }
  }
  throw new Error(
    `${ATTEMPTS_MAX} times no ${count} operations could be counted: ${counting.refused} requests were refused since the start (is the machine overloaded?), or V8 collected (raise YOUNG_MIB)`,
  )
}

/** Null when a collection ran, or a request was refused. */
async function attempted(
  counting: Counting,
  count: number,
  work: () => Promise<void>,
): Promise<Figures | null> {
  await counting.settled()
  await counting.light({ collect: true })
  const start = await counting.sample()
  const lightStart = await counting.light()
  const { refused } = counting
  await work()
  const lightEnd = await counting.light()
  await counting.settled()
  const end = await counting.sample()
  if (lightEnd.collections > lightStart.collections || counting.refused > refused) return null
  const each = (of: (sample: Sample) => number): number => rounded((of(end) - of(start)) / count)
  const soon = (of: (sample: Light) => number): number => rounded((of(lightEnd) - of(lightStart)) / count)
  return {
    flushes: each(({ fileFlushes, levelFlushes }) => fileFlushes + levelFlushes),
    messages: each(({ messages }) => messages),
    calls: soon(({ calls }) => calls),
    entries: each(({ entries }) => entries),
    rowsWritten: each(({ rowsWritten }) => rowsWritten),
    rowsRead: each(({ rowsRead }) => rowsRead),
    barriers: each(({ barriers }) => barriers),
    heapKiB: soon(({ heapBytes }) => heapBytes / KIB),
    bufferKiB: soon(({ bufferBytes }) => bufferBytes / KIB),
  }
}

/** What the nodes do by themselves, the least of several measurements: some of their work comes once in many seconds. */
async function idle(counting: Counting): Promise<Figures> {
  const measurement = () => measured(counting, IDLE_SECONDS, () => wait(IDLE_SECONDS * 1000))
  let { figures: least } = await measurement()
  for (let n = 1; n < MEASUREMENTS_MAX; n++) least = leastOf(least, (await measurement()).figures)
  return least
}

t.test('how much work an operation is', { timeout: 1_800_000, skip }, async (t) => {
  const counting = await Counting.start(t)
  const made = await counting.ask(0, { method: 'POST', path: '/buckets', body: '{"name":"counted"}' })
  t.equal(made.status, 201)
  const isRewritten = process.argv.includes('--rewrite')
  const known = JSON.parse(readFileSync(TABLE_FILE, 'utf8')) as Bounds
  const figures: Record<string, Figures> = {}
  /**
   * What runs beside the operations only adds to them, so the least of several measurements is nearest to what they are. A slow machine gives it
   * more time: a figure above its bound is compared without what the nodes do in as much time without a request.
   */
  const measure = async (name: string, count: number, work: () => Promise<void>): Promise<void> => {
    let least = (await measured(counting, count, work)).figures
    for (let n = 1; n < MEASUREMENTS_MAX; n++) {
      if (!isRewritten && excesses({ [name]: least }, known, TABLE).length === 0) break
      const { figures: again, ms } = await measured(counting, count, work)
      const { figures: idle } = await measured(counting, count, () => wait(ms))
      least = leastOf(least, isRewritten ? again : without(again, idle))
    }
    figures[name] = least
  }
  for (const operation of operations()) {
    let next = 0
    const atOnce = async (): Promise<void> => {
      const requests = Array.from({ length: AT_ONCE }, () => ask(counting, operation, next++))
      await Promise.all(requests)
    }
    const { onlyAlone: alone = ALONE } = operation
    const one = async (): Promise<void> => {
      for (let n = 0; n < alone; n++) await ask(counting, operation, next++)
    }
    await (operation.onlyAlone === undefined ? atOnce() : one())
    await measure(`${operation.name} alone`, alone, one)
    if (operation.onlyAlone === undefined) await measure(`${operation.name} at once`, AT_ONCE, atOnce)
    while (next < operation.askedMin) await atOnce()
  }
  figures['a second without requests'] = await idle(counting)
  for (const [name, one] of Object.entries(figures))
    t.comment(`${name}: ${figureNames.map((figure) => `${figure} ${one[figure]}`).join(', ')}`)
  if (isRewritten) writeFileSync(TABLE_FILE, `${JSON.stringify(boundsFor(figures), null, 2)}\n`)
  const bounds = JSON.parse(readFileSync(TABLE_FILE, 'utf8')) as Bounds
  t.strictSame(excesses(figures, bounds, TABLE), [], 'no figure is above its bound')
  t.strictSame(Object.keys(bounds), Object.keys(figures), 'the table has every operation and no other')
})

t.test('a figure above its bound is stated with both values and the place of the bound', async (t) => {
  const all = (value: number) => Object.fromEntries(figureNames.map((figure) => [figure, value])) as Figures
  const one = all(2)
  for (const figure of figureNames) {
    const measured = { 'PUT at once': { ...one, [figure]: 2.01 } }
    t.match(excesses(measured, { 'PUT at once': one }, TABLE), [
      new RegExp(`^PUT at once: .*: 2\\.01 for an operation, at most 2 \\('${figure}' in ${TABLE}\\)$`),
    ])
  }
  t.strictSame(without({ ...one, calls: 3 }, { ...one, rowsRead: 5 }), { ...all(0), calls: 1 })
  t.equal(
    excesses({ 'PUT alone': one }, {}, TABLE).length,
    figureNames.length,
    'what has no bound is stated as well',
  )
  t.strictSame(excesses({ 'PUT alone': one }, boundsFor({ 'PUT alone': one }), TABLE), [], 'a new table fits')
})
