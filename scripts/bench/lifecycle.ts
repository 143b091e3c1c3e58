/**
 * `node scripts/bench/lifecycle.ts [--objects 100000] [--due 100]`: how fast the walk of lifecycle rules removes this many small objects of one
 * bucket, and how late the event loop of the node comes meanwhile.
 *
 * Owns: the measurement, over the LevelDB of one node; the log is left out. `--due`: percent of the objects that the rule names.
 * Rule: no figure is judged here; the same figures of the idle process and the load of the machine are printed with them.
 */
import { availableParallelism, loadavg } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { DAY_MS } from '../../src/state-machine/lifecycle/due.ts'
import { Lifecycle } from '../../src/workers/lifecycle.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { LARGE_BUCKET } from './listing-rows.ts'
import { OneNode } from './one-node.ts'

/** The rule is due by then. */
const DAYS_LATER = 3
const IDLE_MS = 3_000

const node = new OneNode('lifecycle')

async function fill(objects: number, due: number): Promise<void> {
  const filter = { prefix: '', tags: { due: 'yes' }, sizeGreaterThan: null, sizeLessThan: null }
  const ends = { expiration: { days: 1 }, noncurrent: null, abortUploadDays: null }
  const rules = [{ id: 'r', isEnabled: true, filter, ...ends }]
  await node.fill(objects, {
    further: [{ type: 'setBucketLifecycle', tenantId: 'acme', name: LARGE_BUCKET, rules }],
    change: (put, n) => ({ ...put, tags: { due: n % 100 < due ? 'yes' : 'no' } }),
  })
}

/** Of the delay of a timer of 1 ms, while `work` runs. */
async function delays(work: () => Promise<void>): Promise<string> {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  const cpu = process.cpuUsage()
  histogram.enable()
  await work()
  histogram.disable()
  const { user, system } = process.cpuUsage(cpu)
  const ms = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(1)
  const [p50, p99] = [50, 99].map((percent) => ms(histogram.percentile(percent)))
  return `p50 ${p50} ms, p99 ${p99} ms, most ${ms(histogram.max)} ms; processor ${((user + system) / 1e6).toFixed(1)} s`
}

async function measure(objects: number, due: number): Promise<readonly string[]> {
  await node.open()
  await fill(objects, due)
  node.laterMs = DAYS_LATER * DAY_MS
  const cluster = { isJobRunner: () => true, nodeId: 'n1' }
  const { reader, propose, logger } = node
  const confirmedTime = (): number => node.time
  const lifecycle = new Lifecycle({ cluster, state: reader, propose, confirmedTime, logger })
  const idle = await delays(() => wait(IDLE_MS))
  node.longestEntryMs = 0
  const start = performance.now()
  const busy = await delays(async () => {
    while (await lifecycle.round()) continue
  })
  const seconds = (performance.now() - start) / 1000
  const left = reader.get(bucketKeys.bucket('acme', LARGE_BUCKET))?.objectCount ?? 0
  return [
    `${objects} objects in one bucket, a rule names ${due} %; ${objects - left} are gone`,
    `${seconds.toFixed(1)} s, ${(objects / seconds).toFixed(0)} objects/s looked at`,
    `longest entry: ${node.longestEntryMs.toFixed(0)} ms with its write to the disk`,
    `event loop while idle: ${idle}`,
    `event loop in the walk: ${busy}`,
  ]
}

async function main(): Promise<void> {
  const options = {
    objects: { type: 'string', default: '100000' },
    due: { type: 'string', default: '100' },
  } as const
  const { values } = parseArgs({ options })
  const load = loadavg()[0]?.toFixed(2) ?? '?'
  const objects = wholeNumber(values.objects, '--objects', { min: 1, max: 10_000_000 })
  const lines = await measure(objects, wholeNumber(values.due, '--due', { min: 0, max: 100 }))
  for (const line of lines) process.stdout.write(`${line}\n`)
  process.stdout.write(`${availableParallelism()} cores, load before: ${load}\n`)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
} finally {
  await node.close()
}
