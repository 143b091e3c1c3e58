/**
 * A log simple enough to be obviously correct: its content after each step of a history.
 *
 * Knows nothing of: files. Rule: it shares no code with cluster/wal.
 */
import type { Entry, HardState, LogBase } from '../../cluster/raft/types.ts'
import type { WalBatch } from '../../cluster/wal/wal.ts'
import type { SegmentedLog } from '../../cluster/wal/segmented-log.ts'

export interface LogModel {
  readonly hardState: HardState
  readonly base: LogBase
  readonly entries: readonly Entry[]
}

export type Step = { readonly compact: LogBase } | { readonly batches: readonly WalBatch[] }

export const EMPTY: LogModel = {
  hardState: { currentTerm: 0, votedFor: null },
  base: { index: 0, term: 0 },
  entries: [],
}

function appended(model: LogModel, batch: Omit<WalBatch, 'sequence'>): LogModel {
  const hardState = batch.hardState ?? model.hardState
  if (batch.base !== null) return { hardState, base: batch.base, entries: batch.entries }
  const first = batch.entries[0]?.index
  const kept = first === undefined ? model.entries : model.entries.filter(({ index }) => index < first)
  return { hardState, base: model.base, entries: [...kept, ...batch.entries] }
}

function compacted(model: LogModel, base: LogBase): LogModel {
  return { ...model, base, entries: model.entries.filter(({ index }) => index > base.index) }
}

export function after(model: LogModel, step: Step): LogModel {
  return 'compact' in step ? compacted(model, step.compact) : step.batches.reduce(appended, model)
}

/** Hard state and base come with the first flush, then the entries, those of one term with one flush. */
export function statesDuring(model: LogModel, step: Step): LogModel[] {
  const end = after(model, step)
  if ('compact' in step) return [model, end]
  const terms = new Set(end.entries.map((entry) => entry.term))
  const cuts = [...terms].map((term) => ({
    ...end,
    entries: end.entries.filter((entry) => entry.term <= term),
  }))
  return [model, { ...end, entries: [] }, ...cuts, end]
}

export function run(log: SegmentedLog, step: Step): void {
  if ('compact' in step) log.compact(step.compact)
  else log.append(step.batches)
}

export function lastOf(model: LogModel): LogBase {
  return model.entries.at(-1) ?? model.base
}
