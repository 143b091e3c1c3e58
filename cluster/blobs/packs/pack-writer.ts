/**
 * Appends records to the newest pack, many with one flush.
 *
 * Owns: the current pack, its batches, when the next pack starts. Knows nothing of: names that exist already.
 * Rule: a batch is written only after the one before it was flushed, and a record counts only after its own flush. Only one run
 * of one process writes a pack: each start begins a new pack, so a torn end is never overwritten.
 */
import { randomBytes } from 'node:crypto'
import { setImmediate as turnEnd } from 'node:timers/promises'
import type { BlobName } from '../../base/types.ts'
import { HEADER_BYTES } from '../base/blob-header.ts'
import { fileNameOf } from '../base/blob-name.ts'
import type { BlobContent } from '../base/blob-store.ts'
import { orRefusal } from '../base/disk-refusals.ts'
import type { StoreParts } from '../files/file-blob-store.ts'
import type { OpenFile } from '../../base/file-ops.ts'
import type { Place } from './index-rows.ts'
import type { PackIndex } from './pack-index.ts'
import {
  encodeEnd,
  encodePackHead,
  encodeRecordHeader,
  PACK_HEAD_BYTES,
  type PackFrame,
  recordBytes,
  SALT_BYTES,
  SECTOR_BYTES,
} from './pack-record.ts'

/** The most bytes that one flush covers, unless a single record is larger. */
const BATCH_BYTES = 8 * 1024 * 1024
const ZEROS = Buffer.alloc(SECTOR_BYTES)

export interface NewRecord {
  readonly name: BlobName
  readonly content: BlobContent
  readonly pieces: readonly Uint8Array[]
  /** The caller did not look the name up: the index is asked once for all such names of a batch. */
  readonly isNew?: boolean
  /** Runs when the record is durable, before the index advances past it. `earlier`: to which place a new name leads all the same. */
  readonly onDurable: (place: Place, earlier: Place | null) => void
}

interface Waiting {
  readonly record: NewRecord
  readonly resolve: (place: Place) => void
  readonly reject: (cause: unknown) => void
}

interface CurrentPack {
  readonly frame: PackFrame
  readonly file: OpenFile
  /** Everything before this offset is flushed. */
  end: number
  batch: number
}

export interface PackWriterOptions {
  readonly packBytesMax: number
  /** The number of the first pack; no pack with this or a higher number may ever have been written. */
  readonly firstPack: number
}

export class PackWriter {
  readonly #parts: StoreParts
  readonly #index: PackIndex
  readonly #packBytesMax: number
  #nextPack: number
  #current: CurrentPack | null = null
  /** Bounded by the callers, which limit the bytes of their records. */
  #queue: Waiting[] = []
  #draining: Promise<void> | null = null

  constructor(parts: StoreParts, index: PackIndex, { packBytesMax, firstPack }: PackWriterOptions) {
    this.#parts = parts
    this.#index = index
    this.#packBytesMax = packBytesMax
    this.#nextPack = firstPack
  }

  /** Must not be compacted, because it may still grow. */
  get currentPack(): number | null {
    return this.#current?.frame.pack ?? null
  }

  /** Durable when it resolves. Throws BlobWriteError. */
  append(record: NewRecord): Promise<Place> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Resolves when all appended records are done; no `append` may follow. */
  async close(): Promise<void> {
    await this.#draining
    await this.#seal()
  }

  // ---------------------------------------------------------------------------------------------

  /** Begins at the end of the turn: what arrives in one turn shares a flush, also when none is in progress. */
  async #drain(): Promise<void> {
    await turnEnd()
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch()
      try {
        const places = await this.#commit(batch.map(({ record }) => record))
        batch.forEach(({ resolve }, at) => resolve(places[at] as Place))
      } catch (cause) {
        for (const { reject } of batch) reject(cause)
      }
    }
    this.#draining = null
  }

  /** Waiting records in order, up to the size of a batch, and of a pack. */
  #takeBatch(): Waiting[] {
    const bytesMax = Math.min(BATCH_BYTES, this.#packBytesMax - PACK_HEAD_BYTES)
    let [count, bytes] = [0, 0]
    for (const { record } of this.#queue) {
      bytes += recordBytes(record.content.size)
      if (count > 0 && bytes > bytesMax) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  async #commit(records: readonly NewRecord[]): Promise<Place[]> {
    const { ops, guard } = this.#parts
    guard.assertWorking()
    const bytes = records.reduce((sum, { content }) => sum + recordBytes(content.size), 0)
    const earlier = await this.#earlierPlaces(records)
    const pack = await this.#packWithSpaceFor(bytes)
    pack.batch++
    const { places, pieces } = laidOut(pack, records)
    try {
      await orRefusal(() => ops.writeAt(pack.file, pieces, pack.end))
    } catch (cause) {
      await this.#cutBack(pack)
      throw cause
    }
    await guard.sync(() => ops.syncFile(pack.file))
    pack.end += bytes
    records.forEach(({ onDurable, name }, at) =>
      onDurable(places[at] as Place, earlier.get(fileNameOf(name)) ?? null),
    )
    this.#index.advance(pack.frame.pack, pack.end)
    await this.#index.relieve()
    return places
  }

  async #earlierPlaces(records: readonly NewRecord[]): Promise<ReadonlyMap<string, Place | null>> {
    const names = records.filter(({ isNew }) => isNew === true).map(({ name }) => fileNameOf(name))
    const places = names.length === 0 ? [] : await this.#index.placesOf(names)
    return new Map(names.map((name, at) => [name, places[at] ?? null]))
  }

  async #packWithSpaceFor(bytes: number): Promise<CurrentPack> {
    const current = this.#current
    if (current !== null) {
      if (current.end + bytes <= this.#packBytesMax || current.end === PACK_HEAD_BYTES) return current
      await this.#seal()
    }
    this.#current = await this.#begin()
    return this.#current
  }

  async #begin(): Promise<CurrentPack> {
    const { layout, ops, guard } = this.#parts
    const frame: PackFrame = { pack: this.#nextPack++, salt: randomBytes(SALT_BYTES) }
    const path = layout.pathOfPack(frame.pack)
    const file = await orRefusal(() => ops.create(path))
    try {
      await orRefusal(() => ops.writeAt(file, [encodePackHead(frame)], 0))
      await guard.sync(() => ops.syncFile(file))
      await guard.sync(() => ops.syncDirectory(layout.packDirectory))
      return { frame, file, end: PACK_HEAD_BYTES, batch: 0 }
    } catch (cause) {
      await file.close()
      // A pack without a record is removed by the next start as well.
      await ops.unlink(path).catch(() => undefined)
      throw cause
    }
  }

  /** A partial batch must not remain between two whole ones: it would look like damage. */
  async #cutBack(pack: CurrentPack): Promise<void> {
    try {
      await this.#parts.ops.truncate(pack.file, pack.end)
    } catch {
      this.#current = null
      this.#index.advance(pack.frame.pack, pack.end + SECTOR_BYTES)
      await pack.file.close()
    }
  }

  async #seal(): Promise<void> {
    const pack = this.#current
    if (pack === null) return
    this.#current = null
    const { ops, guard } = this.#parts
    guard.assertWorking()
    const mark = encodeEnd(pack.frame, { offset: pack.end, batch: pack.batch + 1 })
    // Without the mark, a start that has lost the index writes the last batch again; nothing else depends on it.
    const isMarked = await ops.writeAt(pack.file, [mark], pack.end).then(
      () => true,
      () => false,
    )
    if (isMarked) await guard.sync(() => ops.syncFile(pack.file))
    this.#index.advance(pack.frame.pack, pack.end + SECTOR_BYTES)
    await pack.file.close()
  }
}

function laidOut(
  pack: CurrentPack,
  records: readonly NewRecord[],
): { readonly places: Place[]; readonly pieces: Uint8Array[] } {
  const places: Place[] = []
  const pieces: Uint8Array[] = []
  let offset = pack.end
  for (const { name, content, pieces: blob } of records) {
    places.push({ pack: pack.frame.pack, offset, size: content.size })
    const position = { offset, batch: pack.batch, batchOffset: pack.end }
    pieces.push(encodeRecordHeader(pack.frame, { ...position, name, content }), ...blob)
    const bytes = recordBytes(content.size)
    pieces.push(ZEROS.subarray(0, bytes - HEADER_BYTES - content.size))
    offset += bytes
  }
  return { places, pieces }
}
