/**
 * What the machine itself remembers beside the rows of the service, written in the same atomic batch as they.
 *
 * Layout (docs/formats/log-entry.md): MessagePack array [1, appliedIndex, appliedTerm, lastTime, [voters, learners, outgoing], sessions].
 * Knows nothing of: the rows. Rule: a function of the log up to `appliedIndex` and of nothing else, equal bytes on every node.
 */
import { Packr } from 'msgpackr'
import { assert } from './assert.ts'
import type { Configuration, LogIndex, NodeId, Term } from '../raft/types.ts'
import type { SessionRow } from './sessions.ts'

const VERSION = 1
const packr = new Packr({ useRecords: false, variableMapSize: true })

export interface MachineRecord {
  readonly appliedIndex: LogIndex
  readonly appliedTerm: Term
  /** Stamp of the last command entry, after it was made strictly monotonic. */
  readonly lastTime: number
  /** Committed: an uncommitted one would survive in a snapshot although its log may still be cut. */
  readonly configuration: Configuration
  readonly sessions: readonly SessionRow[]
}

export function encodeMachineRecord(record: MachineRecord): Uint8Array {
  const { voters, learners, outgoing } = record.configuration
  const sessions = record.sessions.map((s) => [s.nodeId, s.incarnation, s.boot, s.ackedBelow, s.applied])
  return packr.pack([
    VERSION,
    record.appliedIndex,
    record.appliedTerm,
    record.lastTime,
    [voters, learners, outgoing],
    sessions,
  ])
}

/** Throws on another version or shape: this node must not guess what a newer one wrote. */
export function decodeMachineRecord(bytes: Uint8Array): MachineRecord {
  const fields: unknown = packr.unpack(bytes)
  assert(
    Array.isArray(fields) && fields[0] === VERSION,
    'the machine record has a version that this node knows',
  )
  const [, appliedIndex, appliedTerm, lastTime, configuration, sessions]: unknown[] = fields
  assert(
    isCount(appliedIndex) && isCount(appliedTerm) && isCount(lastTime),
    'the machine record carries three counts',
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
    configuration: {
      voters: names(configuration[0]),
      learners: names(configuration[1]),
      outgoing: names(configuration[2]),
    },
    sessions: sessions.map(toSession),
  }
}

function toSession(row: unknown): SessionRow {
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
