/**
 * `npm run profile`: where the processor time of an operation goes, or what it allocates, by stage, thread and node.
 *
 * Owns: the loads, one after the other on one cluster, and what is sampled meanwhile. Knows nothing of: how samples become stages.
 * Rules: standard output carries only the page; the nodes are stopped also after Ctrl-C.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { freshCluster, leaderOf, type MeasuredCluster, withCluster } from '../bench/cluster.ts'
import { runLoad } from '../bench/load.ts'
import { UsageError } from '../local/options.ts'
import { Field } from '../race/field.ts'
import { clusterProgram, holdfastSystem, ROOT, versionOf } from '../race/holdfast.ts'
import { loadNow } from '../race/machine.ts'
import { rowsOf } from '../race/rows.ts'
import { loadOf, warmUp } from '../race/turn.ts'
import { add, sumsOf, total } from './cpu-profile.ts'
import {
  INSPECTED,
  type InspectedNode,
  inspectedNodes,
  type Sampled,
  type ThreadProfile,
} from './inspected-node.ts'
import { parseProfileOptions, PROFILE_USAGE, type ProfileOptions } from './options.ts'
import { type LoadProfile, type NodeProfile, pageOf, type ProfileReport } from './page.ts'
import { grownSince, sampleThreads, type ThreadTimes } from './threads.ts'

const COMPARE_EACH = 64
const FUNCTIONS_KEPT = 40

const say = (text: string): void => void process.stderr.write(`${text}\n`)

interface Setting {
  readonly cluster: MeasuredCluster
  readonly inspected: readonly InspectedNode[]
  readonly root: string
  readonly options: ProfileOptions
}

interface Planned {
  readonly row: string
  readonly at: 'leader' | 'follower'
  readonly clients: number
}

async function profiled(setting: Setting, { row: id, at, clients }: Planned): Promise<LoadProfile> {
  const { cluster, inspected, options } = setting
  const leader = await leaderOf(cluster)
  const asked = at === 'leader' ? leader : (leader + 1) % cluster.pids.length
  const system = holdfastSystem(cluster, { name: 'holdfast', version: '' })
  await system.open()
  const field = new Field(system, { compareEach: COMPARE_EACH, only: asked })
  try {
    const [row] = rowsOf(field, { ...options, clients, chosen: [id] })
    if (row === undefined) throw new UsageError(`There is no row '${id}'`)
    say(`${row.name}, at the ${at}, ${clients} clients ...`)
    const asIs = { ...row, clients }
    await row.prepare()
    await warmUp(asIs, { ...options, isFirst: false })
    for (const node of inspected) await node.start(options.of)
    const before = cluster.pids.map(sampleThreads)
    const load = await runLoad({ ...loadOf(asIs, options.operations), seconds: options.seconds })
    const times = cluster.pids.map((pid, node) => grownSince(before[node] ?? new Map(), pid))
    const profiles: (readonly ThreadProfile[])[] = []
    for (const node of inspected) profiles.push(await node.stop(options.of))
    const operations = load.latencies.count
    const nodes = times.map((threads, node): NodeProfile => {
      const role = `${node === leader ? 'leader' : 'follower'} n${node + 1}${node === asked ? ', asked' : ''}`
      const counted = { of: options.of, threads, profiles: profiles[node] ?? [], operations }
      return { role, ...byStage(counted, setting.root) }
    })
    const { errors, firstError, seconds } = load
    return {
      operation: row.name.replace(/, [^,]*clients?$/, ''),
      clients,
      at,
      operations,
      seconds,
      errors,
      firstError,
      nodes,
    }
  } finally {
    field.close()
  }
}

interface Counted {
  readonly of: Sampled
  /** Microseconds that the kernel measured. */
  readonly threads: ThreadTimes
  readonly profiles: readonly ThreadProfile[]
  readonly operations: number
}

/** Of time: shares of the samples of each thread, scaled to what the kernel measured. Of allocations: the sampled bytes. */
function byStage(counted: Counted, root: string): Omit<NodeProfile, 'role'> {
  const { profiles, operations } = counted
  const stages: Record<string, Record<string, number>> = {}
  const functions = new Map<string, number>()
  const sampled = new Map<string, { stages: Map<string, number>; functions: Map<string, number> }>()
  // Workers of one name are one thread of the page.
  for (const { thread, profile } of profiles) {
    const sums = sumsOf(profile, root)
    const own = sampled.get(thread) ?? { stages: new Map(), functions: new Map() }
    sampled.set(thread, own)
    for (const [name, amount] of sums.byStage) add(own.stages, name, amount)
    for (const [name, amount] of sums.byFunction) add(own.functions, name, amount)
  }
  const measured =
    counted.of === 'time'
      ? counted.threads
      : new Map([...sampled].map(([thread, own]) => [thread, total(own.stages)]))
  for (const [thread, own] of sampled) {
    const all = total(own.stages)
    if (all === 0) continue
    const scale = (measured.get(thread) ?? 0) / all / operations
    stages[thread] = Object.fromEntries([...own.stages].map(([name, amount]) => [name, amount * scale]))
    for (const [name, amount] of own.functions) add(functions, name, amount * scale)
  }
  return {
    threads: Object.fromEntries([...measured].map(([name, amount]) => [name, amount / operations])),
    stages,
    functions: [...functions]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, FUNCTIONS_KEPT)
      .map(([name, amount]) => ({ name, amount })),
  }
}

async function report(options: ProfileOptions): Promise<ProfileReport> {
  const root = options.build ?? ROOT
  const about = {
    of: options.of,
    startedAt: new Date().toISOString(),
    version: versionOf(root),
    node: process.versions.node,
    processors: availableParallelism(),
    loadBefore: loadNow(),
  }
  process.env['NODE_OPTIONS'] = INSPECTED
  // Stages are known by the files of the sources.
  process.env['HOLDFAST_FROM_SOURCES'] = '1'
  const loads = await withCluster(
    await freshCluster(options.configFile, clusterProgram(root)),
    async (cluster) => {
      const inspected = await inspectedNodes(cluster)
      const setting = { cluster, inspected, root, options }
      try {
        const done: LoadProfile[] = []
        for (const row of options.rows)
          for (const at of options.places)
            for (const clients of options.clients) done.push(await profiled(setting, { row, at, clients }))
        return done
      } finally {
        for (const node of inspected) node.close()
      }
    },
  )
  return { ...about, loads }
}

async function main(): Promise<number> {
  try {
    const options = parseProfileOptions(process.argv.slice(2))
    if (options === null) {
      process.stdout.write(PROFILE_USAGE)
      return 0
    }
    const figures = await report(options)
    const page = pageOf(figures)
    process.stdout.write(page)
    if (options.outFile !== null) {
      writeFileSync(options.outFile, page)
      writeFileSync(options.outFile.replace(/md$/, 'json'), `${JSON.stringify(figures, null, 2)}\n`)
    }
    return figures.loads.some(({ errors }) => errors > 0) ? 1 : 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return error.cause === undefined ? 1 : 2
  }
}

process.exitCode = await main()
