/**
 * `node scripts/bench/deletion.ts [--objects 1000000]`: how long the deletion of a tenant takes that has this many small objects in
 * one bucket, how long its longest entry blocks the node, and whether heartbeats are late meanwhile.
 *
 * Owns: the measurement, over the LevelDB of one node; the log is left out. The heartbeat runs in the same thread, as in a node.
 * Rule: no figure is judged here; the load of the machine is printed with them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createPropose } from '../../src/commands/propose.ts'
import { TenantDeletion } from '../../src/workers/tenant-deletion.ts'
import { keyAt, LARGE_BUCKET, putOf } from './listing-rows.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

/** The default heartbeat interval of nodes. */
const HEARTBEAT_MS = 100
const COMMANDS_PER_ENTRY = 1000

const logger = pino({ level: 'silent' })
const dir = mkdtempSync(join(tmpdir(), 'holdfast-deletion-'))
const { stateMachine, reader } = openStore({ dir, logger })
let index = 0
let longestEntryMs = 0
let turn: Promise<unknown> = Promise.resolve()

async function apply(commands: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  index++
  const entry = {
    index,
    time: 1_900_000_000_000 + index,
    confirmedTime: 1_900_000_000_000 + index,
    orderTime: 1_900_000_000_000 + index,
    featureLevel: FEATURE_LEVEL,
    commands,
  }
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

async function fill(objects: number): Promise<void> {
  const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
  const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
  await commit([
    { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
    { type: 'createBucket', tenantId: 'acme', name: LARGE_BUCKET, ...plain },
  ])
  for (let n = 0; n < objects; n += COMMANDS_PER_ENTRY) {
    const count = Math.min(COMMANDS_PER_ENTRY, objects - n)
    await commit(
      Array.from({ length: count }, (_, i) => putOf(n + i, { bucket: LARGE_BUCKET, key: keyAt(n + i) })),
    )
  }
}

async function begin(): Promise<void> {
  const reason = 'to measure it'
  const about = { operationId: 'op', requestedBy: 'me', reason, locksEndedBy: 0 }
  await commit([
    { type: 'disableTenant', tenantId: 'acme', reason },
    { type: 'deleteTenant', tenantId: 'acme', ...about },
  ])
}

/** The greatest delay of a heartbeat, and how many heartbeats came after the next one was due. */
function heart() {
  let [due, latestMs, missed] = [performance.now() + HEARTBEAT_MS, 0, 0]
  const timer = setInterval(() => {
    const late = performance.now() - due
    latestMs = Math.max(latestMs, late)
    if (late > HEARTBEAT_MS) missed++
    due = performance.now() + HEARTBEAT_MS
  }, HEARTBEAT_MS)
  return {
    stop: (): { readonly latestMs: number; readonly missed: number } => {
      clearInterval(timer)
      return { latestMs, missed }
    },
  }
}

async function measure(objects: number): Promise<readonly string[]> {
  await stateMachine.open()
  await fill(objects)
  await begin()
  const propose = createPropose({ propose: inTurn })
  const cluster = { isJobRunner: () => true }
  const deletion = new TenantDeletion({ cluster, state: reader, propose, logger })
  const [start, beats] = [performance.now(), heart()]
  longestEntryMs = 0
  while (await deletion.round()) continue
  const seconds = (performance.now() - start) / 1000
  const { latestMs, missed } = beats.stop()
  const { status = 'missing', progress } = reader.get(longOperationKeys.operation('op')) ?? {}
  const done = progress?.blobsDone ?? 0
  return [
    `${objects} objects in one bucket; the operation has ${status}, ${done} versions are gone`,
    `${seconds.toFixed(1)} s, ${(done / seconds).toFixed(0)} versions/s`,
    `longest entry: ${longestEntryMs.toFixed(0)} ms with its write to the disk`,
    `heartbeats every ${HEARTBEAT_MS} ms: the latest came ${latestMs.toFixed(0)} ms late, ${missed} later than the next was due`,
  ]
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { objects: { type: 'string', default: '1000000' } } })
  const load = loadavg()[0]?.toFixed(2) ?? '?'
  const lines = await measure(wholeNumber(values.objects, '--objects', { min: 1, max: 10_000_000 }))
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
