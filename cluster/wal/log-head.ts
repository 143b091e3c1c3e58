/**
 * The head of the log: hard state, base and last entry, and the rules by which a batch changes them.
 *
 * Owns: the definition of a valid next batch. Knows nothing of: bytes, files, threads.
 * Rule: every adapter and the recovery use these functions, so that they cannot disagree.
 */
import assert from 'node:assert/strict'
import type { Entry, HardState, LogBase } from '../raft/types.ts'
import type { WalBatch } from './wal.ts'

export interface LogHead {
  readonly hardState: HardState
  readonly base: LogBase
  /** Index and term of the last entry; equal to `base` when the log is empty. */
  readonly last: LogBase
}

export const EMPTY_HEAD: LogHead = {
  hardState: { currentTerm: 0, votedFor: null },
  base: { index: 0, term: 0 },
  last: { index: 0, term: 0 },
}

function withHardState(head: LogHead, next: HardState): LogHead {
  const { currentTerm, votedFor } = head.hardState
  assert(next.currentTerm >= currentTerm, 'a durable term never falls [thesis 3.3]')
  assert(
    next.currentTerm > currentTerm || votedFor === null || votedFor === next.votedFor,
    'a vote is never changed or cleared within its term [thesis 3.4]',
  )
  return { ...head, hardState: next }
}

/** The head of an empty log that begins after `base`. */
export function withBase(head: LogHead, base: LogBase): LogHead {
  return { ...head, base, last: base }
}

/** The entries replace all entries from the first of them on. */
function withEntries(head: LogHead, entries: readonly Entry[]): LogHead {
  let last = head.last
  for (const [position, { index, term }] of entries.entries()) {
    assert(index > head.base.index, `entry ${index} lies at or below the base ${head.base.index}`)
    if (position === 0) assert(index <= last.index + 1, `entry ${index} leaves a gap after ${last.index}`)
    else
      assert(
        index === last.index + 1 && term >= last.term,
        `entry ${index} does not follow ${last.index} within its batch`,
      )
    last = { index, term }
  }
  return { ...head, last }
}

/** The head after a whole batch; throws when the batch is not valid. */
export function withBatch(head: LogHead, batch: Omit<WalBatch, 'sequence'>): LogHead {
  const { hardState, base, entries } = batch
  const stated = hardState === null ? head : withHardState(head, hardState)
  return withEntries(base === null ? stated : withBase(stated, base), entries)
}

/** Entries up to `base` are forgotten. A base at or below the present one changes nothing. */
export function withCompaction(head: LogHead, base: LogBase): LogHead {
  if (base.index <= head.base.index) return head
  assert(
    base.index <= head.last.index,
    `compaction to ${base.index} passes the last entry ${head.last.index}`,
  )
  return { ...head, base }
}

export function isSameHardState(one: HardState, other: HardState): boolean {
  return one.currentTerm === other.currentTerm && one.votedFor === other.votedFor
}

export function isSameHead(one: LogHead, other: LogHead): boolean {
  return (
    isSameHardState(one.hardState, other.hardState) &&
    isSamePosition(one.base, other.base) &&
    isSamePosition(one.last, other.last)
  )
}

function isSamePosition(one: LogBase, other: LogBase): boolean {
  return one.index === other.index && one.term === other.term
}
