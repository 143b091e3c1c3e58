/**
 * `node scripts/bench/sync.ts [--files 2000] [--bytes 1024] [--turns 3] [--build DIR,DIR]`: what `holdfast sync` of many small files takes, up and down, when
 * all of them are new and when none has changed. With `--build` the nodes and the command line of other checkouts run in turns with this one.
 *
 * Owns: the measurement over three nodes on loopback of each build. Rule: no figure is judged here; the load of the machine is printed with them. Processor
 * time is that of the command, and of its nodes meanwhile, which depends less on other load than the time by the clock. Linux only.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../local/options.ts'
import { ROOT } from '../supply-chain/lockfile.ts'
import { freshCluster, type MeasuredCluster } from './cluster.ts'
import { makeBucket } from './log-in.ts'
import { Processes } from './processes.ts'
import { percentile } from './statistics.ts'

const FILES_A_FOLDER = 100
/** Long before any object is stored, as files mostly are. */
const FILE_TIME_SECONDS = 1_500_000_000
const TICKS_A_SECOND = 100
const STEPS = ['up, all new', 'up, unchanged', 'down, all new', 'down, unchanged'] as const

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '2000' },
    bytes: { type: 'string', default: '1024' },
    turns: { type: 'string', default: '3' },
    build: { type: 'string', default: '' },
  },
})
const files = wholeNumber(values.files, '--files', { min: 1, max: 100_000 })
const bytes = wholeNumber(values.bytes, '--bytes', { min: 0, max: 1024 * 1024 })
const turns = wholeNumber(values.turns, '--turns', { min: 1, max: 20 })

interface Build {
  readonly name: string
  readonly cluster: MeasuredCluster
  readonly program: string
  readonly figures: Record<(typeof STEPS)[number], Spent[]>
}

interface Spent {
  readonly seconds: number
  readonly commandSeconds: number
  readonly nodeSeconds: number
}

/** The first that exists: earlier releases had them elsewhere. */
function fileIn(folder: string, ...places: readonly string[]): string {
  const found = places.map((place) => join(folder, place)).find((file) => existsSync(file))
  if (found === undefined) throw new UsageError(`'${folder}' is no checkout with ${places.join(' or ')}`)
  return found
}

async function started(folder: string): Promise<Build> {
  const cluster = await freshCluster(
    null,
    fileIn(folder, 'scripts/local/cluster.ts', 'scripts/local-cluster.ts'),
  )
  await makeBucket(cluster, 'sync')
  const program = fileIn(folder, 'dist/bundle/main.js', 'dist/src/main.js', 'src/main.ts')
  const figures = { 'up, all new': [], 'up, unchanged': [], 'down, all new': [], 'down, unchanged': [] }
  return { name: basename(folder), cluster, program, figures }
}

/** Of the children that have ended. [proc_pid_stat(5)] */
function childSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND
}

async function synced({ cluster, program }: Build, from: string, to: string): Promise<Spent> {
  const processes = Processes.of(cluster.pids)
  processes?.startMeasuring()
  const [start, before] = [performance.now(), childSeconds()]
  const env = {
    PATH: process.env['PATH'],
    HOLDFAST_ENDPOINT: cluster.endpoints.join(','),
    HOLDFAST_ACCESS_KEY_ID: cluster.accessKeyId,
    HOLDFAST_SECRET_KEY: cluster.secretKey,
    HOLDFAST_TOKEN_CACHE: 'off',
  }
  const child = spawn(process.execPath, [program, 'sync', from, to, '--no-progress'], {
    env,
    stdio: ['ignore', 'ignore', 2],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`holdfast sync ${from} ${to} ended with ${code}`)
  const seconds = (performance.now() - start) / 1000
  const commandSeconds = childSeconds() - before
  return { seconds, commandSeconds, nodeSeconds: processes?.sinceStart().cpuSeconds ?? NaN }
}

function writeTree(folder: string): void {
  for (let n = 0; n < files; n++) {
    const place = join(folder, `${Math.floor(n / FILES_A_FOLDER)}`)
    mkdirSync(place, { recursive: true })
    const file = join(place, `${n}`)
    writeFileSync(file, Buffer.alloc(bytes, `${n} `))
    utimesSync(file, FILE_TIME_SECONDS, FILE_TIME_SECONDS)
  }
}

async function turn(build: Build, tree: string, back: string): Promise<void> {
  const remote = `sync/${basename(back)}`
  build.figures['up, all new'].push(await synced(build, tree, remote))
  build.figures['up, unchanged'].push(await synced(build, tree, remote))
  build.figures['down, all new'].push(await synced(build, remote, back))
  build.figures['down, unchanged'].push(await synced(build, remote, back))
}

function print(builds: readonly Build[]): void {
  const load = loadavg().map((one) => one.toFixed(1))
  console.log(
    `${files} files of ${bytes} bytes, medians of ${turns} turns, seconds; ${availableParallelism()} cores, load ${load.join(' ')}`,
  )
  console.log('| build | step | by the clock | processor of the command | processor of three nodes |')
  console.log('|---|---|---:|---:|---:|')
  for (const step of STEPS)
    for (const { name, figures } of builds) {
      const of = (take: (spent: Spent) => number): string =>
        (percentile(Float64Array.from(figures[step], take).sort(), 0.5) ?? NaN).toFixed(2)
      const cells = [of((one) => one.seconds), of((one) => one.commandSeconds), of((one) => one.nodeSeconds)]
      console.log(`| ${[name, step, ...cells].join(' | ')} |`)
    }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-sync-'))
const builds: Build[] = []
try {
  const others = values.build === '' ? [] : values.build.split(',')
  for (const checkout of [...others, ROOT]) builds.push(await started(checkout))
  const tree = join(folder, 'tree')
  writeTree(tree)
  for (let n = 0; n < turns; n++)
    for (const [at, build] of builds.entries()) await turn(build, tree, join(folder, `back-${at}-${n}`))
  print(builds)
} finally {
  await Promise.all(builds.map(({ cluster }) => cluster.stop()))
  rmSync(folder, { recursive: true, force: true })
}
