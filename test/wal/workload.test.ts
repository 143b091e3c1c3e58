/**
 * Random histories against a model so plain that it can be believed.
 *
 * Rule: after a restart the log holds what was acknowledged, or that and a first part of what was being written.
 * Rerun one seed: WAL_SEED=<n> node test/wal/workload.test.ts
 */
import t from 'tap'
import type { Entry, HardState, LogBase } from '../../cluster/raft/types.ts'
import type { WalBatch } from '../../cluster/wal/wal.ts'
import { batchOf, entry, plain } from '../contracts/wal.ts'
import { contentOn, logOn } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

const SEEDS = 300
const STEPS = 40

/** Unsigned 32-bit integers, the same for the same seed. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

interface Model {
  readonly hardState: HardState
  readonly base: LogBase
  readonly entries: readonly Entry[]
}

type Step = { readonly compact: LogBase } | { readonly batches: readonly WalBatch[] }

const EMPTY: Model = {
  hardState: { currentTerm: 0, votedFor: null },
  base: { index: 0, term: 0 },
  entries: [],
}

function appended(model: Model, batch: WalBatch): Model {
  const hardState = batch.hardState ?? model.hardState
  if (batch.base !== null) return { hardState, base: batch.base, entries: batch.entries }
  const first = batch.entries[0]?.index
  const kept = first === undefined ? model.entries : model.entries.filter(({ index }) => index < first)
  return { hardState, base: model.base, entries: [...kept, ...batch.entries] }
}

function compacted(model: Model, base: LogBase): Model {
  return { ...model, base, entries: model.entries.filter(({ index }) => index > base.index) }
}

function after(model: Model, step: Step): Model {
  return 'compact' in step ? compacted(model, step.compact) : step.batches.reduce(appended, model)
}

function lastOf(model: Model): LogBase {
  return model.entries.at(-1) ?? model.base
}

function randomBatch(model: Model, random: (below: number) => number): WalBatch {
  const { currentTerm, votedFor } = model.hardState
  const term = currentTerm + (random(4) === 0 ? 1 : 0)
  const vote =
    term === currentTerm && votedFor !== null ? votedFor : ([null, 'node-a', 'node-b'][random(3)] ?? null)
  const hardState = term > currentTerm || random(5) === 0 ? { currentTerm: term, votedFor: vote } : null
  const { base } = model
  const last = lastOf(model)
  const newBase = random(15) === 0 ? { index: base.index + random(40), term: Math.max(last.term, 1) } : null
  const back = newBase === null && random(4) === 0 ? random(model.entries.length + 1) : 0
  const start = (newBase ?? last).index + 1 - back
  const terms = Math.max(term, last.term, 1)
  const made = Array.from({ length: random(5) }, (_, position) =>
    entry(start + position, terms, 'x'.repeat(random(200))),
  )
  return batchOf(1, { hardState, base: newBase, entries: made })
}

function randomStep(model: Model, random: (below: number) => number): Step {
  const target = model.entries[random(Math.max(1, model.entries.length))]
  if (target !== undefined && random(6) === 0) return { compact: { index: target.index, term: target.term } }
  const batches: WalBatch[] = []
  for (let count = 1 + random(3), state = model; count > 0; count--) {
    const batch = randomBatch(state, random)
    batches.push(batch)
    state = appended(state, batch)
  }
  return { batches }
}

/** Runs one history; returns what went wrong, if anything did. */
function runSeed(seed: number): string | null {
  const random = generator(seed)
  const options = { segmentBytesMax: 300 + random(2000) }
  let files = new MemoryFiles()
  let log = logOn(files, options)
  let model = EMPTY
  log.open()
  for (let position = 0; position < STEPS; position++) {
    const step = randomStep(model, random)
    const next = after(model, step)
    // Every so often the power goes at a random call in the middle of a step.
    const powerCutIn = random(8) === 0 ? 1 + random(6) : Number.POSITIVE_INFINITY
    const lawful = [JSON.stringify(plain(next))]
    if (
      survives(files, powerCutIn, () =>
        'compact' in step ? log.compact(step.compact) : log.append(step.batches),
      )
    ) {
      model = next
      if (random(5) > 0) continue
      log.close()
    } else {
      lawful.push(JSON.stringify(plain(model)))
      files = files.afterPowerCut({
        keepsNames: random(2) === 0,
        keepsBytes: (unsynced) => random(unsynced + 1),
      })
    }
    const kept = contentOn(files)
    if (!lawful.includes(kept)) return `step ${position}: ${kept} instead of ${lawful.join(' or ')}`
    if (kept === lawful[0]) model = next
    log = logOn(files, options)
    log.open()
  }
  return null
}

class PowerCut extends Error {}

function survives(files: MemoryFiles, callsLeft: number, action: () => void): boolean {
  files.beforeChange = () => {
    if (--callsLeft <= 0) throw new PowerCut()
  }
  try {
    action()
    return true
  } catch (error) {
    if (error instanceof Error && error.cause instanceof PowerCut) return false
    throw error
  } finally {
    files.beforeChange = () => {}
  }
}

t.test('SegmentedLog equals the model', async (t) => {
  const only = process.env['WAL_SEED']
  const seeds =
    only === undefined ? Array.from({ length: SEEDS }, (_, position) => position + 1) : [Number(only)]
  for (const seed of seeds) {
    const wrong = runSeed(seed)
    if (wrong !== null)
      t.fail(`seed=${seed} rerun: WAL_SEED=${seed} node test/wal/workload.test.ts`, { wrong })
  }
  t.pass(`${seeds.length} histories of ${STEPS} steps`)
})
