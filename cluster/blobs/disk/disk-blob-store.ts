/**
 * The blobs of one disk: small ones in packs, large ones in files of their own.
 *
 * Owns: where a new copy goes, whether there is space for it, when packs are compacted. Knows nothing of: other nodes.
 * Rule: a name is stored in one place. An existing copy is found in either place, also when its size now leads to the other one.
 */
import { BlobMissingError, type BlobName, type Logger } from '../../base/types.ts'
import { BlobLayout } from '../files/blob-layout.ts'
import { fileNameOf } from '../base/blob-name.ts'
import type { BlobContent, BlobStore, DiskUsage, ExpectedContent, SizedName } from '../base/blob-store.ts'
import { DISK_THRESHOLDS, type DiskThresholds } from '../../base/disk-level.ts'
import { DiskSpace } from './disk-space.ts'
import { FileBlobStore } from '../files/file-blob-store.ts'
import { type FileOps, systemFileOps } from '../../base/file-ops.ts'
import { FlushGuard } from '../files/flush-guard.ts'
import { holdsAlready } from '../base/holds-already.ts'
import { LevelRows } from '../packs/level-rows.ts'
import { PACK_LIMITS, PackBlobStore, type PackLimits } from '../packs/pack-blob-store.ts'
import { DiskHealth, FAILURES_MAX, watchedFileOps } from './watched-file-ops.ts'

/** Blobs of this size and more are files of their own. */
const FILE_BYTES_MIN = 256 * 1024

export interface DiskBlobStoreOptions {
  /** Absolute. Its parent must exist; everything in it belongs to the store. */
  readonly directory: string
  /** Nothing on the disk can be relied on any more: stop the node. Called at most once. */
  readonly onFatal: (error: Error) => void
  readonly logger: Logger
  readonly fileOps?: FileOps
  readonly fileBytesMin?: number
  /** As of ClusterOptions. */
  readonly directIoFromBytes?: number | undefined
  readonly thresholds?: DiskThresholds
  /** The part of the free bytes of a disk of this size that is reserved for other uses, which may take it at any time. */
  readonly heldBackBytes?: (totalBytes: number) => number
  /** Consecutive failed operations that make the disk suspect. */
  readonly failuresMax?: number
  readonly packLimits?: Partial<PackLimits>
  /** Monotonic milliseconds, to measure flushes with. */
  readonly now?: () => number
  /** No compaction: the caller only inspects the store. */
  readonly isResting?: boolean
  /** Called before a copy may be stored under the name, and again afterwards. */
  readonly onWrite?: (name: BlobName) => void
  /** The copies on the disk may differ from those that were written and not removed. */
  readonly onUnknown?: () => void
  /** Resolves when a compaction may move this many more bytes, or when it is stopping; without it there is no limit. */
  readonly compactionPace?: (bytes: number, stopping: AbortSignal) => Promise<void>
}

export class DiskBlobStore implements BlobStore {
  readonly #options: DiskBlobStoreOptions
  readonly #guard: FlushGuard
  readonly #files: FileBlobStore
  #packs: PackBlobStore
  readonly #layout: BlobLayout
  readonly #ops: FileOps
  readonly #space: DiskSpace
  readonly #logger: Logger
  readonly #fileBytesMin: number
  #compacting: Promise<void> | null = null
  /** Every operation waits while the directory is made again. */
  #reopening: Promise<void> | null = null
  #closed: Promise<void> | null = null

  constructor(options: DiskBlobStoreOptions) {
    const { directory, onFatal, logger, thresholds = DISK_THRESHOLDS } = options
    this.#options = options
    const health = new DiskHealth(options.failuresMax ?? FAILURES_MAX, options.now)
    const ops = watchedFileOps(options.fileOps ?? systemFileOps, health)
    const layout = new BlobLayout(directory)
    this.#layout = layout
    this.#ops = ops
    this.#logger = logger
    this.#fileBytesMin = options.fileBytesMin ?? FILE_BYTES_MIN
    const { heldBackBytes = () => 0 } = options
    this.#space = new DiskSpace({ ops, path: directory, thresholds, health, heldBackBytes })
    this.#guard = new FlushGuard(onFatal)
    this.#files = new FileBlobStore({
      layout,
      ops,
      guard: this.#guard,
      directIoFromBytes: options.directIoFromBytes,
    })
    this.#packs = this.#makePacks()
  }

  /** Must be called first. Makes the directories durable, removes unfinished writes and reads the ends of the packs. */
  async open(): Promise<void> {
    await this.#layout.prepare(this.#ops)
    await this.#packs.open()
    this.#compact()
  }

  /**
   * The directory has vanished, or another one is in its place: from now on only the present contents count, possibly none. Copies
   * that were acknowledged into the old directory are reported as missing. All other calls wait meanwhile.
   */
  reopen(): Promise<void> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null
    })
    return this.#reopening
  }

  /** After the last call. A running compaction ends after the records that it is moving. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    return this.#noted(name, async () => {
      const { home, other } = this.#placesFor(expected)
      // An older layout, or another limit, may have stored the name in the place that its size does not lead to now.
      if (await holdsAlready(other, name, expected)) return other.write(name, source, expected)
      await this.#space.admit(expected.size)
      await home.write(name, source, expected)
    })
  }

  writeNew(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    return this.#noted(name, async () => {
      await this.#space.admit(expected.size)
      await this.#placesFor(expected).home.writeNew(name, source, expected)
    })
  }

  async *read(name: BlobName, start: number, end: number): AsyncGenerator<Uint8Array> {
    await this.#reopening
    try {
      return yield* this.#packs.read(name, start, end)
    } catch (cause) {
      // BlobMissingError is thrown only before the first piece.
      if (!(cause instanceof BlobMissingError)) throw cause
    }
    yield* this.#files.read(name, start, end)
  }

  async stat(name: BlobName): Promise<BlobContent | null> {
    await this.#reopening
    return (await this.#packs.stat(name)) ?? (await this.#files.stat(name))
  }

  /** All false after an unclean stop, or when earlier contents are gone. */
  async areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]> {
    await this.#reopening
    const packed = await this.#packs.areUnchanged(copies)
    if (!this.#packs.isUnchanged) return packed
    const rest = copies.filter((_, at) => packed[at] === false)
    const files = new Map<SizedName, boolean | undefined>()
    const found = await this.#files.areUnchanged(rest).catch(() => [])
    rest.forEach((copy, at) => files.set(copy, found[at]))
    return copies.map((copy, at) => packed[at] === true || files.get(copy) === true)
  }

  async verify(name: BlobName): Promise<BlobContent> {
    await this.#reopening
    try {
      return await this.#packs.verify(name)
    } catch (cause) {
      if (!(cause instanceof BlobMissingError)) throw cause
    }
    return this.#files.verify(name)
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    await this.#reopening
    names.forEach(fileNameOf)
    await this.#packs.remove(names)
    await this.#files.remove(names)
    this.#compact()
  }

  async quarantine(name: BlobName): Promise<void> {
    await this.#reopening
    await this.#packs.quarantine(name)
    await this.#files.quarantine(name)
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    await this.#reopening
    const [packed, files] = await Promise.all([
      this.#packs.list(after, limit),
      this.#files.list(after, limit),
    ])
    const names = new Map([...packed, ...files].map((name) => [fileNameOf(name), name]))
    const order = [...names.keys()].sort().slice(0, limit)
    return order.flatMap((fileName) => names.get(fileName) ?? [])
  }

  /** Also resumes a compaction that was postponed because the disk had too little space. */
  async usage(): Promise<DiskUsage> {
    const usage = await this.#space.usage()
    if (this.#packs.isPutOff) this.#compact()
    return usage
  }

  // ---------------------------------------------------------------------------------------------

  async #noted(name: BlobName, write: () => Promise<void>): Promise<void> {
    if (this.#reopening !== null) await this.#reopening
    const { onWrite = () => undefined } = this.#options
    onWrite(name)
    try {
      await write()
    } finally {
      // A row may have named the copy, and stopped naming it, before the bytes were on the disk.
      onWrite(name)
    }
  }

  #placesFor({ size }: BlobContent) {
    return size >= this.#fileBytesMin
      ? { home: this.#files, other: this.#packs }
      : { home: this.#packs, other: this.#files }
  }

  /** A flush that fails in abandoned packs says nothing about the disk. */
  #makePacks(): PackBlobStore {
    const { packLimits, compactionPace } = this.#options
    const packs: PackBlobStore = new PackBlobStore({
      layout: this.#layout,
      ops: this.#ops,
      guard: this.#guard.part(() => this.#packs !== packs || this.#reopening !== null),
      rows: new LevelRows(this.#layout.packIndexDirectory),
      logger: this.#logger,
      limits: { ...PACK_LIMITS, ...packLimits },
      onRecovered: () => this.#options.onUnknown?.(),
      pace: compactionPace ?? (async () => undefined),
      bytesToSpare: () => this.#space.bytesToSpare(),
    })
    return packs
  }

  async #reopen(): Promise<void> {
    await this.#packs
      .close()
      .catch((err: unknown) => this.#logger.warn({ err }, 'packs of the lost directory not closed cleanly'))
    await this.#compacting
    this.#files.forgetListings()
    await this.#layout.prepare(this.#ops)
    this.#packs = this.#makePacks()
    await this.#packs.open()
    this.#options.onUnknown?.()
  }

  async #close(): Promise<void> {
    await this.#reopening?.catch(() => undefined)
    await this.#packs.close()
    await this.#compacting
  }

  /** In the background, one pack after the other, until none is worth compacting. */
  #compact(): void {
    if (this.#closed !== null || this.#options.isResting === true) return
    this.#compacting ??= this.#compactAll()
      .catch((err: unknown) => this.#logger.warn({ err }, 'packs not compacted'))
      .finally(() => {
        this.#compacting = null
      })
  }

  async #compactAll(): Promise<void> {
    while (this.#closed === null && (await this.#packs.compact()));
  }
}
