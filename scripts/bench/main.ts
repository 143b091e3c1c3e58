/**
 * `npm run bench`: the throughput of a cluster, and its cost.
 *
 * Owns: the sequence. The nodes are separate processes; this process runs only the clients.
 * Rule: standard output contains only the table, progress goes to standard error; no figure is judged here.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, totalmem } from 'node:os'
import { VERSION } from '../../src/base/version.ts'
import { bounds, syncAnchor } from './anchor.ts'
import { BLOWS, type FailoverFigures, measureFailover } from './failover.ts'
import { freshCluster, type MeasuredCluster, runningCluster, withCluster } from './cluster.ts'
import { runLoad } from './load.ts'
import { matrix, type Row } from './matrix.ts'
import { BENCH_USAGE, type BenchOptions, parseBenchOptions } from './options.ts'
import { measureRaft, RAFT_ROW, type RaftFigures } from './raft.ts'
import { Processes } from './processes.ts'
import { DURABILITY, figuresOf, type Report, type RowFigures } from './report.ts'
import { measureStreams, STREAMS_ROW } from './streams.ts'
import { tableOf } from './table.ts'
import { Workplace } from './workplace.ts'
import { UsageError } from '../local/options.ts'

/** Warm-up for the just-in-time compiler of the nodes; not counted. */
const WARM_UP_SECONDS_MAX = 3
const WARM_UP_SHARE = 0.2

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function measureRow(row: Row, seconds: number, processes: Processes | null): Promise<RowFigures> {
  say(`${row.name}: ${row.clients} clients, ${seconds} s ...`)
  await row.prepare()
  const { clients, operation } = row
  await runLoad({ clients, operation, seconds: Math.min(WARM_UP_SECONDS_MAX, WARM_UP_SHARE * seconds) })
  processes?.startMeasuring()
  const cpuBefore = process.cpuUsage()
  const load = await runLoad({ clients, operation, seconds })
  const { user, system } = process.cpuUsage(cpuBefore)
  const nodes = processes?.sinceStart() ?? null
  return figuresOf(row, { load, nodes, clientCpuSeconds: (user + system) / 1e6 })
}

async function measureFailovers(options: BenchOptions): Promise<readonly FailoverFigures[]> {
  const figures: FailoverFigures[] = []
  if (options.target !== null || options.failovers === 0) return figures
  for (const blow of BLOWS.filter(({ name: blow }) => isChosen(options, blow))) {
    say(`${blow.name}: ${options.failovers} fresh clusters ...`)
    figures.push(await measureFailover(blow, options.failovers))
  }
  return figures
}

async function measureRaftRow(options: BenchOptions): Promise<RaftFigures | null> {
  if (options.target !== null || !isChosen(options, RAFT_ROW)) return null
  return measureRaft({ clients: options.clients, seconds: options.seconds, say })
}

async function measure(options: BenchOptions, cluster: MeasuredCluster): Promise<readonly RowFigures[]> {
  const place = await Workplace.open(cluster)
  try {
    const { rows, objects } = matrix(place, options.clients)
    const chosen = rows.filter(({ name }) => isChosen(options, name))
    refuseEmptyChoice(options, rows, chosen)
    const processes = Processes.of(cluster.pids)
    const figures: RowFigures[] = []
    for (const row of chosen) figures.push(await measureRow(row, options.seconds, processes))
    if (options.target === null && isChosen(options, STREAMS_ROW)) {
      say(`${STREAMS_ROW}, at most ${options.seconds} s ...`)
      figures.push(await measureStreams(place, options.seconds, processes))
    }
    if (options.target !== null) await place.remove(objects)
    return figures
  } finally {
    await place.close()
  }
}

const isChosen = ({ only }: BenchOptions, name: string): boolean => name.includes(only ?? '')

function refuseEmptyChoice(options: BenchOptions, rows: readonly Row[], chosen: readonly Row[]): void {
  const others = [...BLOWS.map(({ name }) => name), RAFT_ROW, STREAMS_ROW]
  if (chosen.length > 0 || others.some((name) => isChosen(options, name))) return
  const names = [...rows.map(({ name }) => name), ...others].map((name) => `'${name}'`).join(', ')
  throw new UsageError(`--only '${options.only}' matches none of: ${names}`)
}

async function report(options: BenchOptions): Promise<Report> {
  const startedAt = new Date().toISOString()
  const [load = 0] = loadavg()
  const measured = await withCluster(
    options.target === null ? await freshCluster(options.configFile) : runningCluster(options.target),
    async (cluster) => {
      const anchor = () => (cluster.folder === null ? null : syncAnchor(cluster.folder))
      const syncBefore = anchor()
      const bound = cluster.folder === null ? null : bounds(cluster.folder)
      const rows = await measure(options, cluster)
      return { syncBefore, syncAfter: anchor(), bounds: bound, rows }
    },
  )
  return {
    version: VERSION,
    startedAt,
    node: process.versions.node,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    loadBefore: process.platform === 'win32' ? null : load,
    durability: DURABILITY,
    ...measured,
    failovers: await measureFailovers(options),
    raft: await measureRaftRow(options),
  }
}

async function main(): Promise<number> {
  try {
    const options = parseBenchOptions(process.argv.slice(2))
    if (options === null) {
      process.stdout.write(BENCH_USAGE)
      return 0
    }
    const figures = await report(options)
    process.stdout.write(tableOf(figures))
    if (options.jsonFile !== null) writeFileSync(options.jsonFile, `${JSON.stringify(figures, null, 2)}\n`)
    const errors = [...figures.rows, ...(figures.raft?.turns ?? [])].some((row) => row.errors > 0)
    return errors ? 1 : 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return error.cause === undefined ? 1 : 2
  }
}

process.exitCode = await main()
