/**
 * The bytes of an entry of kind `command`: proposals of any nodes that travel together, and the leader's time stamp.
 *
 * Layout (docs/formats/log-entry.md): MessagePack array [1, time, [[nodeId, incarnation, boot, sequence, ackedBelow, command], ...]],
 * or [2, time, [], level] to raise the feature level of the state.
 * Knows nothing of: what a command means. Rule: an envelope of another version, or of a wrong shape, is never skipped; it halts the
 * node, because a node that skips what its peers apply has another state than they have.
 */
import { Packr } from 'msgpackr'
import { assert } from './assert.ts'
import type { NodeId } from '../raft/types.ts'

const VERSION = 1
/** Known since feature level 2, which nothing older is raised to. */
const VERSION_OF_RAISE = 2
const packr = new Packr({ useRecords: false, variableMapSize: true })

/** Who asks: `boot` rises with every process started on one data directory, so sequences may begin at 1 again. */
export interface SessionId {
  readonly nodeId: NodeId
  readonly incarnation: string
  readonly boot: number
}

export interface Proposal extends SessionId {
  /** Rises by one with every proposal of a session; a retry keeps it. */
  readonly sequence: number
  /** The session will never again ask for a sequence below this one. */
  readonly ackedBelow: number
  /** Empty: registers the session and does nothing else. */
  readonly command: Uint8Array
}

export interface CommandEntry {
  /** Wall time of the leader that made the entry. ms since 1970 UTC; may go back from entry to entry. */
  readonly time: number
  readonly proposals: readonly Proposal[]
  /** The state is at this feature level from here on, if it was not yet; null: the entry raises nothing. */
  readonly level: number | null
}

export function encodeCommandEntry(entry: Pick<CommandEntry, 'time' | 'proposals'>): Uint8Array {
  return packr.pack([VERSION, entry.time, entry.proposals.map(toRow)])
}

export function encodeRaise({ time, level }: { readonly time: number; readonly level: number }): Uint8Array {
  return packr.pack([VERSION_OF_RAISE, time, [], level])
}

export function decodeCommandEntry(data: Uint8Array): CommandEntry {
  const fields: unknown = packr.unpack(data)
  const version: unknown = Array.isArray(fields) ? fields[0] : null
  const isRaise = version === VERSION_OF_RAISE
  assert(
    isRaise || version === VERSION,
    `log entry has version ${String(version)}, this node knows ${VERSION} and ${VERSION_OF_RAISE}`,
  )
  const [, time, rows, level] = arrayOf(fields, isRaise ? 4 : 3, 'log entry')
  assert(isCount(time), 'log entry carries a time in ms')
  assert(Array.isArray(rows), 'log entry carries a list of proposals')
  if (!isRaise) return { time, proposals: rows.map(fromRow), level: null }
  assert(isCount(level) && rows.length === 0, 'an entry that raises the level carries nothing else')
  return { time, proposals: [], level }
}

/** The body of a `propose` call: the same rows without a time, which only a leader may give. */
export function encodeProposals(proposals: readonly Proposal[]): Uint8Array {
  return packr.pack(proposals.map(toRow))
}

export function decodeProposals(data: Uint8Array): readonly Proposal[] {
  const rows: unknown = packr.unpack(data)
  assert(Array.isArray(rows), 'a propose call carries a list of proposals')
  return rows.map(fromRow)
}

function toRow(proposal: Proposal): readonly unknown[] {
  const { nodeId, incarnation, boot, sequence, ackedBelow, command } = proposal
  return [nodeId, incarnation, boot, sequence, ackedBelow, command]
}

function fromRow(row: unknown): Proposal {
  const [nodeId, incarnation, boot, sequence, ackedBelow, command] = arrayOf(row, 6, 'proposal')
  assert(typeof nodeId === 'string' && typeof incarnation === 'string', 'a proposal names its session')
  assert(isCount(boot) && isCount(sequence) && isCount(ackedBelow), 'a proposal carries three counts')
  assert(sequence >= ackedBelow, 'a proposal is not older than what its session has acked')
  assert(command instanceof Uint8Array, 'a command is bytes')
  return { nodeId, incarnation, boot, sequence, ackedBelow, command }
}

function arrayOf(value: unknown, length: number, what: string): readonly unknown[] {
  assert(Array.isArray(value) && value.length === length, `a ${what} is a list of ${length}`)
  return value
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
