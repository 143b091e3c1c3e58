/**
 * Closes the holes of a log with committed entries from a peer, or with a state that lies beyond all of them.
 *
 * Owns: what is left of a log whose lost entry turns out never to have been committed. Knows nothing of: files.
 * Rule: log matching [thesis 3.5]. A given entry that is not what stood here proves that nothing from there on was
 * committed. It takes its place only where what stands before it is committed for certain (the base, or an entry that
 * was given too); otherwise the log ends before it, because what stands before it may be as uncommitted.
 */
import assert from 'node:assert/strict'
import type { Entry, LogBase } from '../raft/types.ts'
import type { WalContent, WalMending } from './wal.ts'

export interface MendedLog {
  readonly base: LogBase
  readonly entries: readonly Entry[]
}

/** `isSame` compares the entry given for a hole, which is in `filling` with all the others, with what was lost. */
export type Comparison = (index: number, filling: ReadonlyMap<number, Entry>) => boolean

export function mendedLog(content: WalContent, mending: WalMending, isSame: Comparison): MendedLog {
  return 'base' in mending
    ? mendedByState(content, mending.base)
    : { base: content.base, entries: mendedByEntries(content, mending.committed, isSame) }
}

function mendedByState({ base, entries, holes }: WalContent, state: LogBase): MendedLog {
  const lastHole = holes.at(-1)?.index ?? 0
  assert(state.index >= lastHole, `a state at ${state.index} does not reach the hole at ${lastHole}`)
  assert(state.index >= base.index, `a state at ${state.index} lies before the base ${base.index}`)
  const isHole = lastHole === state.index
  const term = isHole ? holes.at(-1)?.term : termAt({ base, entries }, state.index)
  // Entries behind another entry than the one in the state never were committed.
  const rest = term === state.term ? entries.filter((entry) => entry.index > state.index) : []
  return { base: state, entries: rest }
}

function termAt({ base, entries }: MendedLog, index: number): number | undefined {
  return index === base.index ? base.term : entries[index - base.index - 1]?.term
}

function mendedByEntries(content: WalContent, committed: readonly Entry[], isSame: Comparison): Entry[] {
  const filling = fillingOf(content, committed)
  const holes = new Set(content.holes.map((hole) => hole.index))
  const mended: Entry[] = []
  let isCommittedBefore = true
  for (const entry of content.entries) {
    const given = filling.get(entry.index)
    assert(given || !holes.has(entry.index), `no entry is given for the hole at ${entry.index}`)
    if (given === undefined) {
      mended.push(entry)
      isCommittedBefore = false
      continue
    }
    const isHole = holes.has(entry.index)
    const isEqual = isHole ? isSame(entry.index, filling) : given.term === entry.term
    if (!isEqual) return isCommittedBefore ? [...mended, ...runFrom(entry.index, filling)] : mended
    mended.push(isHole ? given : entry)
    isCommittedBefore = true
  }
  return mended
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
