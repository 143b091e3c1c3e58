/**
 * Reads entries back from the segments of a log that is in use.
 *
 * Owns: walking forward from a point of the index, with all checks. Knows nothing of: the readers of the entries.
 * Rule: every byte that counts passes the same checks as at a start: header, payload, and the chain over the whole batch. A failed
 * check is damage, never a torn tail, because only durable entries are read. Memory: one batch and the returned entries.
 */
import type { Entry, LogIndex } from '../raft/types.ts'
import { readEntries } from './batch-entries.ts'
import type { BatchRecord } from './batch-record.ts'
import type { EntryIndex, IndexPoint } from './entry-index.ts'
import type { FileOps } from './file-ops.ts'
import { FirstFormatReader } from './first-format-reader.ts'
import { readRecord } from './frame-format.ts'
import { decodeSegmentHeads, SECTOR_BYTES } from './segment-format.ts'
import { WalCorruptError } from './wal-errors.ts'
import type { WalRange } from './wal.ts'

/** Size of one read of a file, unless a batch is larger. Bytes. */
const CHUNK_BYTES = 256 * 1024

/** Entries starting at `from` without a gap, at least one; null when no segment holds `from`. Throws WalCorruptError. */
export function readRange(files: FileOps, index: EntryIndex, range: WalRange): readonly Entry[] | null {
  const found = new Found(range)
  while (!found.isFull) {
    const point = index.pointOf(found.next)
    if (point === null) break
    if (point.isFirstFormat) readFirstFormat(files, point, found)
    else new PointReader(files, point).read(found)
  }
  return found.entries.length === 0 ? null : found.entries
}

/** The entries of a range that were found so far. */
class Found {
  readonly entries: Entry[] = []
  readonly #range: WalRange
  #bytes = 0

  constructor(range: WalRange) {
    this.#range = range
  }

  get next(): LogIndex {
    return this.#range.from + this.entries.length
  }

  get isFull(): boolean {
    const { through, bytesMax } = this.#range
    return this.next > through || (this.entries.length > 0 && this.#bytes >= bytesMax)
  }

  add(entry: Entry): void {
    const { bytesMax } = this.#range
    this.#bytes += entry.data.length
    // An entry that exceeds the limit ends the range and is read the next time, unless it is the first.
    if (this.entries.length > 0 && this.#bytes > bytesMax) return
    this.entries.push(entry)
  }
}

class PointReader {
  readonly #files: FileOps
  readonly #point: IndexPoint
  #bytes: Buffer = Buffer.alloc(0)
  /** Where in the file #bytes begin. */
  #start = 0
  #offset: number
  #chain: number

  constructor(files: FileOps, point: IndexPoint) {
    this.#files = files
    this.#point = point
    this.#offset = point.offset
    this.#chain = point.chain
  }

  read(found: Found): void {
    while (!found.isFull && found.next <= this.#point.last) {
      const record = this.#record()
      const last = record.entryCount === 0 ? 0 : record.last.index
      if (last >= found.next) this.#takeFrom(record, found)
      this.#offset += record.sectors * SECTOR_BYTES
      this.#chain = record.chain
    }
  }

  #record(): BatchRecord {
    this.#load(SECTOR_BYTES)
    const record = readRecord(this.#bytes, this.#offset - this.#start, { salt: this.#salt, kind: 'opening' })
    if (record === null) throw this.#damage('the record of a batch cannot be read')
    return record
  }

  #takeFrom(record: BatchRecord, found: Found): void {
    this.#load(record.sectors * SECTOR_BYTES)
    const place = { salt: this.#salt, offset: this.#offset - this.#start, chain: this.#chain }
    const { entries, lost, chained } = readEntries({ bytes: this.#bytes, record, place })
    if (lost.length > 0 || chained === 'never' || chained === 'unknown')
      throw this.#damage('entries of a batch cannot be read')
    if (entries[0] !== undefined && entries[0].index > found.next)
      throw this.#damage(`entry ${found.next} is not where it was written`)
    for (const entry of entries) {
      if (found.isFull || entry.index > this.#point.last) return
      if (entry.index === found.next) found.add(entry)
    }
  }

  /** Checks in a file are seeded with their offset; offsets in #bytes start at #start. */
  get #salt(): number {
    return this.#point.salt + this.#start
  }

  /** Loads `bytes` bytes from the offset on, as far as the file reaches. */
  #load(bytes: number): void {
    if (this.#offset >= this.#start && this.#offset + bytes <= this.#start + this.#bytes.length) return
    const read = this.#files.readAt(this.#point.path, this.#offset, Math.max(bytes, CHUNK_BYTES))
    this.#bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength)
    this.#start = this.#offset
  }

  #damage(what: string): WalCorruptError {
    return new WalCorruptError({ file: this.#point.path, offset: this.#offset }, what)
  }
}

/** Rare: such segments remain from an upgrade until a compaction deletes them. */
function readFirstFormat(files: FileOps, { path, offset, last }: IndexPoint, found: Found): void {
  const read = files.read(path, files.size(path))
  const bytes = Buffer.from(read.buffer, read.byteOffset, read.byteLength)
  const [head] = decodeSegmentHeads(bytes).heads
  if (head === undefined) throw new WalCorruptError({ file: path, offset: 0 }, 'its head cannot be read')
  const reader = new FirstFormatReader({ file: path, bytes, head, isLast: false })
  let start = reader.offset
  for (const { entries } of reader.batches()) {
    for (const entry of start < offset ? [] : entries) {
      if (found.isFull || entry.index > last) return
      if (entry.index === found.next) found.add(entry)
    }
    start = reader.offset
  }
  if (found.next <= last && !found.isFull)
    throw new WalCorruptError({ file: path, offset }, `entry ${found.next} is not where it was written`)
}
