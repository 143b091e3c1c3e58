/**
 * `npm run race`: Holdfast beside another build of it and beside other systems, row by row, turn by turn.
 *
 * Owns: the order of the turns, and that nothing is left running. This process runs only the clients.
 * Rule: standard output carries only the page; progress goes to standard error.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { basename } from 'node:path'
import { etcdVersion } from '../bench/raft-system.ts'
import { UsageError } from '../local/options.ts'
import { startEtcdForRace } from './etcd.ts'
import { type Build, buildAt, ROOT, startHoldfast, startHoldfastS3 } from './holdfast.ts'
import { loadNow } from './machine.ts'
import { startMinio } from './minio.ts'
import { parseRaceOptions, RACE_USAGE, type RaceOptions, type SystemName } from './options.ts'
import { chartOf } from './chart.ts'
import { pageOf, type RaceReport } from './report.ts'
import { runningS3 } from './running-s3.ts'
import type { RaceSystem } from './system.ts'
import { runTurn, type Turn, type TurnPlan } from './turn.ts'

const STARTS_MAX = 3

const say = (text: string): void => void process.stderr.write(`${text}\n`)

interface Starter {
  readonly name: string
  readonly start: () => Promise<RaceSystem>
}

function startersOf(options: RaceOptions): readonly Starter[] {
  const { against, configFile, againstConfigFile, systems, running } = options
  const own = buildAt(ROOT, 'holdfast', configFile)
  const starters = [
    ...systems.map((name) => starterOf(name, own, options)),
    ...running.map((about) => ({ name: about.name, start: async () => runningS3(about) })),
  ]
  if (against === null) return starters
  const other = buildAt(against, `against ${basename(against)}`, againstConfigFile ?? configFile)
  return [...starters, { name: other.name, start: () => startHoldfast(other) }]
}

function starterOf(name: SystemName, own: Build, { programs }: RaceOptions): Starter {
  if (name === 'holdfast') return { name, start: () => startHoldfast(own) }
  if (name === 's3') return { name: 'holdfast S3', start: () => startHoldfastS3(own) }
  const file = programs[name] ?? name
  if (name === 'minio') return { name, start: () => startMinio(file) }
  const version = etcdVersion(file)
  if (version === null)
    throw new UsageError(`There is no etcd at '${file}': apt-get install etcd-server, or --etcd FILE`)
  return { name, start: () => startEtcdForRace(file, version) }
}

async function withSystem<T>(starter: Starter, work: (system: RaceSystem) => Promise<T>): Promise<T> {
  const starting = patiently(starter)
  const interrupted = (): void => {
    void starting
      .then((system) => system.stop())
      .catch(() => undefined)
      .finally(() => process.exit(130))
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const system = await starting
    try {
      return await work(system)
    } finally {
      await system.stop()
    }
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
  }
}

/** On a crowded machine nodes may not become ready in time; each attempt begins on an empty folder. */
async function patiently({ name, start }: Starter): Promise<RaceSystem> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof UsageError) || attempt === STARTS_MAX) throw error
      say(`${name} did not start (attempt ${attempt} of ${STARTS_MAX}): ${error.message}`)
    }
  }
}

async function race(options: RaceOptions): Promise<RaceReport> {
  const startedAt = new Date().toISOString()
  const loadBefore = loadNow()
  const starters = startersOf(options)
  const turns: Turn[] = []
  const plan: TurnPlan = { ...options, say }
  const { clients, seconds, operations, compareEach } = options
  for (let pass = 0; pass < options.passes; pass++)
    for (const starter of pass % 2 === 0 ? starters : starters.toReversed()) {
      say(`pass ${pass + 1} of ${options.passes}: ${starter.name}`)
      turns.push(await withSystem(starter, (system) => runTurn(system, plan)))
    }
  return {
    startedAt,
    node: process.versions.node,
    processors: availableParallelism(),
    memoryBytes: totalmem(),
    loadBefore,
    clients,
    seconds,
    operations,
    passes: options.passes,
    compareEach,
    systems: starters.map(({ name }) => name),
    turns,
  }
}

async function main(): Promise<number> {
  try {
    const options = parseRaceOptions(process.argv.slice(2))
    if (options === null) {
      process.stdout.write(RACE_USAGE)
      return 0
    }
    const report = await race(options)
    const page = pageOf(report)
    process.stdout.write(page)
    if (options.outFile !== null) {
      writeFileSync(options.outFile, page)
      writeFileSync(options.outFile.replace(/md$/, 'svg'), chartOf(report))
      writeFileSync(options.outFile.replace(/md$/, 'json'), `${JSON.stringify(report, null, 2)}\n`)
    }
    return report.turns.some(({ cells }) => cells.some(({ errors }) => errors > 0)) ? 1 : 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return error.cause === undefined ? 1 : 2
  }
}

process.exitCode = await main()
