/**
 * The place of each live entry in the segments, as points every few batches.
 *
 * Owns: points from which a reader walks forward. Knows nothing of: bytes, files, the use of entries.
 * Rule: from a point on, the batches of its segment hold the entries first..last in order and no other entry that counts; once a
 * later batch replaces entries of a point, the point is not extended any more. Memory: one point for 64 KiB of log.
 */
import type { LogIndex } from '../raft/types.ts'
import type { LoggedBatch } from './frame-format.ts'

/** The place of a batch and the values needed to read it. */
export interface BatchAddress {
  readonly path: string
  readonly salt: number
  readonly offset: number
  /** Chain value before the batch. */
  readonly chain: number
  /** The segment has format version 1, which can only be read from the beginning. */
  readonly isFirstFormat: boolean
}

export interface IndexPoint extends BatchAddress {
  readonly first: LogIndex
  readonly last: LogIndex
}

interface OpenPoint extends IndexPoint {
  last: LogIndex
  /** Replaced entries follow its last entry. */
  isCut: boolean
}

const POINT_BYTES = 64 * 1024

export class EntryIndex {
  #points: OpenPoint[] = []

  /** Notes a batch that was written, or found, at this place. Called in the order of the log. */
  note(address: BatchAddress, { baseRule, base, entries }: LoggedBatch): void {
    if (baseRule === 'void') this.#points = []
    if (baseRule === 'forget') this.#forget(base.index)
    const [first, last] = [entries[0]?.index, entries.at(-1)?.index]
    if (first === undefined || last === undefined) return
    this.#truncateFrom(first)
    const open = this.#points.at(-1)
    const isNext =
      open !== undefined &&
      !open.isCut &&
      open.path === address.path &&
      open.last === first - 1 &&
      address.offset - open.offset < POINT_BYTES
    if (isNext) open.last = last
    else this.#points.push({ ...address, first, last, isCut: false })
  }

  clear(): void {
    this.#points = []
  }

  /** Null when no segment holds the entry. */
  pointOf(index: LogIndex): IndexPoint | null {
    let [low, high] = [0, this.#points.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const point = this.#points[middle]
      if (point !== undefined && point.last < index) low = middle + 1
      else high = middle
    }
    const point = this.#points[low]
    return point !== undefined && point.first <= index ? point : null
  }

  #truncateFrom(index: LogIndex): void {
    for (
      let point = this.#points.at(-1);
      point !== undefined && point.last >= index;
      point = this.#points.at(-1)
    ) {
      if (point.first < index) {
        point.last = index - 1
        point.isCut = true
        return
      }
      this.#points.pop()
    }
  }

  #forget(index: LogIndex): void {
    const alive = this.#points.findIndex((point) => point.last > index)
    this.#points.splice(0, alive === -1 ? this.#points.length : alive)
  }
}
