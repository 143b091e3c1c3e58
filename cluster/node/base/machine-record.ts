/**
 * The record of the machine beside the rows of the service, written in the same atomic batch.
 *
 * Layout (docs/formats/log-entry.md): MessagePack array
 * [2, appliedIndex, appliedTerm, lastTime, [voters, learners, outgoing], sessions, recoveryEpoch, featureLevel,
 * configurationIndex, withheldMs, highTime]; the last two exist from TIME_LEVEL on, version 1 has no last five. The version
 * stays: a node that does not know the last two reads the level before them and refuses the state with a hint.
 * Knows nothing of: the rows. Rule: a function of the log up to `appliedIndex` and of nothing else, equal bytes on every node.
 */
import { Packr } from 'msgpackr'
import { assert } from '../../base/assert.ts'
import type { Configuration, LogIndex, NodeId, Term } from '../../raft/types.ts'
import { type LogTimeRecord, TIME_LEVEL } from './log-time.ts'
import type { ProposalSessionRow } from './proposal-sessions.ts'

const VERSION = 2
/** Written before recovery epochs and feature levels existed: read as 0 and 1, without a configuration from an entry. */
const VERSION_WITHOUT_LEVELS = 1
const VERSIONS: readonly unknown[] = [VERSION, VERSION_WITHOUT_LEVELS]
const packr = new Packr({ useRecords: false, variableMapSize: true })

export interface MachineRecord extends LogTimeRecord {
  readonly appliedIndex: LogIndex
  readonly appliedTerm: Term
  /** Committed: an uncommitted one would survive in a snapshot although its log may still be cut. */
  readonly configuration: Configuration
  /** Of the entry that brought it; 0 for the initial one. */
  readonly configurationIndex: LogIndex
  readonly sessions: readonly ProposalSessionRow[]
  /** Rises when an operator brings the group back without its majority; a node at a lower epoch was left behind. */
  readonly recoveryEpoch: number
  /** What a node must know to apply this state. */
  readonly featureLevel: number
}

export function encodeMachineRecord(record: MachineRecord): Uint8Array {
  const { voters, learners, outgoing } = record.configuration
  const sessions = record.sessions.map((s) => [s.nodeId, s.incarnation, s.boot, s.ackedBelow, s.applied])
  const isTimed = record.featureLevel >= TIME_LEVEL
  return packr.pack([
    VERSION,
    record.appliedIndex,
    record.appliedTerm,
    record.lastTime,
    [voters, learners, outgoing],
    sessions,
    record.recoveryEpoch,
    record.featureLevel,
    record.configurationIndex,
    ...(isTimed ? [record.withheldMs, record.highTime] : []),
  ])
}

/** Throws on another version or shape: this node must not guess what a newer one wrote. */
export function decodeMachineRecord(bytes: Uint8Array): MachineRecord {
  const fields: unknown = packr.unpack(bytes)
  assert(
    Array.isArray(fields) && VERSIONS.includes(fields[0]),
    'the machine record has a version that this node knows',
  )
  const [version, appliedIndex, appliedTerm, lastTime, configuration, sessions, ...levels]: unknown[] = fields
  const [recoveryEpoch, featureLevel, configurationIndex]: unknown[] =
    version === VERSION_WITHOUT_LEVELS ? [0, 1, 0] : levels
  const isTimed = isCount(featureLevel) && featureLevel >= TIME_LEVEL
  const [withheldMs, highTime]: unknown[] = isTimed ? levels.slice(3) : [0, lastTime]
  assert(isCount(recoveryEpoch) && isCount(featureLevel), 'the machine record carries an epoch and a level')
  assert(isCount(configurationIndex), 'the machine record says where its configuration came from')
  assert(
    isCount(appliedIndex) && isCount(appliedTerm) && isCount(lastTime),
    'the machine record carries three counts',
  )
  assert(
    isCount(withheldMs) && isCount(highTime) && withheldMs <= lastTime && highTime >= lastTime,
    'the machine record carries what of its time is withheld, and the latest there was',
  )
  assert(
    Array.isArray(configuration) && configuration.length === 3,
    'a configuration is three lists of names',
  )
  assert(Array.isArray(sessions), 'the machine record carries sessions')
  return {
    appliedIndex,
    appliedTerm,
    lastTime,
    withheldMs,
    highTime,
    configuration: {
      voters: names(configuration[0]),
      learners: names(configuration[1]),
      outgoing: names(configuration[2]),
    },
    configurationIndex,
    sessions: sessions.map(toProposalSession),
    recoveryEpoch,
    featureLevel,
  }
}

function toProposalSession(row: unknown): ProposalSessionRow {
  assert(Array.isArray(row) && row.length === 5, 'a session is a list of five')
  const [nodeId, incarnation, boot, ackedBelow, applied]: unknown[] = row
  assert(typeof nodeId === 'string' && typeof incarnation === 'string', 'a session names its node')
  assert(isCount(boot) && isCount(ackedBelow), 'a session carries two counts')
  assert(Array.isArray(applied) && applied.length % 2 === 0 && applied.every(isCount), 'ranges come in pairs')
  return { nodeId, incarnation, boot, ackedBelow, applied }
}

function names(value: unknown): readonly NodeId[] {
  assert(Array.isArray(value) && value.every((name) => typeof name === 'string'), 'members are named by text')
  return value
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
