/**
 * `node scripts/bench/edge-threads.ts [OPERATIONS] [ROUNDS] [NODES] [ROWS]`: processor time of the main thread, of the edge threads and of the whole node that
 * is asked, for an operation, with 0, 1 and 2 edge threads.
 *
 * Owns: the rounds and the page. Knows nothing of: where in a thread the time goes; `npm run profile` shows that.
 * Rules: the clusters of all settings run side by side and are loaded in turns, so that other work on the machine affects all of them; figures are medians of rounds, with the lowest
 * and the highest. The client is another process only in its connections: its time is not counted. Linux only.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeNumber } from '../local/options.ts'
import { grownSince, sampleThreads } from '../profile/threads.ts'
import { Field } from '../race/field.ts'
import { clusterProgram, holdfastSystem, ROOT, versionOf } from '../race/holdfast.ts'
import { type RaceRow, rowsOf } from '../race/rows.ts'
import { loadOf } from '../race/turn.ts'
import { freshCluster, leaderOf, type MeasuredCluster } from './cluster.ts'
import { runLoad } from './load.ts'
import { median } from './statistics.ts'

const SETTINGS = [0, 1, 2] as const
const CLIENTS = 64
const BOUND_SECONDS = 120

interface Place {
  readonly edges: number
  readonly pid: number
  readonly rows: readonly RaceRow[]
}

interface Figures {
  readonly main: number[]
  readonly edge: number[]
  readonly all: number[]
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function placeOf(cluster: MeasuredCluster, edges: number): Promise<Place> {
  const asked = await leaderOf(cluster)
  const system = holdfastSystem(cluster, { name: 'holdfast', version: '' })
  await system.open()
  const field = new Field(system, { compareEach: 64, only: asked })
  const plan = { clients: CLIENTS, seconds: BOUND_SECONDS, operations, chosen }
  const rows = rowsOf(field, plan)
  for (const row of rows) await row.prepare()
  return { edges, pid: cluster.pids[asked] ?? 0, rows }
}

async function loaded({ pid, rows }: Place, at: number, figures: Figures): Promise<void> {
  const row = rows[at]
  if (row === undefined) return
  const before = sampleThreads(pid)
  const { latencies, errors, firstError } = await runLoad({
    ...loadOf(row, operations),
    seconds: BOUND_SECONDS,
  })
  if (errors > 0) throw new Error(`${row.name}: ${errors} failed: ${firstError}`)
  const times = grownSince(before, pid)
  const each = (micros: number): number => micros / latencies.count
  figures.main.push(each(times.get('main') ?? 0))
  figures.edge.push(each(times.get('edge') ?? 0))
  figures.all.push(each([...times.values()].reduce((sum, micros) => sum + micros, 0)))
}

function shown(values: readonly number[]): string {
  const [middle, lowest, highest] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    Math.round(value).toLocaleString('en'),
  )
  return `${middle} (${lowest}, ${highest})`
}

const [operationsText = '2000', roundsText = '5', nodesText = '1', rowsText = 'get-4k,put-4k'] =
  process.argv.slice(2)
const chosen = rowsText.split(',')
const operations = wholeNumber(operationsText, 'OPERATIONS', { min: 100, max: 1_000_000 })
const rounds = wholeNumber(roundsText, 'ROUNDS', { min: 1, max: 100 })
const nodes = wholeNumber(nodesText, 'NODES', { min: 1, max: 3 })
const folder = mkdtempSync(join(tmpdir(), 'holdfast-edges-'))
const loadBefore = loadavg()[0] ?? 0
const clusters: MeasuredCluster[] = []
try {
  const places: Place[] = []
  for (const edges of SETTINGS) {
    say(`${edges} edge threads: objects are stored ...`)
    const file = join(folder, `${edges}.yaml`)
    writeFileSync(file, `node: { edge_threads: ${edges} }\n`)
    const cluster = await freshCluster(file, clusterProgram(ROOT), nodes)
    clusters.push(cluster)
    places.push(await placeOf(cluster, edges))
  }
  const print = (...lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)
  print('| row | edge threads | main thread | edge threads | node |', '|---|---:|---:|---:|---:|')
  for (const [at, id] of chosen.entries()) {
    const figures = places.map((): Figures => ({ main: [], edge: [], all: [] }))
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      say(`${id}, round ${round} of ${rounds} ...`)
      for (const [which, place] of places.entries()) {
        const kept = round === 0 ? undefined : figures[which]
        await loaded(place, at, kept ?? { main: [], edge: [], all: [] })
      }
    }
    for (const [which, { edges, rows }] of places.entries()) {
      const { main = [], edge = [], all = [] } = figures[which] ?? {}
      print(`| ${rows[at]?.name} | ${edges} | ${shown(main)} | ${shown(edge)} | ${shown(all)} |`)
    }
  }
  const loads = `load average ${loadBefore.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
  const machine = `Commit ${versionOf(ROOT)}, Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}`
  const plan = `${nodes} node(s) in each cluster, ${operations} operations a round of small rows, ${rounds} rounds.`
  print(
    '',
    `${machine}. ${plan} Microseconds of processor time an operation at the node that is asked: medians, the lowest and the highest in brackets.`,
  )
} finally {
  await Promise.all(clusters.map((cluster) => cluster.stop()))
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
