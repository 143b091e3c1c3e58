/**
 * `npm run failover`: how long writes are impossible when the leader is killed, and when it hands over.
 *
 * Owns: the two series, the report, the goals. Rule: every round counts in the figures, also the slow ones.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { VERSION } from '../../src/base/version.ts'
import { percentile } from '../bench/statistics.ts'
import { LoopbackCluster } from '../local/loopback-cluster.ts'
import { FailoverLoad } from './load.ts'
import { loseLeader, type RoundFigures } from './round.ts'
import { UsageError, wholeNumber } from '../local/options.ts'

const USAGE = `npm run failover -- [--kills N] [--transfers N] [--json FILE] [--config FILE]

  --kills N        how often the leader is killed with SIGKILL, 0 to 10000 (default 100)
  --transfers N    how often it is stopped with SIGTERM and hands over first, 0 to 10000 (default 100)
  --json FILE      the same report as JSON
  --config FILE    settings (YAML) for the nodes, over the defaults
`

/** Far less than the validity of a token. */
const ROUNDS_A_TOKEN = 50

interface Series {
  readonly name: string
  readonly signal: NodeJS.Signals
  readonly goals: Readonly<Record<'p50' | 'p99', number>>
}

const KILL: Series = {
  name: 'kill -9 of the leader',
  signal: 'SIGKILL',
  goals: { p50: 1500, p99: 3000 },
}
const TRANSFER: Series = {
  name: 'transfer by SIGTERM to the leader',
  signal: 'SIGTERM',
  goals: { p50: 250, p99: 250 },
}

/** By share, in milliseconds. */
type Spread = Readonly<Record<'p50' | 'p90' | 'p99' | 'max', number | null>>

interface SeriesReport {
  readonly name: string
  readonly rounds: number
  readonly gapMs: Spread
  readonly slowestNodeMs: Spread
  readonly steadyMs: Spread
  readonly noticedMs: Spread
  readonly electedMs: Spread
  readonly goals: Series['goals']
  readonly isMet: boolean
  readonly failures: number
  readonly each: readonly RoundFigures[]
}

function spreadOf(values: readonly (number | null)[]): Spread {
  const sorted = Float64Array.from(values.filter((value) => value !== null)).sort()
  const at = (share: number): number | null => {
    const value = percentile(sorted, share)
    return value === null ? null : Math.round(value * 10) / 10
  }
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}

function reportOf({ name, goals }: Series, each: readonly RoundFigures[]): SeriesReport {
  const slowestNodeMs = spreadOf(each.map((round) => round.slowestNodeMs))
  const isUnder = (share: 'p50' | 'p99'): boolean =>
    (slowestNodeMs[share] ?? Number.POSITIVE_INFINITY) < goals[share]
  return {
    name,
    rounds: each.length,
    gapMs: spreadOf(each.map(({ gapMs }) => gapMs)),
    slowestNodeMs,
    steadyMs: spreadOf(each.map(({ steadyMs }) => steadyMs)),
    noticedMs: spreadOf(each.map(({ noticedMs }) => noticedMs)),
    electedMs: spreadOf(each.map(({ electedMs }) => electedMs)),
    goals,
    isMet: isUnder('p50') && isUnder('p99'),
    failures: each.flatMap(({ failures }) => failures).length,
    each,
  }
}

async function measure(
  series: Series,
  rounds: number,
  { cluster, load }: { readonly cluster: LoopbackCluster; readonly load: FailoverLoad },
): Promise<SeriesReport> {
  const each: RoundFigures[] = []
  while (each.length < rounds) {
    if (each.length % ROUNDS_A_TOKEN === 0) await load.logIn()
    const figures = await loseLeader(cluster, load, series.signal)
    each.push(figures)
    process.stderr.write(
      `${series.name} ${each.length}/${rounds}: ${figures.gapMs.toFixed(0)} ms, slower node ${figures.slowestNodeMs.toFixed(0)} ms\n`,
    )
  }
  return reportOf(series, each)
}

function textOf(report: SeriesReport): string {
  const line = (what: string, { p50, p90, p99, max }: Spread): string =>
    `  ${what.padEnd(44)} p50 ${p50 ?? '-'}  p90 ${p90 ?? '-'}  p99 ${p99 ?? '-'}  max ${max ?? '-'} ms`
  const { goals, failures } = report
  return [
    `${report.name}, ${report.rounds} rounds on one cluster:`,
    line('no write acknowledged through any survivor', report.gapMs),
    line('... through the slower survivor', report.slowestNodeMs),
    line('... just before the signal, for comparison', report.steadyMs),
    line('signal until a survivor detected the loss', report.noticedMs),
    line('signal until a survivor led', report.electedMs),
    `  goal: p50 < ${goals.p50} ms and p99 < ${goals.p99} ms through the slower survivor: ${report.isMet ? 'met' : 'MISSED'}`,
    `  writes through survivors that failed: ${failures}`,
    '',
  ].join('\n')
}

function options() {
  try {
    return parseArgs({
      options: {
        kills: { type: 'string', default: '100' },
        transfers: { type: 'string', default: '100' },
        json: { type: 'string' },
        config: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

async function run(values: ReturnType<typeof options>): Promise<number> {
  const bounds = { min: 0, max: 10_000 }
  const kills = wholeNumber(values.kills, '--kills', bounds)
  const transfers = wholeNumber(values.transfers, '--transfers', bounds)
  const machine = {
    cores: availableParallelism(),
    loadBefore: loadavg()[0],
    startedAt: new Date().toISOString(),
  }
  const cluster = await LoopbackCluster.start(values.config === undefined ? null : resolve(values.config))
  const interrupted = (): void => void cluster.stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const load = await FailoverLoad.open(cluster.target)
    const world = { cluster, load }
    const series = [await measure(KILL, kills, world), await measure(TRANSFER, transfers, world)]
    await load.close()
    const done = series.filter(({ rounds }) => rounds > 0)
    process.stdout.write(done.map(textOf).join('\n'))
    const report = { version: VERSION, node: process.versions.node, ...machine, series: done }
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
    return done.every(({ isMet }) => isMet) ? 0 : 1
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    await cluster.stop()
  }
}

async function main(): Promise<number> {
  try {
    const values = options()
    if (!values.help) return await run(values)
    process.stdout.write(USAGE)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    return error.cause === undefined ? 1 : 2
  }
}

process.exitCode = await main()
