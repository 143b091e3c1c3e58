/**
 * Makes one consistent start out of two things on disk: the log and the state machine.
 *
 * Owns: what a crash between two of their writes may leave behind. Knows nothing of: how either is stored.
 * Rule: the state machine may be ahead of the log (then the log begins anew after it), never behind the log's base.
 */
import { StartError } from '../types.ts'
import type { Configuration, Entry, HardState, LogBase, RaftRestored } from '../raft/types.ts'
import type { WalContent } from '../wal/wal.ts'
import { decodeMachineRecord, type MachineRecord } from './machine-record.ts'

export interface Recovered {
  readonly restored: RaftRestored
  readonly record: MachineRecord
  /** Not null: the log on disk is void and must begin anew here before anything else is written. */
  readonly rebase: LogBase | null
}

/** Throws StartError `state_behind_log` or `log_missing`. `initial` is in force until the log says otherwise. */
export function recover(log: WalContent, recordBytes: Uint8Array | null, initial: Configuration): Recovered {
  const record = recordBytes ? decodeMachineRecord(recordBytes) : emptyRecord(initial)
  const applied: LogBase = { index: record.appliedIndex, term: record.appliedTerm }
  if (applied.index < log.base.index) throw stateBehindLog(applied, log.base)
  // Nothing is applied before some term is durable: a log without one was lost, and the votes in it with it.
  if (applied.index > 0 && log.hardState.currentTerm === 0) throw logMissing(applied)
  if (termAt(log, applied.index) === applied.term) {
    return { restored: restoredFrom(log.hardState, log.base, log.entries, record), record, rebase: null }
  }
  // A snapshot was installed and the crash came before the log heard of it. All that is applied is committed, so whatever the log
  // holds there instead, and after it, is void.
  const hardState = atLeastTerm(log.hardState, applied.term)
  return { restored: restoredFrom(hardState, applied, [], record), record, rebase: applied }
}

function emptyRecord(configuration: Configuration): MachineRecord {
  return { appliedIndex: 0, appliedTerm: 0, lastTime: 0, configuration, sessions: [] }
}

function restoredFrom(
  hardState: HardState,
  base: LogBase,
  entries: readonly Entry[],
  { configuration, appliedIndex }: MachineRecord,
): RaftRestored {
  return { hardState, base, entries, configuration, configurationIndex: 0, appliedIndex }
}

function termAt(log: WalContent, index: number): number | null {
  if (index === log.base.index) return log.base.term
  return log.entries[index - log.base.index - 1]?.term ?? null
}

/** No vote of the higher term can have left this node: it would have been durable first. */
function atLeastTerm(hardState: HardState, term: number): HardState {
  return hardState.currentTerm >= term ? hardState : { currentTerm: term, votedFor: null }
}

function logMissing(applied: LogBase): StartError {
  const message = `Cannot start: the state ends at index ${applied.index}, but the log is empty`
  return new StartError('log_missing', message, {
    hint: 'The raft directory was lost. Bring it back, or move this data directory away: without its log the node could vote twice in one term.',
  })
}

function stateBehindLog(applied: LogBase, base: LogBase): StartError {
  const message = `Cannot start: the state ends at index ${applied.index}, but the log begins after ${base.index}`
  return new StartError('state_behind_log', message, {
    hint: 'The state directory was lost or replaced by an older one. Bring back the state directory that belongs to this log; the other nodes go on without this one.',
  })
}
