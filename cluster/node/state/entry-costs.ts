/**
 * What it costs to apply the entries that wait, so that a batch can be bounded.
 *
 * Owns: entries that were decoded to be estimated, until they are applied: none is decoded twice. Knows nothing of: batches, what
 * commands do. Rule: it holds entries that wait and no others, so their number is bounded by what may wait.
 */
import type { Entry, LogIndex } from '../../raft/types.ts'
import type { StateMachine } from '../../base/types.ts'
import { type CommandEntry, decodeCommandEntry } from '../base/log-entry.ts'
import { costOf } from '../proposals/batcher.ts'
import { damageIn } from './quarantine.ts'

export class EntryCosts {
  readonly #stateMachine: Pick<StateMachine, 'cost'>
  readonly #decoded = new Map<LogIndex, CommandEntry>()

  constructor(stateMachine: Pick<StateMachine, 'cost'>) {
    this.#stateMachine = stateMachine
  }

  /** Rows. Throws StateDamagedError. */
  of(entry: Entry): number {
    if (entry.kind !== 'command') return 0
    try {
      return this.#decode(entry).proposals.reduce(
        (sum, { command }) => sum + (this.#stateMachine.cost?.(command) ?? costOf({ command })),
        0,
      )
    } catch (error) {
      if (damageIn(error) !== null) throw error
      // It is skipped, or fails when its turn comes: in a batch of its own, so that the entries before it are applied.
      return Number.POSITIVE_INFINITY
    }
  }

  /** The entry at this index, which waits no longer. Undefined: its cost was never asked for. */
  take(index: LogIndex): CommandEntry | undefined {
    const entry = this.#decoded.get(index)
    this.#decoded.delete(index)
    return entry
  }

  /** The entries that waited were dropped. */
  clear(): void {
    this.#decoded.clear()
  }

  #decode({ index, data }: Entry): CommandEntry {
    const entry = this.#decoded.get(index) ?? decodeCommandEntry(data)
    this.#decoded.set(index, entry)
    return entry
  }
}
