/**
 * `node scripts/bench/lifecycle.ts [--objects 100000] [--due 100]`: how fast the walk of life-cycle rules removes this many small objects of one
 * bucket, and how late the event loop of the node comes meanwhile.
 *
 * Owns: the measurement, over the LevelDB of one node; the log is left out. `--due`: percent of the objects that the rule names.
 * Rule: no figure is judged here; the same figures of the idle process and the load of the machine are printed with them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { createPropose } from '../../src/commands/propose.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { LifecycleRule } from '../../src/state-machine/lifecycle/records.ts'
import { openStore } from '../../src/store/open-store.ts'
import { Lifecycle } from '../../src/workers/lifecycle.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { keyAt, LARGE_BUCKET, putOf } from './listing-rows.ts'

const DAY_MS = 86_400_000
const COMMANDS_PER_ENTRY = 1000
const IDLE_MS = 3_000

const logger = pino({ level: 'silent' })
const dir = mkdtempSync(join(tmpdir(), 'holdfast-lifecycle-'))
const { stateMachine, reader } = openStore({ dir, logger })
let index = 0
let daysLater = 0
let longestEntryMs = 0
let turn: Promise<unknown> = Promise.resolve()

const timeNow = (): number => 1_900_000_000_000 + index + daysLater * DAY_MS

async function apply(commands: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  index++
  const time = timeNow()
  const entry = { index, time, confirmedTime: time, orderTime: time, featureLevel: FEATURE_LEVEL, commands }
  const start = performance.now()
  const [replies = []] = await stateMachine.apply({ entries: [entry], record: Buffer.from(`${index}`) })
  longestEntryMs = Math.max(longestEntryMs, performance.now() - start)
  return replies
}

async function commit(commands: readonly Command[]): Promise<void> {
  for (const reply of (await apply(commands.map(encodeCommand))).map(decodeReply))
    if (!reply.ok) throw new Error(reply.message)
}

/** One after the other, in the order of the log. */
function inTurn(command: Uint8Array): Promise<Uint8Array> {
  const applied = turn.then(async () => (await apply([command]))[0] ?? new Uint8Array())
  turn = applied.catch(() => undefined)
  return applied
}

async function fill(objects: number, due: number): Promise<void> {
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  const filter = { prefix: '', tags: { due: 'yes' }, sizeGreaterThan: null, sizeLessThan: null }
  const rule: LifecycleRule = {
    id: 'r',
    isEnabled: true,
    filter,
    expiration: { days: 1 },
    noncurrent: null,
    abortUploadDays: null,
  }
  await commit([
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: LARGE_BUCKET, ...plain },
    { type: 'setBucketLifecycle', tenantId: 'acme', name: LARGE_BUCKET, rules: [rule] },
  ])
  const tagsOf = (n: number) => ({ tags: { due: n % 100 < due ? 'yes' : 'no' } })
  for (let n = 0; n < objects; n += COMMANDS_PER_ENTRY) {
    const count = Math.min(COMMANDS_PER_ENTRY, objects - n)
    await commit(
      Array.from({ length: count }, (_, i) => ({
        ...putOf(n + i, { bucket: LARGE_BUCKET, key: keyAt(n + i) }),
        ...tagsOf(n + i),
      })),
    )
  }
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
  await stateMachine.open()
  await fill(objects, due)
  daysLater = 3
  const cluster = { isJobRunner: () => true, nodeId: 'n1' }
  const propose = createPropose({ propose: inTurn })
  const lifecycle = new Lifecycle({ cluster, state: reader, propose, confirmedTime: timeNow, logger })
  const idle = await delays(() => wait(IDLE_MS))
  longestEntryMs = 0
  const start = performance.now()
  const busy = await delays(async () => {
    while (await lifecycle.round()) continue
  })
  const seconds = (performance.now() - start) / 1000
  const left = reader.get(bucketKeys.bucket('acme', LARGE_BUCKET))?.objectCount ?? 0
  return [
    `${objects} objects in one bucket, a rule names ${due} %; ${objects - left} are gone`,
    `${seconds.toFixed(1)} s, ${(objects / seconds).toFixed(0)} objects/s looked at`,
    `longest entry: ${longestEntryMs.toFixed(0)} ms with its write to the disk`,
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
  await stateMachine.close()
  rmSync(dir, { recursive: true, force: true })
}
