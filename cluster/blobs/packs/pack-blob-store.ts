/**
 * Small blobs, many in one file: behind the same port as blobs in their own files.
 *
 * Owns: the locks of names, and the limit of memory. Knows nothing of: large blobs, other nodes.
 * Rule: a write is acknowledged only after the flush of its batch; a wrong place in the index is reported as damage, never
 * served as bytes.
 */
import {
  BlobDamagedError,
  BlobMissingError,
  type BlobName,
  Condition,
  type Logger,
} from '../../base/types.ts'
import { fileNameOf, parseFileName } from '../base/blob-name.ts'
import { HEADER_BYTES } from '../base/blob-header.ts'
import {
  type BlobContent,
  type BlobStore,
  BlobWriteError,
  type ExpectedContent,
  type SizedName,
} from '../base/blob-store.ts'
import { assertContent } from '../base/content-check.ts'
import type { StoreParts } from '../files/file-blob-store.ts'
import { holdsAlready } from '../base/holds-already.ts'
import { releaseBytes } from '../base/spent-bytes.ts'
import { inMemory, WholeBytes } from '../base/whole-bytes.ts'
import { ByteBudget } from './byte-budget.ts'
import { Compaction } from './compaction.ts'
import { packToCompact } from './compaction-choice.ts'
import type { IndexRows, Place } from './index-rows.ts'
import { NameLocks } from './name-locks.ts'
import { type OpenPack, OpenPacks } from './open-packs.ts'
import { PackIndex } from './pack-index.ts'
import {
  type PackedBlob,
  rawRecord,
  readPackedContent,
  readPackedRange,
  unopenable,
  verifyPacked,
} from './pack-reader.ts'
import { recordBytes } from './pack-record.ts'
import { PackRecovery } from './pack-recovery.ts'
import { PackWriter } from './pack-writer.ts'

export interface PackLimits {
  /** At this size the next pack is started. Bytes. */
  readonly packBytesMax: number
  /** The most bytes of blobs in memory until they are written, and the most writes that wait for memory. */
  readonly bytesInMemoryMax: number
  readonly writesWaitingMax: number
  /** See CompactionLimits. */
  readonly garbageMin: number
  readonly smallPacksMax: number
}

export const PACK_LIMITS: PackLimits = {
  packBytesMax: 64 * 1024 * 1024,
  bytesInMemoryMax: 32 * 1024 * 1024,
  writesWaitingMax: 1_024,
  garbageMin: 0.5,
  smallPacksMax: 16,
}

export interface PackBlobStoreParts extends StoreParts {
  readonly rows: IndexRows
  readonly logger: Logger
  readonly limits: PackLimits
  /** See CompactionParts. */
  readonly pace: (bytes: number, stopping: AbortSignal) => Promise<void>
  /** Records were found to which no row led: removed copies may be among them. */
  readonly onRecovered?: () => void
  /** How many bytes of the disk a compaction may take until it frees them. */
  readonly bytesToSpare: () => Promise<number>
}

type Acquired = PackedBlob & { readonly pack: OpenPack & { readonly release: () => void } }

export class PackBlobStore implements Omit<BlobStore, 'usage'> {
  readonly #parts: PackBlobStoreParts
  readonly #index: PackIndex
  readonly #packs: OpenPacks
  readonly #budget: ByteBudget
  readonly #locks = new NameLocks()
  /** Set by `open`. */
  #writer: PackWriter | null = null
  #compacting: Promise<boolean> | null = null
  /** Packs that could not be compacted, because a row is damaged or the pack is missing: skipped until the next start. */
  readonly #stuck = new Set<number>()
  #isPutOff = false
  readonly #stopping = new AbortController()

  constructor(parts: PackBlobStoreParts) {
    const { rows, guard, layout, ops, limits } = parts
    this.#parts = parts
    this.#index = new PackIndex(rows, guard)
    this.#packs = new OpenPacks(layout, ops)
    this.#budget = new ByteBudget({ bytes: limits.bytesInMemoryMax, waitersMax: limits.writesWaitingMax })
  }

  /** Must be called first, after the directories exist. */
  async open(): Promise<void> {
    const { ops, layout, logger, limits } = this.#parts
    const fault = await this.#index.open()
    if (fault !== null) logger.error({ fault }, 'index of packs is wrong and is rebuilt')
    const files = await ops.listDirectory(layout.packDirectory)
    const found = files.flatMap((file) => layout.packOf(file) ?? []).toSorted((one, other) => one - other)
    const newest = [...found, ...this.#index.packs.keys()].reduce((most, pack) => Math.max(most, pack), 0)
    if (found.length > 0 && this.#index.packs.size === 0)
      logger.warn({ packs: found.length }, 'all packs are read from the start')
    const writer = new PackWriter(this.#parts, this.#index, {
      packBytesMax: limits.packBytesMax,
      firstPack: newest + 1,
    })
    this.#writer = writer
    const [index, packs] = [this.#index, this.#packs]
    const hasRecovered = await new PackRecovery({ ...this.#parts, index, packs, writer }).run(found)
    if (hasRecovered) this.#parts.onRecovered?.()
    for (const pack of found) if (index.totalsOf(pack).records === 0) await this.#compaction().run(pack)
  }

  /** A running compaction finishes the moves that it has started, and starts no more. A failure that was already reported is not reported again. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#compacting?.catch(() => undefined)
    if (this.#writer === null) return this.#parts.rows.close()
    try {
      await this.#writer.close()
    } catch (cause) {
      if (!isAlreadyReported(cause)) throw cause
    } finally {
      this.#packs.forgetAll()
      await this.#index.close().catch((cause: unknown) => {
        if (!isAlreadyReported(cause)) throw cause
      })
    }
  }

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    const fileName = fileNameOf(name)
    assertContent(expected)
    this.#parts.guard.assertWorking()
    await this.#locks.run(fileName, async () => {
      if (await this.#holds(name, expected)) return
      await this.#append(name, source, { expected, isNew: false })
    })
  }

  async writeNew(
    name: BlobName,
    source: AsyncIterable<Uint8Array>,
    expected: ExpectedContent,
  ): Promise<void> {
    const fileName = fileNameOf(name)
    assertContent(expected)
    this.#parts.guard.assertWorking()
    await this.#locks.run(fileName, () => this.#append(name, source, { expected, isNew: true }))
  }

  async *read(name: BlobName, start: number, end: number): AsyncGenerator<Uint8Array> {
    const blob = await this.#acquire(name)
    try {
      yield* readPackedRange(blob, start, end)
    } finally {
      blob.pack.release()
    }
  }

  async stat(name: BlobName): Promise<BlobContent | null> {
    try {
      return await this.#with(name, readPackedContent)
    } catch (cause) {
      if (cause instanceof BlobMissingError) return null
      throw cause
    }
  }

  /** See PackIndex. */
  get isUnchanged(): boolean {
    return this.#index.isUnchanged
  }

  /** Compares the rows of the index and the lengths of the packs to which they lead. */
  async areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]> {
    if (!this.#index.isUnchanged) return copies.map(() => false)
    const lengths = new Map<number, Promise<number>>()
    return Promise.all(
      copies.map(async (copy) => {
        const place = await this.#index.lookup(fileNameOf(copy)).catch(() => null)
        if (place === null || place.size !== copy.size) return false
        const length = lengths.get(place.pack) ?? this.#lengthOf(place.pack)
        lengths.set(place.pack, length)
        return (await length) >= place.offset + HEADER_BYTES + place.size
      }),
    )
  }

  verify(name: BlobName): Promise<BlobContent> {
    return this.#with(name, verifyPacked)
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    await Promise.all(
      names.map(fileNameOf).map((fileName) =>
        this.#locks.run(fileName, async () => {
          const place = await this.#placeToLeave(fileName)
          if (place !== null) this.#index.remove(fileName, place === 'unknown' ? null : place)
        }),
      ),
    )
    await this.#index.flush()
  }

  async quarantine(name: BlobName): Promise<void> {
    const fileName = fileNameOf(name)
    await this.#locks.run(fileName, () => this.#quarantineLocked(name))
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const names = await this.#index.names(after === null ? '' : fileNameOf(after), limit)
    return names.flatMap((name) => parseFileName(name) ?? [])
  }

  /** The last compaction found too little space, or ran out of it: more can be compacted once there is space. */
  get isPutOff(): boolean {
    return this.#isPutOff
  }

  /**
   * Compacts the pack that is most worth it among those whose live records fit into the space that the disk can spare; false when
   * there is none. One at a time: a second call waits for the first.
   */
  compact(): Promise<boolean> {
    this.#compacting ??= this.#compactOne().finally(() => {
      this.#compacting = null
    })
    return this.#compacting
  }

  // ---------------------------------------------------------------------------------------------

  async #compactOne(): Promise<boolean> {
    const current = this.#writerOf().currentPack
    const packs = [...this.#index.packs]
      .filter(([pack]) => pack !== current && !this.#stuck.has(pack))
      .map(([pack, { indexedTo, bytes }]) => ({ pack, bytes: indexedTo, liveBytes: bytes }))
    const { limits } = this.#parts
    this.#isPutOff = packToCompact(packs, limits) !== null
    const pack = this.#isPutOff ? packToCompact(packs, limits, await this.#parts.bytesToSpare()) : null
    if (pack === null || this.#stopping.signal.aborted) return false
    try {
      const isGone = await this.#compaction().run(pack)
      if (!isGone) this.#stuck.add(pack)
      return isGone
    } catch (cause) {
      // Too little space, or other writes took the budget: the next attempt may succeed.
      if (!(cause instanceof BlobWriteError || cause instanceof Condition)) this.#stuck.add(pack)
      throw cause
    }
  }

  #compaction(): Compaction {
    return new Compaction({
      ...this.#parts,
      index: this.#index,
      packs: this.#packs,
      writer: this.#writerOf(),
      locks: this.#locks,
      budget: this.#budget,
      quarantine: (name) => this.#quarantineLocked(name),
      stopping: this.#stopping.signal,
    })
  }

  /** With the lock of the name, which is taken before the budget, here and in a compaction: a holder of bytes never waits for a name. */
  async #append(
    name: BlobName,
    source: AsyncIterable<Uint8Array>,
    { expected, isNew }: { readonly expected: ExpectedContent; readonly isNew: boolean },
  ): Promise<void> {
    const fileName = fileNameOf(name)
    await this.#budget.run(recordBytes(expected.size), async () => {
      const bytes = await inMemory(name, source, expected)
      const onDurable = (place: Place, earlier: Place | null): void =>
        this.#index.put(fileName, place, earlier)
      await this.#writerOf().append({ name, content: expected, pieces: [bytes], isNew, onDurable })
      if (!(source instanceof WholeBytes)) releaseBytes(bytes)
    })
  }

  #holds(name: BlobName, expected: BlobContent): Promise<boolean> {
    const quarantine = (damaged: BlobName) => this.#quarantineLocked(damaged)
    return holdsAlready({ verify: (found) => this.verify(found), quarantine }, name, expected)
  }

  /** The bytes are durable in a separate file before the name is removed. */
  async #quarantineLocked(name: BlobName): Promise<void> {
    const { layout, ops, guard } = this.#parts
    const fileName = fileNameOf(name)
    const place = await this.#placeToLeave(fileName)
    if (place === null) return
    const bytes = place === 'unknown' ? null : await this.#with(name, rawRecord).catch(() => null)
    if (bytes !== null) {
      const [temporary, path] = [layout.nextTemporary(), layout.nextQuarantine(name)]
      const file = await ops.create(temporary)
      try {
        await ops.append(file, [bytes])
        await guard.sync(() => ops.syncFile(file))
      } finally {
        await file.close()
      }
      await ops.rename(temporary, path)
      await guard.sync(() => ops.syncDirectory(layout.quarantineDirectory))
    }
    this.#index.remove(fileName, place === 'unknown' ? null : place)
    await this.#index.flush()
  }

  /** 0: the pack cannot be opened, or is marked as damaged. */
  async #lengthOf(pack: number): Promise<number> {
    if (this.#index.totalsOf(pack).isDamaged) return 0
    try {
      const opened = await this.#packs.acquire(pack)
      try {
        return opened.frame === null ? 0 : (await opened.file.stat()).size
      } finally {
        opened.release()
      }
    } catch {
      return 0
    }
  }

  async #placeToLeave(fileName: string): Promise<Place | 'unknown' | null> {
    try {
      return await this.#index.lookup(fileName)
    } catch (cause) {
      if (cause instanceof BlobDamagedError) return 'unknown'
      throw cause
    }
  }

  async #with<T>(name: BlobName, work: (blob: PackedBlob) => Promise<T>): Promise<T> {
    const blob = await this.#acquire(name)
    try {
      return await work(blob)
    } finally {
      blob.pack.release()
    }
  }

  async #acquire(name: BlobName): Promise<Acquired> {
    const fileName = fileNameOf(name)
    for (let tried: Place | null = null; ; ) {
      const place = await this.#index.lookup(fileName)
      if (place === null) throw new BlobMissingError(`Blob "${fileName}" is not on this node`)
      try {
        return { name, place, pack: await this.#packs.acquire(place.pack) }
      } catch (cause) {
        // A compaction may have moved the record after the lookup.
        if (tried?.pack === place.pack) throw unopenable(name, cause)
        tried = place
      }
    }
  }

  #writerOf(): PackWriter {
    if (this.#writer === null) throw new Error('Cannot use a blob store before it is open')
    return this.#writer
  }
}

function isAlreadyReported(cause: unknown): boolean {
  return cause instanceof BlobWriteError && cause.code === 'store_failed'
}
