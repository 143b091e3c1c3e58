/**
 * Makes one consistent start out of two things on disk: the log and the state machine.
 *
 * Owns: what a crash between two of their writes may leave behind. Knows nothing of: how either is stored; damage, which is repaired
 * before (log-repair.ts). Rule: the state machine may be ahead of the log (then the log starts again after it), never behind its base.
 */
import { StartError } from '../../base/types.ts'
import { assert } from '../../base/assert.ts'
import { FEATURE_LEVEL, FIRST_LEVEL } from '../base/feature-level.ts'
import type { Configuration, HardState, LogBase, RaftRestored } from '../../raft/types.ts'
import { endOf, termIn } from '../../wal/entry-spans.ts'
import type { WalContent } from '../../wal/wal.ts'
import { decodeMachineRecord, type MachineRecord } from '../base/machine-record.ts'

export interface Recovered {
  readonly restored: RaftRestored
  readonly record: MachineRecord
  /** Not null: written before anything else. With a base, the log on disk is void and starts again there. */
  readonly rewrite: { readonly hardState: HardState; readonly base: LogBase | null } | null
}

/** Throws StartError `log_missing` or `feature_level_too_high`. `initial` is in force until the log says otherwise. */
export function recover(
  log: WalContent,
  recordBytes: Uint8Array | null,
  initial: Configuration,
  featureLevelMax: number = FEATURE_LEVEL,
): Recovered {
  const record = recordBytes ? decodeMachineRecord(recordBytes) : emptyRecord(initial)
  const applied: LogBase = { index: record.appliedIndex, term: record.appliedTerm }
  if (record.featureLevel > featureLevelMax) throw featureLevelTooHigh(record.featureLevel, featureLevelMax)
  assert(applied.index >= log.base.index && log.holes.length === 0, 'damage is repaired before a node starts')
  // No entry is applied before some term is durable: a log without a term was lost together with its votes.
  if (applied.index > 0 && log.hardState.currentTerm === 0) throw logMissing(applied)
  if (termIn(log, applied.index) === applied.term) {
    // An entry that a peer sent to fill a hole may be of a term that this node does not know yet.
    const hardState = atLeastTerm(log.hardState, endOf(log).term)
    const rewrite = hardState === log.hardState ? null : { hardState, base: null }
    return { restored: restoredFrom({ ...log, hardState }, record), record, rewrite }
  }
  // A snapshot was installed and the node crashed before the log was realigned, or the log was cut (disk-findings.ts distinguishes them).
  // Applied entries are committed, so any other entry of the log at that index, and all after it, are void.
  const hardState = atLeastTerm(log.hardState, applied.term)
  return {
    restored: restoredFrom({ hardState, base: applied, entries: [] }, record),
    record,
    rewrite: { hardState, base: applied },
  }
}

function emptyRecord(configuration: Configuration): MachineRecord {
  return {
    appliedIndex: 0,
    appliedTerm: 0,
    lastTime: 0,
    withheldMs: 0,
    highTime: 0,
    configuration,
    configurationIndex: 0,
    sessions: [],
    recoveryEpoch: 0,
    featureLevel: FIRST_LEVEL,
  }
}

function restoredFrom(
  { hardState, base, older = [], entries }: Omit<WalContent, 'holes'>,
  { configuration, configurationIndex, appliedIndex }: MachineRecord,
): RaftRestored {
  return { hardState, base, older, entries, configuration, configurationIndex, appliedIndex }
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

function featureLevelTooHigh(level: number, known: number): StartError {
  const message = `Cannot start: the state is at feature level ${level}, this version knows ${known}`
  return new StartError('feature_level_too_high', message, {
    hint: 'Start this node with the version that the other nodes run, or a newer one; a state never goes back.',
  })
}
