/**
 * The bytes of an entry of kind `command`: proposals of any nodes that travel together, and the leader's time stamp.
 *
 * Layout (docs/formats/log-entry.md): MessagePack array [1, time, [[nodeId, incarnation, boot, sequence, ackedBelow, command], ...]],
 * or [2, time, [], level] to raise the feature level of the state, or [3, time, [proposal]] where the one proposal ends with a
 * correction of the time, [1, withheldMs] to confirm or [2, seenTime] to set back.
 * Knows nothing of: what a command means. Rule: an envelope of another version, or of a wrong shape, is never skipped; it halts the
 * node, because a node that skips what its peers apply diverges from them.
 */
import { Packr } from 'msgpackr'
import { assert } from '../../base/assert.ts'
import type { NodeId } from '../../raft/types.ts'
import type { TimeCorrection } from '../../base/types.ts'

const VERSION = 1
/** Known since feature level 2, which nothing older is raised to. */
const VERSION_OF_RAISE = 2
/** Known since feature level 3. */
const VERSION_OF_CORRECTION = 3
const CONFIRM = 1
const SET_BACK = 2
const packr = new Packr({ useRecords: false, variableMapSize: true })

/** The process that proposes: `boot` rises with every process started on one data directory, so sequences may begin at 1 again. */
export interface ProposalSessionId {
  readonly nodeId: NodeId
  readonly incarnation: string
  readonly boot: number
}

export interface Proposal extends ProposalSessionId {
  /** Rises by one with every proposal of a session; a retry keeps it. */
  readonly sequence: number
  /** The session will never again ask for a sequence below this one. */
  readonly ackedBelow: number
  /** Empty: registers the session and does nothing else. */
  readonly command: Uint8Array
  /** Rows that its apply may change, as the proposing node estimates. Not part of an entry. Absent: not stated. */
  readonly cost?: number | undefined
  /** It travels in an entry of its own. Absent: none. */
  readonly correction?: TimeCorrection
}

export interface CommandEntry {
  /** The time that a majority's clocks had reached, 0 when the leader knew no majority. ms since 1970 UTC; may go back from entry to entry. */
  readonly time: number
  readonly proposals: readonly Proposal[]
  /** The state is at this feature level from here on, if it was not yet; null: the entry raises nothing. */
  readonly level: number | null
}

export function encodeCommandEntry(entry: Pick<CommandEntry, 'time' | 'proposals'>): Uint8Array {
  const isCorrection = entry.proposals.some(({ correction }) => correction !== undefined)
  assert(!isCorrection || entry.proposals.length === 1, 'a correction of the time has an entry of its own')
  const version = isCorrection ? VERSION_OF_CORRECTION : VERSION
  return ownBytes(packr.pack([version, entry.time, entry.proposals.map(toRow)]))
}

export function encodeRaise({ time, level }: { readonly time: number; readonly level: number }): Uint8Array {
  return ownBytes(packr.pack([VERSION_OF_RAISE, time, [], level]))
}

/**
 * The packer cuts its results from buffers that everything packed in this process shares. An entry stays in memory long after the others are
 * gone, and would hold all of their bytes as well.
 */
function ownBytes(packed: Uint8Array): Uint8Array {
  return new Uint8Array(packed)
}

export function decodeCommandEntry(data: Uint8Array): CommandEntry {
  const fields: unknown = packr.unpack(data)
  const version: unknown = Array.isArray(fields) ? fields[0] : null
  const isRaise = version === VERSION_OF_RAISE
  assert(
    isRaise || version === VERSION || version === VERSION_OF_CORRECTION,
    `log entry has version ${String(version)}, this node knows ${VERSION} to ${VERSION_OF_CORRECTION}`,
  )
  const [, time, rows, level] = arrayOf(fields, isRaise ? 4 : 3, 'log entry')
  assert(isCount(time), 'log entry carries a time in ms')
  assert(Array.isArray(rows), 'log entry carries a list of proposals')
  if (!isRaise) {
    const proposals = rows.map(fromRow)
    const corrections = proposals.filter(({ correction }) => correction !== undefined)
    const isCorrection = version === VERSION_OF_CORRECTION
    assert(corrections.length === (isCorrection ? 1 : 0), 'only an entry for it carries a correction')
    assert(!isCorrection || proposals.length === 1, 'a correction of the time has an entry of its own')
    return { time, proposals, level: null }
  }
  assert(isCount(level) && rows.length === 0, 'an entry that raises the level carries nothing else')
  return { time, proposals: [], level }
}

/** Null where `decodeCommandEntry` throws: for callers that do not apply it. */
export function decodedOrNull(data: Uint8Array): CommandEntry | null {
  try {
    return decodeCommandEntry(data)
  } catch {
    return null
  }
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
  const { nodeId, incarnation, boot, sequence, ackedBelow, command, correction } = proposal
  const row = [nodeId, incarnation, boot, sequence, ackedBelow, command]
  if (correction === undefined) return row
  const word =
    correction.kind === 'confirm' ? [CONFIRM, correction.withheldMs] : [SET_BACK, correction.seenTime]
  return [...row, word]
}

function fromRow(row: unknown): Proposal {
  const isCorrection = Array.isArray(row) && row.length === 7
  const [nodeId, incarnation, boot, sequence, ackedBelow, command, word] = arrayOf(
    row,
    isCorrection ? 7 : 6,
    'proposal',
  )
  assert(typeof nodeId === 'string' && typeof incarnation === 'string', 'a proposal names its session')
  assert(isCount(boot) && isCount(sequence) && isCount(ackedBelow), 'a proposal carries three counts')
  assert(sequence >= ackedBelow, 'a proposal is not older than what its session has acked')
  assert(command instanceof Uint8Array, 'a command is bytes')
  const proposal = { nodeId, incarnation, boot, sequence, ackedBelow, command }
  return isCorrection ? { ...proposal, correction: toCorrection(word) } : proposal
}

function toCorrection(word: unknown): TimeCorrection {
  const [kind, ms] = arrayOf(word, 2, 'correction')
  assert(isCount(ms) && (kind === CONFIRM || kind === SET_BACK), 'a correction has a kind and a time')
  return kind === CONFIRM ? { kind: 'confirm', withheldMs: ms } : { kind: 'setBack', seenTime: ms }
}

function arrayOf(value: unknown, length: number, what: string): readonly unknown[] {
  assert(Array.isArray(value) && value.length === length, `a ${what} is a list of ${length}`)
  return value
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
