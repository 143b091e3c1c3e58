/**
 * Decides how much of the applied log stays on disk.
 *
 * Owns: the sizes of the applied entries since the base, and whether a pin holds. Knows nothing of: segments, why a node pins.
 * Rules: only applied entries are dropped. Beyond the entries that are always kept, entries stay while a node needs them next (a pin)
 * and the log fits its bound on disk. A pin beyond the bound is dropped, and its node gets a snapshot.
 */
import type { Entry, EntrySpan, LogBase, LogIndex, NodeId } from '../../raft/types.ts'

export interface LogKeeperOptions {
  /** Kept whether or not a member needs them. Count and bytes of data; the lower limit wins. */
  readonly keepEntries: number
  readonly keepBytes: number
  /** At most so much is kept for pins, including what is always kept. Bytes of disk. */
  readonly pinBytes: number
}

/** The entries after `index` are needed by this node. */
export interface LogPin {
  readonly nodeId: NodeId
  readonly index: LogIndex
}

/** What stays beyond the log that is always kept, because of one node. */
export interface PinnedLog extends LogPin {
  readonly entries: number
  /** Of disk. */
  readonly bytes: number
}

interface Piece {
  /** Of its last entry. */
  index: LogIndex
  entries: number
  bytes: number
}

/** Compaction starts when a limit is exceeded by one part in this many, and then goes down to the limit: not at every entry. */
const SLACK = 8
/** Sizes are known for pieces of this share of a limit. */
const PIECES = 1024
/** An entry with a batch of its own takes this much of the disk beside its data. Bytes. */
const ENTRY_DISK_BYTES = 1024

export class LogKeeper {
  readonly #options: LogKeeperOptions
  /** After the base, ascending and contiguous. */
  #pieces: Piece[] = []
  #baseIndex: LogIndex
  #entries = 0
  #bytes = 0
  #givenUp = 0

  constructor(options: LogKeeperOptions, base: LogBase) {
    this.#options = options
    this.#baseIndex = base.index
  }

  /** Pins that did not fit into the bound of disk. Count. */
  get givenUp(): number {
    return this.#givenUp
  }

  onApplied(entries: readonly Pick<Entry, 'index' | 'data'>[]): void {
    for (const { index, data } of entries) this.#note(index, data.length)
  }

  /** At a start: the entries up to `appliedIndex` are applied. All entries of a span count as equally large. */
  onStored(spans: readonly EntrySpan[], appliedIndex: LogIndex): void {
    for (const { first, last, bytes } of spans) {
      const each = Math.round(bytes / (last - first + 1))
      for (let index = first; index <= Math.min(last, appliedIndex); index += 1) this.#note(index, each)
    }
  }

  onBase(base: LogBase): void {
    this.#baseIndex = base.index
    this.#pieces = []
    this.#entries = 0
    this.#bytes = 0
  }

  /** The index up to which the log may be dropped, or null when there is too little to gain. Counts it as dropped. */
  takeCompactable(pins: () => readonly LogPin[] = () => []): LogIndex | null {
    if (!this.#isDue) return null
    const target = this.#firstHeld(pins(), this.#keptAfter)
    let drop = 0
    for (const { index, entries, bytes } of this.#pieces) {
      if (index > target) break
      drop += 1
      this.#entries -= entries
      this.#bytes -= bytes
    }
    const last = this.#pieces[drop - 1]
    if (last === undefined) return null
    this.#pieces.splice(0, drop)
    this.#baseIndex = last.index
    return last.index
  }

  /** Of each pin that keeps more than what is always kept. */
  pinned(pins: readonly LogPin[]): readonly PinnedLog[] {
    const kept = this.#keptAfter
    return pins
      .filter(({ index }) => index < kept)
      .map((pin) => {
        const between = this.#pieces.filter(({ index }) => index > pin.index && index <= kept)
        return { ...pin, entries: sumOf(between, ({ entries }) => entries), bytes: sumOf(between, diskBytes) }
      })
  }

  get #isDue(): boolean {
    const { keepEntries, keepBytes } = this.#options
    return this.#entries > keepEntries + keepEntries / SLACK || this.#bytes > keepBytes + keepBytes / SLACK
  }

  /** Entries after this index are kept whether or not a member needs them. */
  get #keptAfter(): LogIndex {
    const { keepEntries, keepBytes } = this.#options
    let [entries, bytes, after] = [this.#entries, this.#bytes, this.#baseIndex]
    for (const piece of this.#pieces) {
      if (entries <= keepEntries && bytes <= keepBytes) break
      entries -= piece.entries
      bytes -= piece.bytes
      after = piece.index
    }
    return after
  }

  /** The lowest pin that fits the bound on disk, or what is always kept. */
  #firstHeld(pins: readonly LogPin[], kept: LogIndex): LogIndex {
    const lower = pins.filter(({ index }) => index < kept).toSorted((one, other) => one.index - other.index)
    for (const { index } of lower) {
      const bytes = sumOf(
        this.#pieces.filter((piece) => piece.index > index),
        diskBytes,
      )
      if (bytes <= this.#options.pinBytes) return index
      // A node before the base needs a snapshot already.
      if (index >= this.#baseIndex) this.#givenUp += 1
    }
    return kept
  }

  #note(index: LogIndex, bytes: number): void {
    // Entries before a snapshot that was installed meanwhile are no longer in the log.
    if (index !== this.#baseIndex + this.#entries + 1) return
    const piece = this.#openPiece()
    piece.index = index
    piece.entries += 1
    piece.bytes += bytes
    this.#entries += 1
    this.#bytes += bytes
  }

  #openPiece(): Piece {
    const { keepEntries, keepBytes } = this.#options
    const last = this.#pieces.at(-1)
    const isOpen = last && last.entries < keepEntries / PIECES && last.bytes < keepBytes / PIECES
    if (isOpen) return last
    const piece = { index: 0, entries: 0, bytes: 0 }
    this.#pieces.push(piece)
    return piece
  }
}

function diskBytes({ entries, bytes }: Piece): number {
  return bytes + entries * ENTRY_DISK_BYTES
}

function sumOf<T>(rows: readonly T[], value: (row: T) => number): number {
  return rows.reduce((sum, row) => sum + value(row), 0)
}
