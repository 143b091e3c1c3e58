/**
 * `node scripts/bench/holds.ts [--copies 64]`: how long the worst command of each kind blocks the event loop of a node.
 *
 * Owns: the measurement, of whole entries applied directly to the LevelDB of one node. A hold is the processor time that the thread of the
 * event loop spends between two of its turns, so the load of other processes does not count. Rule: no figure is judged here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { PARTS_MAX } from '../../src/state-machine/objects/limits.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { openStore } from '../../src/store/open-store.ts'
import * as made from './holds-commands.ts'
import { bodyRanges } from '../../src/state-machine/bodies/keys.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'

/** The number of copies that fit into the cost limit of a batch. */
const COPIES_PER_BATCH = Math.floor(DEFAULT_NODE_LIMITS.batchCostMax / made.WHOLE_CHUNKS)

const { values } = parseArgs({ options: { copies: { type: 'string', default: '64' } } })
const dir = mkdtempSync(join(tmpdir(), 'holdfast-holds-'))
const { stateMachine, reader } = openStore({ dir, logger: pino({ level: 'silent' }) })
let index = 0

async function entry(commands: readonly Command[]): Promise<readonly unknown[]> {
  index++
  const time = 1_800_000_000_000 + index
  const about = { index, time, confirmedTime: time, orderTime: time, featureLevel: FEATURE_LEVEL }
  const [replies = []] = await stateMachine.apply({
    entries: [{ ...about, commands: commands.map(encodeCommand) }],
    record: Buffer.from(`${index}`),
  })
  return replies.map(decodeReply).map((reply) => {
    if (!reply.ok) throw new Error(reply.message)
    return reply.value
  })
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

interface Held {
  readonly longestMs: number
  readonly allMs: number
}

/** The probe runs in every possible turn; the time between two runs is one hold. */
async function held(work: () => Promise<unknown>): Promise<Held> {
  let longestMs = 0
  let isDone = false
  const start = threadMs()
  let last = start
  const turn = (): void => {
    const now = threadMs()
    longestMs = Math.max(longestMs, now - last)
    last = now
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isDone = true
  turn()
  return { longestMs, allMs: threadMs() - start }
}

const lines: string[] = []
async function report(what: string, work: () => Promise<unknown>): Promise<void> {
  const { longestMs, allMs } = await held(work)
  lines.push(`| ${what} | ${longestMs.toFixed(1)} | ${allMs.toFixed(0)} |`)
}

async function copies(): Promise<void> {
  const whole = await made.storeWhole(entry)
  await entry([made.copyOf(whole, 'warm')])
  await report(`1 copy of ${made.WHOLE_CHUNKS} chunks`, () => entry([made.copyOf(whole, 'one')]))
  for (const count of [COPIES_PER_BATCH, Number(values.copies)])
    await report(`${count} such copies in one entry`, () =>
      entry(Array.from({ length: count }, (_, n) => made.copyOf(whole, `copy-${count}-${n}`))),
    )
}

async function parts(): Promise<void> {
  const small = await made.upload(entry, { key: 'assembled', parts: made.COPIED_PARTS })
  const [source] = (await entry([small])) as { versionId: string }[]
  const copy = made.copyOf({ key: 'assembled', versionId: source?.versionId ?? '' }, 'assembled-copy')
  await report(`1 copy of ${made.COPIED_PARTS} parts of 2 chunks`, () => entry([copy]))
  const large = await made.upload(entry, { key: 'large', parts: PARTS_MAX })
  await report(`1 completion of ${PARTS_MAX} parts`, () => entry([large]))
  await report('the same completion asked again', () => entry([large]))
}

async function removals(): Promise<void> {
  for (let n = 0; n < 3_000; n += 100)
    await entry(Array.from({ length: 100 }, (_, i) => made.smallObject(`small/${n + i}`)))
  const keys = Array.from({ length: 1_000 }, (_, n) => `small/${n}`)
  await report('1,000 objects of a batch delete in one entry', () => entry(made.batchDelete(keys)))
  await report('1 page of 1,000 objects listed', () => made.listed(reader))
  await entry([{ type: 'deleteObject', ...made.nameOf('large'), versionId: null, ifMatch: null }])
  await entry(made.endTenant())
  const rest = Array.from({ length: 256 }, (_, n) => `small/${1_000 + n}`)
  await report('1 step of the deletion of a tenant, 256 objects', async () =>
    entry([made.eraseStep(await made.versionsOf(reader, rest))]),
  )
}

async function releases(): Promise<void> {
  await report('bodies released, 256 links for each entry', async () => {
    for (
      let bodies = (await reader.page(bodyRanges.discarded(), { limit: 256 })).items;
      bodies.length > 0;
    ) {
      const items = bodies.map(({ discardedAt, id }) => ({ discardedAt, id }))
      await entry([{ type: 'releaseDue', upTo: index, items }])
      bodies = (await reader.page(bodyRanges.discarded(), { limit: 256 })).items
    }
  })
}

async function walks(): Promise<void> {
  await report('a recount', () => recountState(reader, () => true))
  await report('blocks of a snapshot', async () => {
    const cut = await stateMachine.snapshot()
    for (let after: Uint8Array = new Uint8Array(); ; ) {
      const block = await cut.block({ after, held: null })
      if (block.isEnd) break
      after = block.through
    }
    await cut.release()
  })
}

try {
  const before = loadavg()[0] ?? 0
  await stateMachine.open()
  await made.begin(entry)
  for (const part of [copies, parts, removals, releases, walks]) await part()
  const loads = `load average ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
  const head = ['| command | longest hold, processor ms | all of it, processor ms |', '|---|---:|---:|']
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}\n`
  process.stdout.write(`${[machine, ...head, ...lines].join('\n')}\n`)
} finally {
  await stateMachine.close()
  rmSync(dir, { recursive: true, force: true })
}
