/**
 * `node scripts/bench/soak.ts [--minutes 50] [--clients 64] [--rate 200] [--config FILE]`: what three nodes hold in memory while mixed small requests
 * come at one rate for a long time, and whether a leader was elected meanwhile.
 *
 * Owns: the pace, the samples, the page. Rules: the rate is bounded, because memory after a million requests is the question and not how fast they are;
 * a token of the clients is good for an hour, so the run is shorter. No figure is judged here.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../local/options.ts'
import { Field } from '../race/field.ts'
import { clusterProgram, holdfastSystem, ROOT, versionOf } from '../race/holdfast.ts'
import { rowsOf } from '../race/rows.ts'
import { loadOf } from '../race/turn.ts'
import { freshCluster, type MeasuredCluster, metricsOf, withCluster } from './cluster.ts'
import { type LoadResult, runLoad } from './load.ts'

const SAMPLE_MS = 60_000
const MIB = 1024 * 1024

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '50' },
    clients: { type: 'string', default: '64' },
    rate: { type: 'string', default: '200' },
    config: { type: 'string' },
  },
})

interface Options {
  readonly minutes: number
  readonly clients: number
  /** Requests a second of all clients together. */
  readonly rate: number
}

interface Sample {
  readonly minute: number
  /** Of each node, in the order of the endpoints. Bytes */
  readonly resident: readonly number[]
  readonly heap: readonly number[]
  /** Summed over the nodes: it rises by three for each election that all take part in. */
  readonly terms: number
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

function parseOptions(): Options {
  return {
    minutes: wholeNumber(values.minutes, '--minutes', { min: 1, max: 55 }),
    clients: wholeNumber(values.clients, '--clients', { min: 1, max: 1024 }),
    rate: wholeNumber(values.rate, '--rate', { min: 1, max: 100_000 }),
  }
}

/** Resolves when the caller may begin; callers begin in the order in which they asked. */
function pace(rate: number): () => Promise<void> {
  let due = performance.now()
  return async () => {
    due = Math.max(due + 1000 / rate, performance.now() - 1000)
    const early = due - performance.now()
    if (early > 0) await wait(early)
  }
}

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kib === undefined) throw new Error(`Cannot read the memory of ${pid}`)
  return 1024 * Number(kib)
}

function metric(page: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]
  if (value === undefined) throw new Error(`/metrics does not have ${name}`)
  return Number(value)
}

async function sampleOf(cluster: MeasuredCluster, minute: number): Promise<Sample> {
  const pages = await metricsOf(cluster)
  return {
    minute,
    resident: cluster.pids.map(residentBytes),
    heap: pages.map((page) => metric(page, 'nodejs_heap_size_used_bytes')),
    terms: pages.reduce((sum, page) => sum + metric(page, 'holdfast_raft_term'), 0),
  }
}

async function samplesUntil(cluster: MeasuredCluster, ended: Promise<unknown>): Promise<readonly Sample[]> {
  const start = performance.now()
  const samples: Sample[] = []
  const end = new AbortController()
  void ended.finally(() => end.abort())
  while (!end.signal.aborted) {
    const sample = await sampleOf(cluster, Math.round((performance.now() - start) / 60_000))
    say(rowOf(sample))
    samples.push(sample)
    await wait(SAMPLE_MS, undefined, { signal: end.signal }).catch(() => undefined)
  }
  return samples
}

function rowOf({ minute, resident, heap, terms }: Sample): string {
  const mib = (bytes: readonly number[]): string => bytes.map((one) => (one / MIB).toFixed(0)).join(' / ')
  return `| ${minute} | ${mib(resident)} | ${mib(heap)} | ${terms} |`
}

function pageOf(
  { clients, rate }: Options,
  samples: readonly Sample[],
  result: LoadResult,
): readonly string[] {
  const { latencies, errors, firstError, seconds } = result
  const failed = errors === 0 ? 'none failed' : `${errors} failed (${firstError})`
  return [
    `${clients} clients, at most ${rate} requests/s: ${latencies.count} requests in ${seconds.toFixed(0)} s, ${failed}.`,
    '',
    '| minute | resident, MiB (n1 / n2 / n3) | heap in use, MiB | terms, summed |',
    '|---:|---:|---:|---:|',
    ...samples.map(rowOf),
  ]
}

async function measured(cluster: MeasuredCluster, options: Options): Promise<readonly string[]> {
  const system = holdfastSystem(cluster, { name: 'holdfast', version: '' })
  await system.open()
  const field = new Field(system, { compareEach: 64, only: null })
  try {
    const seconds = 60 * options.minutes
    const plan = { clients: options.clients, seconds, operations: null, chosen: ['mixed'] }
    const [row] = rowsOf(field, plan)
    if (row === undefined) throw new Error('There is no mixed row')
    await row.prepare()
    const turn = pace(options.rate)
    const { operation, ...of } = loadOf(row, null)
    const paced = async (client: number): Promise<void> => {
      await turn()
      await operation(client)
    }
    const load = runLoad({ ...of, seconds, operation: paced })
    return pageOf(options, await samplesUntil(cluster, load), await load)
  } finally {
    field.close()
  }
}

try {
  const options = parseOptions()
  // Before the run: the checkout may change meanwhile.
  const [version, loadBefore] = [versionOf(ROOT), loadavg()[0] ?? 0]
  const cluster = await freshCluster(values.config ?? null, clusterProgram(ROOT))
  const lines = await withCluster(cluster, (one) => measured(one, options))
  const loads = `load average ${loadBefore.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
  const machine = `Commit ${version}, Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}`
  process.stdout.write(`${[machine, '', ...lines].join('\n')}\n`)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  say(error.message)
  process.exitCode = 2
}
