/**
 * Splits entries to write into batches of one term each.
 *
 * Owns: the order in which the batches become durable. Knows nothing of: bytes.
 * Rule: each prefix of the runs is a valid log, because each run has its own flush and a crash may come between two.
 * So hard state and base are in the first run: an entry is never in a log whose term is lower than the entry's.
 */
import type { Entry, HardState, LogBase } from '../raft/types.ts'
import type { BaseRule } from './batch-record.ts'
import type { LoggedBatch } from './frame-format.ts'

export interface RunsToWrite {
  readonly firstBatch: number
  readonly hardState: HardState
  readonly base: LogBase
  readonly baseRule: BaseRule
  /** Contiguous, terms never falling. */
  readonly entries: readonly Entry[]
  /** Last entry of the log when there are no entries. */
  readonly last: LogBase
}

/** A run that holds this much is closed. Far more than the thread puts into one group. */
const RUN_BYTES_MAX = 32 * 1024 * 1024

/** Returns at least one batch, also without entries. */
export function batchRuns({ firstBatch, entries, ...state }: RunsToWrite): LoggedBatch[] {
  return runsOf(entries).map((run, position) => ({
    ...state,
    number: firstBatch + position,
    baseRule: position === 0 ? state.baseRule : 'none',
    entries: run,
    last: lastOf(run) ?? state.last,
  }))
}

function runsOf(entries: readonly Entry[]): Entry[][] {
  let run: Entry[] = []
  let bytes = 0
  const runs = [run]
  for (const entry of entries) {
    const isFull = bytes >= RUN_BYTES_MAX
    if (run.length > 0 && (isFull || run[0]?.term !== entry.term)) {
      runs.push((run = []))
      bytes = 0
    }
    run.push(entry)
    bytes += entry.data.byteLength
  }
  return runs
}

function lastOf(run: readonly Entry[]): LogBase | undefined {
  const last = run.at(-1)
  return last && { index: last.index, term: last.term }
}
