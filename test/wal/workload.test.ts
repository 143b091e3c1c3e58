/**
 * Random histories against a model that is simple enough to be obviously correct.
 *
 * Rule: after a restart the log holds all acknowledged entries, possibly followed by a prefix of the entries under way, with
 * holes only among the latter, which their writer can fill.
 */
import fc from 'fast-check'
import t from 'tap'
import type { WalBatch } from '../../cluster/wal/wal.ts'
import { batchOf, entry } from '../port-suites/wal.ts'
import { truthOf } from './known-log.ts'
import type { LogModel, Step } from './log-model.ts'
import { after, EMPTY, lastOf, run, statesDuring } from './log-model.ts'
import { contentOn, logOn, repairedOn, textOf } from './log-on-files.ts'
import { MemoryFiles } from './memory-files.ts'

const RUNS = 300
const SEED = 20260101

/** Small numbers that determine a step; the step is valid in the state where it is taken. */
const choices = fc.array(fc.nat({ max: 1023 }), { minLength: 14, maxLength: 14 })

interface Turn {
  readonly choices: readonly number[]
  /** The fate of the process: it continues, it ends in order, or the power is cut at a call. */
  readonly ending:
    | 'on'
    | 'restart'
    | { readonly call: number; readonly survives: readonly boolean[]; readonly names: number }
}

const turn: fc.Arbitrary<Turn> = fc.record({
  choices,
  ending: fc.oneof(
    { weight: 5, arbitrary: fc.constant('on' as const) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
    {
      weight: 1,
      arbitrary: fc.record({
        call: fc.integer({ min: 1, max: 6 }),
        survives: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        names: fc.nat({ max: 3 }),
      }),
    },
  ),
})

function batchFrom(model: LogModel, pick: (below: number) => number): WalBatch {
  const { currentTerm, votedFor } = model.hardState
  const term = currentTerm + (pick(4) === 0 ? 1 : 0)
  const candidate = ([null, 'node-a', 'node-b'] as const)[pick(3)] ?? null
  const vote = term === currentTerm && votedFor !== null ? votedFor : candidate
  const hardState = term > currentTerm || pick(5) === 0 ? { currentTerm: term, votedFor: vote } : null
  const last = lastOf(model)
  const terms = Math.max(term, last.term)
  const isInstalled = pick(15) === 0
  const base = isInstalled ? { index: model.base.index + pick(40), term: terms } : null
  const back = isInstalled || terms === last.term ? 0 : pick(model.entries.length + 1)
  const start = (base ?? last).index + 1 - back
  const size = 40 * pick(50)
  const made = Array.from({ length: pick(5) }, (_, position) =>
    entry(start + position, terms, 'x'.repeat(size)),
  )
  return batchOf(1, { hardState, base, entries: made })
}

function stepFrom(model: LogModel, numbers: readonly number[]): Step {
  let position = 0
  const pick = (below: number) => (numbers[position++ % numbers.length] ?? 0) % below
  const target = model.entries[pick(Math.max(1, model.entries.length))]
  if (target !== undefined && pick(6) === 0) return { compact: { index: target.index, term: target.term } }
  const batches: WalBatch[] = []
  for (let count = 1 + pick(3), state = model; count > 0; count--) {
    const batch = batchFrom(state, pick)
    batches.push(batch)
    state = after(state, { batches: [batch] })
  }
  return { batches }
}

class PowerLoss extends Error {}

function isCutOff(files: MemoryFiles, callsLeft: number, action: () => void): boolean {
  files.beforeChange = () => {
    if (--callsLeft <= 0) throw new PowerLoss()
  }
  try {
    action()
    return false
  } catch (error) {
    if (error instanceof Error && error.cause instanceof PowerLoss) return true
    throw error
  } finally {
    files.beforeChange = () => {}
  }
}

/** Throws where the log and the model differ. */
function live(turns: readonly Turn[], segmentBytesMax: number): void {
  let files = new MemoryFiles()
  let log = logOn(files, { segmentBytesMax })
  let model = EMPTY
  log.open()
  for (const { choices: numbers, ending } of turns) {
    const step = stepFrom(model, numbers)
    const call = typeof ending === 'object' ? ending.call : Number.POSITIVE_INFINITY
    let valid = statesDuring(model, step)
    if (!isCutOff(files, call, () => run(log, step))) valid = [after(model, step)]
    if (ending === 'on') {
      model = after(model, step)
      continue
    }
    log.close()
    if (typeof ending === 'object') {
      const keeps = (position: number) => ending.survives[position % ending.survives.length] ?? false
      files = files.afterPowerCut({ names: ending.names, keeps, keepsLength: keeps(0) })
    }
    model = found(files, step, valid)
    log = logOn(files, { segmentBytesMax })
    log.open()
  }
}

/** Which of the valid states a start finds. */
function found(files: MemoryFiles, step: Step, valid: readonly LogModel[]): LogModel {
  const { content } = repairedOn(files, truthOf('batches' in step ? step.batches : []))
  const model = valid.find((state) => textOf({ ...state, holes: [] }) === content)
  if (model === undefined) throw new Error(`the log is ${content}`)
  if (contentOn(files.copy()) !== content) throw new Error('a second start reads another log')
  return model
}

t.test('SegmentedLog equals the model for any history with restarts and power cuts', async (t) => {
  const histories = fc.property(
    fc.array(turn, { minLength: 1, maxLength: 40 }),
    fc.integer({ min: 1024, max: 12_000 }),
    live,
  )
  fc.assert(histories, { numRuns: RUNS, seed: SEED })
  t.pass(`${RUNS} histories, seed ${SEED}`)
})
