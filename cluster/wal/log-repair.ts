/**
 * Closes the holes of a log with committed entries from a peer, or with a state that is past all holes.
 *
 * Owns: the remaining log when a lost entry turns out never to have been committed. Knows nothing of: files.
 * Rule: log matching [thesis 3.5]. A given entry that differs from the entry that was here proves that no entry from there
 * on was committed. It takes its place only where the entry before it is certainly committed (the base, or an entry that
 * was given too); otherwise the log ends before it, because the entry before it may be uncommitted as well.
 */
import assert from 'node:assert/strict'
import type { Entry, LogBase } from '../raft/types.ts'
import type { WalContent, WalRepair } from './wal.ts'

export interface RepairedLog {
  readonly base: LogBase
  readonly entries: readonly Entry[]
}

/** Compares the entry given for the hole at `index` with the lost one; `filling` has all given entries. */
export type Comparison = (index: number, filling: ReadonlyMap<number, Entry>) => boolean

export function repairedLog(content: WalContent, repair: WalRepair, isSame: Comparison): RepairedLog {
  return 'base' in repair
    ? repairedByState(content, repair.base)
    : { base: content.base, entries: repairedByEntries(content, repair.committed, isSame) }
}

function repairedByState({ base, entries, holes }: WalContent, state: LogBase): RepairedLog {
  const lastHole = holes.at(-1)?.index ?? 0
  assert(state.index >= lastHole, `a state at ${state.index} does not reach the hole at ${lastHole}`)
  assert(state.index >= base.index, `a state at ${state.index} lies before the base ${base.index}`)
  const isHole = lastHole === state.index
  const term = isHole ? holes.at(-1)?.term : termAt({ base, entries }, state.index)
  // Entries that follow an entry that differs from the one in the state were never committed.
  const rest = term === state.term ? entries.filter((entry) => entry.index > state.index) : []
  return { base: state, entries: rest }
}

function termAt({ base, entries }: RepairedLog, index: number): number | undefined {
  return index === base.index ? base.term : entries[index - base.index - 1]?.term
}

function repairedByEntries(content: WalContent, committed: readonly Entry[], isSame: Comparison): Entry[] {
  const filling = fillingOf(content, committed)
  const holes = new Set(content.holes.map((hole) => hole.index))
  const repaired: Entry[] = []
  let isCommittedBefore = true
  for (const entry of content.entries) {
    const given = filling.get(entry.index)
    assert(given || !holes.has(entry.index), `no entry is given for the hole at ${entry.index}`)
    if (given === undefined) {
      repaired.push(entry)
      isCommittedBefore = false
      continue
    }
    const isHole = holes.has(entry.index)
    const isEqual = isHole ? isSame(entry.index, filling) : given.term === entry.term
    if (!isEqual) return isCommittedBefore ? [...repaired, ...runFrom(entry.index, filling)] : repaired
    repaired.push(isHole ? given : entry)
    isCommittedBefore = true
  }
  return repaired
}

function fillingOf({ base }: WalContent, committed: readonly Entry[]): Map<number, Entry> {
  const lowest = committed.find((entry) => entry.index <= base.index)
  assert(lowest === undefined, `entry ${lowest?.index} lies at or below the base ${base.index}`)
  return new Map(committed.map((entry) => [entry.index, entry]))
}

/** Given entries that follow each other. */
function runFrom(index: number, filling: ReadonlyMap<number, Entry>): Entry[] {
  const run: Entry[] = []
  for (let entry = filling.get(index); entry !== undefined; entry = filling.get(entry.index + 1))
    run.push(entry)
  return run
}
