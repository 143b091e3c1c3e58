/**
 * Decides how much of the applied log is kept for followers that lag.
 *
 * Owns: the sizes of the applied entries since the base. Knows nothing of: segments, followers.
 * Rule: only applied entries are given up; a follower that needs them gets a snapshot.
 */
import type { Entry, LogBase, LogIndex } from '../raft/types.ts'

export interface LogKeeperOptions {
  readonly keepEntries: number
  readonly keepBytes: number
}

/** Compaction begins when a limit is passed by one part in this many, and then goes down to the limit: not at every entry. */
const SLACK = 8

export class LogKeeper {
  readonly #options: LogKeeperOptions
  /** sizes[i] belongs to entry baseIndex + 1 + i. */
  #sizes: number[] = []
  #baseIndex: LogIndex
  #bytes = 0

  constructor(options: LogKeeperOptions, base: LogBase) {
    this.#options = options
    this.#baseIndex = base.index
  }

  onApplied(entries: readonly Entry[]): void {
    for (const { index, data } of entries) {
      // Entries from before a snapshot that came in meanwhile are no longer in the log.
      if (index !== this.#baseIndex + this.#sizes.length + 1) continue
      this.#sizes.push(data.length)
      this.#bytes += data.length
    }
  }

  onBase(base: LogBase): void {
    this.#baseIndex = base.index
    this.#sizes = []
    this.#bytes = 0
  }

  /** The index up to which the log may be given up, or null when there is too little to gain. Counts it as done. */
  takeDue(): LogIndex | null {
    const { keepEntries, keepBytes } = this.#options
    const isDue =
      this.#sizes.length > keepEntries + keepEntries / SLACK || this.#bytes > keepBytes + keepBytes / SLACK
    if (!isDue) return null
    let drop = 0
    while (this.#sizes.length - drop > keepEntries || this.#bytes > keepBytes) {
      this.#bytes -= this.#sizes[drop] ?? 0
      drop += 1
    }
    this.#sizes.splice(0, drop)
    this.#baseIndex += drop
    return this.#baseIndex
  }
}
