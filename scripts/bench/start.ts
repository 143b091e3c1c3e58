/**
 * `node scripts/bench/start.ts [--objects 100000]`: the cost of writing objects of one chunk of 64 KiB to the state, and the bytes that a start reads
 * after a clean stop and after a crash. Processor time and bytes, which depend less on other load than wall time.
 *
 * Owns: the measurement, over the LevelDB of one node; log and copies are left out. Rule: no figure is judged here; the load of the machine
 * is printed with them.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { LARGE_BUCKET, putOf } from './listing-rows.ts'
import { wholeNumber } from '../local/options.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'

const COMMANDS_PER_ENTRY = 200
const LOOKUPS = 20_000
const SESSION = '0123456789abcdef01234567'
const SEALED_BYTES = 65_536

const logger = pino({ level: 'silent' })
const dir = mkdtempSync(join(tmpdir(), 'holdfast-start-'))
const { values } = parseArgs({ options: { objects: { type: 'string', default: '100000' } } })
const objects = wholeNumber(values.objects, '--objects', { min: 1_000, max: 10_000_000 })

interface Spent {
  readonly wallMs: number
  readonly processorMs: number
  readonly readBytes: number
  readonly writtenBytes: number
}

async function spentBy(work: () => Promise<void>): Promise<Spent> {
  const [start, processor, bytes] = [performance.now(), process.cpuUsage(), bytesOfProcess()]
  await work()
  const { user, system } = process.cpuUsage(processor)
  const after = bytesOfProcess()
  return {
    wallMs: performance.now() - start,
    processorMs: (user + system) / 1000,
    readBytes: after.read - bytes.read,
    writtenBytes: after.written - bytes.written,
  }
}

/** Bytes read through system calls; mapped files do not count. */
function bytesOfProcess(): { readonly read: number; readonly written: number } {
  const text = readFileSync('/proc/self/io', 'utf8')
  const field = (name: string): number => Number(new RegExp(`^${name}: ([0-9]+)$`, 'm').exec(text)?.[1] ?? 0)
  return { read: field('rchar'), written: field('wchar') }
}

/** Keys in random order. */
function idOf(n: number): string {
  return createHash('sha256').update(`${n}`).digest('hex')
}

function putChunk(n: number): Command {
  const id = idOf(n)
  const key = `folder-${id.slice(0, 3)}/picture-${id.slice(3, 15)}.jpeg`
  const copies = { existing: false, replicas: ['n1', 'n2', 'n3'], missing: [] }
  const sizes = { size: SEALED_BYTES - 100, sealedSize: SEALED_BYTES }
  const chunk = { id, birth: `${SESSION}-${n.toString(36)}`, ...sizes, checksum: idOf(-n), ...copies }
  const plain = putOf(n, { bucket: LARGE_BUCKET, key })
  return { ...plain, size: sizes.size, body: { kind: 'chunks', chunks: [chunk], copiesMin: 2 } } as Command
}

async function fill({ stateMachine }: Store): Promise<void> {
  let index = 0
  const commit = async (commands: readonly Command[]): Promise<void> => {
    index++
    const time = 1_900_000_000_000 + index
    const times = { time, confirmedTime: time, orderTime: time }
    const entry = { index, ...times, featureLevel: FEATURE_LEVEL, commands: commands.map(encodeCommand) }
    await stateMachine.apply({ entries: [entry], record: Buffer.from(`${index}`) })
  }
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  await commit([
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: LARGE_BUCKET, ...plain },
    { type: 'openSession', session: SESSION, node: 'n1', keep: [] },
  ])
  for (let n = 1; n <= objects; n += COMMANDS_PER_ENTRY)
    await commit(Array.from({ length: COMMANDS_PER_ENTRY }, (_, at) => putChunk(n + at)))
}

function say(what: string, { wallMs, processorMs, readBytes, writtenBytes }: Spent): void {
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  const ms = `${processorMs.toFixed(0)} ms of processor, ${wallMs.toFixed(0)} ms of wall time`
  console.log(`${what}: ${ms}, ${mb(readBytes)} read, ${mb(writtenBytes)} written`)
}

async function started(store: Store): Promise<void> {
  const { fault } = await store.stateMachine.open()
  if (fault !== null) throw new Error(fault)
}

function lookups({ reader }: Store): void {
  const micros: number[] = []
  for (let at = 0; at < LOOKUPS; at++) {
    const id = idOf(1 + Math.floor(Math.random() * objects))
    const start = performance.now()
    reader.get(chunkKeys.chunk('acme', id))
    micros.push((performance.now() - start) * 1000)
  }
  const sorted = micros.toSorted((one, other) => one - other)
  const late = micros.slice(-5_000).reduce((sum, one) => sum + one, 0) / 5_000
  const [p99 = 0, most = 0] = [sorted[Math.floor(LOOKUPS * 0.99)], sorted.at(-1)]
  const figures = `${late.toFixed(0)} us mean of the last, ${p99.toFixed(0)} us p99, ${(most / 1000).toFixed(1)} ms longest`
  console.log(`${LOOKUPS} rows looked up after a start: ${figures}`)
}

let store = openStore({ dir, logger })
await started(store)
say(`${objects} objects put`, await spentBy(() => fill(store)))
const state = readdirSync(dir).find((name) => name.startsWith('state-')) ?? ''
const tables = readdirSync(join(dir, state)).filter((name) => name.endsWith('.ldb'))
const bytes = tables.reduce((sum, name) => sum + statSync(join(dir, state, name)).size, 0)
console.log(
  `${tables.length} tables, ${(bytes / 1e6).toFixed(0)} MB; resident ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`,
)
await store.stateMachine.close()
store = openStore({ dir, logger })
say('start after a clean stop', await spentBy(() => started(store)))
lookups(store)
await store.stateMachine.close()
rmSync(join(dir, 'CLOSED'))
store = openStore({ dir, logger })
say('start after a crash', await spentBy(() => started(store)))
await store.stateMachine.close()
console.log(
  `load ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')} on ${availableParallelism()} processors`,
)
rmSync(dir, { recursive: true })
