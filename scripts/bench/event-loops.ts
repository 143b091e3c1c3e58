/**
 * `node scripts/bench/event-loops.ts [--heavy] [SECONDS] [CONFIG.yaml]`: how late the event loop of each thread of each node comes while one cluster of three
 * serves every kind of row of the race at once, with --heavy beside completions of 10,000 parts, ends of
 * tenants, scrubs and the like, and whether a leader was elected meanwhile.
 *
 * Owns: the mix and the page. Knows nothing of: which work held a loop up; `npm run profile` shows that.
 * Rules: the thread of Raft is found by the name of its row, today `main`. An idle thread of this program is measured beside them:
 * what it waits for the machine, all of them wait. No figure is judged here.
 */
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { wholeNumber } from '../local/options.ts'
import { type InspectedNode, INSPECTED, inspectedNodes } from '../profile/inspected-node.ts'
import { Field } from '../race/field.ts'
import { clusterProgram, holdfastSystem, ROOT, versionOf } from '../race/holdfast.ts'
import { type RaceRow, rowsOf } from '../race/rows.ts'
import { loadOf } from '../race/turn.ts'
import { freshCluster, leaderOf, type MeasuredCluster, metricsOf, withCluster } from './cluster.ts'
import { startHeavyWork } from './heavy-work.ts'
import { type LoadResult, runLoad } from './load.ts'
import { Processes } from './processes.ts'

/** Small requests, bodies that are cut, sealed and opened, listings; deletions are in the mixed row. */
const MIX = ['put-1k', 'put-64k', 'get-4k', 'list', 'mixed', 'put-64m', 'get-64m'] as const
/** Of each row whose number of clients can be chosen. */
const CLIENTS = 8
/** Of the objects of each size. */
const KEPT_BYTES_MAX = 2 * 1024 ** 3
/** Parts of the run whose memory is a row each. */
const PARTS = 12
/** The histogram measures the pause between two timers of this length, which itself is no delay. */
const RESOLUTION_MS = 1

const START = `globalThis.loopDelay = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} }); loopDelay.enable(); ''`
const FIGURES = `[loopDelay.percentile(50), loopDelay.percentile(99), loopDelay.percentile(99.9), loopDelay.max].join(' ')`
/** Any message ends it. */
const IDLE_THREAD = `const { parentPort } = require('node:worker_threads'); ${START}; parentPort.once('message', () => parentPort.postMessage(${FIGURES}))`

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** The nanoseconds of FIGURES as a row of milliseconds. */
function rowOf(name: string, text: string): string {
  const figures = text.split(' ').map((nanos) => Math.max(0, Number(nanos) / 1e6 - RESOLUTION_MS).toFixed(1))
  return `| ${[name, ...figures].join(' | ')} |`
}

interface Row {
  readonly id: string
  readonly run: (seconds: number) => Promise<LoadResult>
}

/** The clients of each row have numbers, and so connections, of their own. */
async function preparedRows(field: Field, seconds: number): Promise<readonly Row[]> {
  const rows: Row[] = []
  let first = 0
  const plan = { clients: CLIENTS, seconds, operations: null, chosen: MIX, keptBytesMax: KEPT_BYTES_MAX }
  for (const row of rowsOf(field, plan)) {
    say(`${row.name}: objects are stored ...`)
    await row.prepare()
    const own = first
    const operation: RaceRow['operation'] = (one) => row.operation({ ...one, client: own + one.client })
    rows.push({
      id: row.id,
      run: (ofSeconds) => runLoad({ ...loadOf({ ...row, operation }, null), seconds: ofSeconds }),
    })
    first += row.clients
  }
  return rows
}

/** Terms that began, summed over the nodes: zero without an election. */
async function terms(cluster: MeasuredCluster): Promise<number> {
  const pages = await metricsOf(cluster)
  return pages.reduce((sum, page) => sum + Number(/^holdfast_raft_term (\d+)$/m.exec(page)?.[1]), 0)
}

async function idleThread(): Promise<() => Promise<string>> {
  const worker = new Worker(IDLE_THREAD, { eval: true })
  await new Promise((resolve) => worker.once('online', resolve))
  return async () => {
    const text = await new Promise<string>((resolve) => {
      worker.once('message', resolve)
      worker.postMessage('stop')
    })
    await worker.terminate()
    return text
  }
}

async function delays(nodes: readonly InspectedNode[], leader: number): Promise<readonly string[]> {
  const lines: string[] = []
  for (const [at, node] of nodes.entries())
    for (const { thread, text } of await node.evaluate(FIGURES))
      lines.push(rowOf(`n${at + 1}${at === leader ? ', leader' : ''}: ${thread}`, text))
  return lines
}

/** One row for each part of the run: the peak of the resident memory of each node, and the terms. */
async function memoryUntil(
  cluster: MeasuredCluster,
  { seconds, ended }: { readonly seconds: number; readonly ended: Promise<unknown> },
): Promise<readonly string[]> {
  const processes = Processes.of(cluster.pids)
  const lines: string[] = []
  const end = new AbortController()
  void ended.finally(() => end.abort())
  for (let part = 1; !end.signal.aborted; part++) {
    processes?.startMeasuring()
    await wait((1000 * seconds) / PARTS, undefined, { signal: end.signal }).catch(() => undefined)
    if (end.signal.aborted && lines.length > 0) break
    const peaks = processes?.sinceStart().peakResidentBytes.map((bytes) => (bytes / 1024 ** 2).toFixed(0))
    lines.push(
      `| ${Math.round((part * seconds) / PARTS)} | ${peaks?.join(' / ')} | ${await terms(cluster)} |`,
    )
    say(lines.at(-1) ?? '')
  }
  return lines
}

async function measured(
  cluster: MeasuredCluster,
  { seconds, isHeavy }: { readonly seconds: number; readonly isHeavy: boolean },
): Promise<readonly string[]> {
  const nodes = await inspectedNodes(cluster)
  const system = holdfastSystem(cluster, { name: 'holdfast', version: '' })
  await system.open()
  const field = new Field(system, { compareEach: 64, only: null })
  try {
    const rows = await preparedRows(field, seconds)
    const [leader, before] = [await leaderOf(cluster), await terms(cluster)]
    const idle = await idleThread()
    const heavy = isHeavy ? await startHeavyWork(cluster, cluster.adminToken ?? '') : null
    for (const node of nodes) await node.evaluate(START)
    say(`all rows at once, ${seconds} s ...`)
    const load = Promise.all(rows.map(({ run }) => run(seconds)))
    const memory = await memoryUntil(cluster, { seconds, ended: load })
    const results = await load
    const lines = await delays(nodes, leader)
    const began = (await terms(cluster)) - before
    await heavy?.stop()
    const counts = results.map(({ latencies, errors, firstError }, at) => {
      const failed = errors === 0 ? '' : ` (${errors} failed: ${firstError})`
      return `${rows[at]?.id} ${latencies.count}${failed}`
    })
    return [
      '| delay of the event loop, ms | p50 | p99 | p99.9 | longest |',
      '|---|---:|---:|---:|---:|',
      ...lines,
      rowOf('an idle thread beside them', await idle()),
      '',
      '| until, s | peak of resident memory, MiB (n1 / n2 / n3) | terms, summed |',
      '|---:|---:|---:|',
      ...memory,
      '',
      `Operations: ${counts.join(', ')}. ${began === 0 ? 'No election.' : `ELECTIONS: terms rose by ${began} over three nodes.`}`,
      ...(heavy?.lines() ?? []),
    ]
  } finally {
    field.close()
    for (const node of nodes) node.close()
  }
}

const words = process.argv.slice(2)
const isHeavy = words[0] === '--heavy'
const [secondsText = '20', configFile = null] = isHeavy ? words.slice(1) : words
const seconds = wholeNumber(secondsText, 'SECONDS', { min: 1, max: 3600 })
// Inherited by the nodes.
process.env['NODE_OPTIONS'] = INSPECTED
const loadBefore = loadavg()[0] ?? 0
const cluster = await freshCluster(configFile, clusterProgram(ROOT))
const lines = await withCluster(cluster, (one) => measured(one, { seconds, isHeavy }))
const loads = `load average ${loadBefore.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
const machine = `Commit ${versionOf(ROOT)}, Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}, ${seconds} s`
process.stdout.write(`${[machine, '', ...lines].join('\n')}\n`)
