/**
 * Finds the records of a pack from its bytes alone.
 *
 * Owns: the torn-tail rule and the way on after damage. Knows nothing of: the index.
 * Rule: a batch is written only after the one before it was flushed, so a header of a later batch, or the end mark, proves
 * everything before it. What nothing proves may be the leavings of a write that was never acknowledged.
 */
import type { OpenFile } from '../file-ops.ts'
import { readFully } from './pack-bytes.ts'
import {
  decodeRecordHeader,
  PACK_HEAD_BYTES,
  type PackFrame,
  type PackRecord,
  recordBytes,
  SECTOR_BYTES,
} from './pack-record.ts'

/** Read at once while looking for headers: many small records in one read, and not too much of a large one. */
const WINDOW_BYTES = 16 * 1024

export interface ScannedGroup {
  readonly records: readonly PackRecord[]
  /** A later batch follows: these were flushed, and so was whatever stood in unreadable places between them. */
  readonly isProved: boolean
  /** Places before or between these records hold nothing that can be read, although they were flushed. */
  readonly hasGap: boolean
}

interface Batch {
  readonly number: number
  readonly records: PackRecord[]
  hasGap: boolean
}

/**
 * Batch by batch from `from` on, which must be the beginning of a record. A gap counts for the batch behind it: if that is the
 * last one, both may be the leavings of one write.
 */
export async function* scanPack(
  file: OpenFile,
  frame: PackFrame,
  from: number,
): AsyncGenerator<ScannedGroup> {
  const { size: end } = await file.stat()
  const window = new Window(file)
  let batch: Batch | null = null
  let hasGap = false
  for (let at = Math.max(from, PACK_HEAD_BYTES); at < end; ) {
    const found = decodeRecordHeader(frame, at, await window.sectorAt(at))
    if (found === null) {
      hasGap = true
      at += SECTOR_BYTES
      continue
    }
    const number: number = 'endBatch' in found ? found.endBatch : found.batch
    if (batch !== null && batch.number !== number) {
      yield { records: batch.records, isProved: true, hasGap: batch.hasGap }
      batch = null
    }
    if ('endBatch' in found) {
      if (hasGap) yield { records: [], isProved: true, hasGap }
      return
    }
    batch ??= { number, records: [], hasGap: false }
    batch.hasGap ||= hasGap
    hasGap = false
    batch.records.push(found)
    at += recordBytes(found.content.size)
  }
  if (batch !== null) yield { records: batch.records, isProved: false, hasGap: batch.hasGap }
}

/** What the disk cannot read is as unreadable as what it reads wrongly. */
class Window {
  readonly #file: OpenFile
  #start = 0
  #bytes: Buffer = Buffer.alloc(0)

  constructor(file: OpenFile) {
    this.#file = file
  }

  async sectorAt(at: number): Promise<Buffer> {
    if (at < this.#start || at + SECTOR_BYTES > this.#start + this.#bytes.length) {
      this.#start = at
      this.#bytes = await this.#read(at, WINDOW_BYTES).catch(() => this.#read(at, SECTOR_BYTES))
    }
    return this.#bytes.subarray(at - this.#start, at - this.#start + SECTOR_BYTES)
  }

  async #read(at: number, length: number): Promise<Buffer> {
    if (length > SECTOR_BYTES) return readFully(this.#file, at, length)
    return readFully(this.#file, at, length).catch(() => Buffer.alloc(0))
  }
}
