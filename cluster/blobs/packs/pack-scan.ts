/**
 * Finds the records of a pack from its bytes, without the index.
 *
 * Owns: the torn-tail rule and where the scan continues after damage. Knows nothing of: the index.
 * Rule: a batch is written only after the one before it was flushed, so a header of a later batch, or the end mark, proves
 * everything before it. Records without such a proof may be the remains of a write that was never acknowledged.
 */
import type { OpenFile } from '../../base/file-ops.ts'
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
  /** A later batch follows: these records were flushed. */
  readonly isProved: boolean
  /** Flushed places are unreadable. */
  readonly isDamaged: boolean
}

interface Batch {
  readonly number: number
  readonly records: PackRecord[]
  hasGap: boolean
}

/** Batch by batch, starting at `from`, which must be the start of a record. */
export async function* scanPack(
  file: OpenFile,
  frame: PackFrame,
  from: number,
): AsyncGenerator<ScannedGroup> {
  const { size: end } = await file.stat()
  const window = new Window(file)
  let batch: Batch | null = null
  let gapAt: number | null = null
  for (let at = Math.max(from, PACK_HEAD_BYTES); at < end; ) {
    const found = decodeRecordHeader(frame, at, await window.sectorAt(at))
    if (found === null) {
      gapAt ??= at
      at += SECTOR_BYTES
      continue
    }
    if (batch !== null && batch.number !== found.batch) {
      yield { records: batch.records, isProved: true, isDamaged: batch.hasGap }
      batch = null
    }
    // A gap that starts before the batch was flushed with an earlier batch; any other gap may be a part of this write.
    const isOfEarlier: boolean = gapAt !== null && gapAt < found.batchOffset
    if (isOfEarlier) yield { records: [], isProved: true, isDamaged: true }
    if (found.name === null) return
    batch ??= { number: found.batch, records: [], hasGap: false }
    batch.hasGap ||= gapAt !== null && !isOfEarlier
    gapAt = null
    batch.records.push(found)
    at += recordBytes(found.content.size)
  }
  if (batch !== null) yield { records: batch.records, isProved: false, isDamaged: false }
}

/** Reads sectors through a buffer. A sector that the disk fails to read counts as unreadable, like one with wrong bytes. */
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
