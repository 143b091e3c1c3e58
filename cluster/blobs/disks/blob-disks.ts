/**
 * The blobs of a node with several disks: each copy lies whole on one of them.
 *
 * Owns: which disk gets a copy, where a copy is looked for, what the disks are as one. Knows nothing of: which disks are used (disk-set.ts),
 * how a copy changes its disk (copy-mover.ts).
 * Rules: a copy on a disk that is out does not count and is reported as missing, so it is made again on another disk. It is still read
 * when nothing else has it, from a disk that failed. A copy that lies on two disks, because one was away, is read from either, and the
 * second one is removed once one on a disk that stays was read back whole. An error of one disk hides no copy of another.
 */
import { BlobDamagedError, BlobMissingError, type BlobName, type DiskPart } from '../../base/types.ts'
import { type DiskLevel, severityOf } from '../../base/disk-level.ts'
import { fileNameOf } from '../base/blob-name.ts'
import type { BlobContent, BlobStore, DiskUsage, ExpectedContent, SizedName } from '../base/blob-store.ts'
import { WholeBytes } from '../base/whole-bytes.ts'
import type { DiskBlobStore } from '../disk/disk-blob-store.ts'
import { CopyMover, isOfDisk, noDisk, rankedFor } from './copy-mover.ts'
import { DiskCalls } from './disk-calls.ts'
import { DiskDrains, type DiskDrainsParts } from './disk-drains.ts'
import type { DiskSet, OwnDisk } from './disk-set.ts'
import { listOf } from './list-of-disks.ts'
import { MovedNames } from './moved-names.ts'

export class BlobDisks implements BlobStore {
  readonly #set: DiskSet
  readonly #calls: DiskCalls
  readonly #moved = new MovedNames()
  readonly mover: CopyMover
  readonly drains: DiskDrains

  constructor(set: DiskSet, { expected, thresholds }: Pick<DiskDrainsParts, 'expected' | 'thresholds'>) {
    this.#set = set
    this.#calls = new DiskCalls(set)
    this.mover = new CopyMover({ set, calls: this.#calls, moved: this.#moved })
    this.drains = new DiskDrains({ set, calls: this.#calls, expected, thresholds })
  }

  /** Must be called first. Throws StartError. */
  open(): Promise<void> {
    return this.#set.start()
  }

  /** After the last call. Idempotent. */
  close(): Promise<void> {
    return this.#set.close()
  }

  /** A copy on a disk that is emptied counts only while it is sound: otherwise the new one goes where it may stay. */
  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    const holder = await this.#holderOf(name)
    if (holder === null) return this.writeNew(name, source, expected)
    if (!holder.isLeaving || (await this.#isSoundOn(holder, name)))
      return this.#calls.onto(holder, name, (store) => store.write(name, source, expected))
    await this.writeNew(name, source, expected)
    await this.#quietly(holder, (store) => store.quarantine(name))
  }

  async writeNew(
    name: BlobName,
    source: AsyncIterable<Uint8Array>,
    expected: ExpectedContent,
  ): Promise<void> {
    const ranked = rankedFor(name, this.#set)
    if (ranked.length === 0) throw noDisk(this.#set)
    const bytes = source instanceof WholeBytes ? source : new NotedSource(source)
    for (const [at, disk] of ranked.entries()) {
      try {
        return await this.#calls.onto(disk, name, (store) => store.writeNew(name, bytes, expected))
      } catch (cause) {
        // A disk that is full says so before it takes a byte. A stream that was started cannot be read again.
        const isOver = bytes instanceof NotedSource && bytes.isBegun
        if (isOver || !isOfDisk(cause) || at === ranked.length - 1) throw cause
      }
    }
  }

  /** A copy that changes its disk between two looks is looked for again. */
  async *read(name: BlobName, start: number, end: number): AsyncGenerator<Uint8Array> {
    const opened = await this.#moved.find(() => this.#firstPiece(name, start, end))
    if (opened === null) throw missing(name)
    if ('fault' in opened) throw opened.fault
    const { disk, store, pieces, first } = opened
    try {
      for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value
    } catch (cause) {
      this.#calls.failed(disk, store, cause)
      throw cause
    } finally {
      await pieces.return(undefined)
    }
  }

  async stat(name: BlobName): Promise<BlobContent | null> {
    return this.#moved.find(() => this.#first(name, (store) => store.stat(name)))
  }

  /** A disk that does not answer knows nothing. */
  async areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]> {
    const found = new Map<SizedName, boolean>()
    for (const disk of this.#set.used) {
      const rest = copies.filter((copy) => found.get(copy) !== true)
      const areThere = await this.#calls.asked(disk, (store) => store.areUnchanged(rest)).catch(() => [])
      rest.forEach((copy, at) => found.set(copy, areThere[at] === true))
    }
    return copies.map((copy) => found.get(copy) === true)
  }

  async verify(name: BlobName): Promise<BlobContent> {
    const found = await this.#moved.find(() => this.#verified(name))
    if (found === null) throw missing(name)
    if ('fault' in found) throw found.fault
    return found.content
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    names.forEach(fileNameOf)
    await this.#each((store) => store.remove(names))
  }

  async quarantine(name: BlobName): Promise<void> {
    fileNameOf(name)
    await this.#each((store) => store.quarantine(name))
  }

  /** An error of one disk is an error of the whole: its names would be missing. */
  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const lists = this.#set.used.map((disk) => ({
      list: (from: BlobName | null, most: number) =>
        this.#calls.asked(disk, (store) => store.list(from, most)),
    }))
    const { names, moved } = await this.#moved.during(() => listOf(lists, after, limit))
    const [from, last] = [after === null ? '' : fileNameOf(after), names.at(-1)]
    // Behind a full page the next one begins; what moved there is met by it.
    const end = names.length < limit || last === undefined ? null : fileNameOf(last)
    const met = moved.filter((name) => fileNameOf(name) > from && (end === null || fileNameOf(name) < end))
    return listOf([{ list: async () => names }, { list: async () => met }], after, limit)
  }

  /** Takes a disk out whose operations failed several times in a row. The sum is that of the disks in use, the level that of the emptiest. */
  async usage(): Promise<DiskUsage> {
    await Promise.all(this.#set.used.map((disk) => this.#set.measure(disk)))
    const disks = this.#set.all.map(partOf)
    const open = this.#set.used.filter(({ status }) => status === 'serving')
    const sum = { totalBytes: 0, freeBytes: 0 }
    for (const { usage } of this.#set.used) {
      sum.totalBytes += usage?.totalBytes ?? 0
      sum.freeBytes += usage?.freeBytes ?? 0
    }
    const levels = open.flatMap(({ usage }) => (usage === null ? [] : [usage.level]))
    return { ...sum, level: leastOf(levels), isSuspect: this.#set.used.length === 0, disks }
  }

  // ---------------------------------------------------------------------------------------------

  /** The first disk that gives a piece, or the end of an empty range. Null: none has the copy. */
  async #firstPiece(
    name: BlobName,
    start: number,
    end: number,
  ): Promise<OpenedRead | { readonly fault: unknown } | null> {
    let fault: unknown = null
    for (const disk of this.#readOrder(name)) {
      const { store } = disk
      if (store === null) continue
      const pieces = store.read(name, start, end)
      try {
        const first = await pieces.next()
        this.#calls.succeeded(store)
        this.#calls.places.note(name, disk)
        return { disk, store, pieces, first }
      } catch (cause) {
        this.#calls.failed(disk, store, cause)
        if (!(cause instanceof BlobMissingError)) fault ??= cause
      }
    }
    return fault === null ? null : { fault }
  }

  /** Disks that stay come first, so that of two copies the one there is kept. */
  async #verified(
    name: BlobName,
  ): Promise<{ readonly content: BlobContent } | { readonly fault: unknown } | null> {
    const damaged: OwnDisk[] = []
    let fault: unknown = null
    const order = this.#askOrder(name)
    for (const disk of [...order.filter(isStaying), ...order.filter((one) => !isStaying(one))]) {
      try {
        const content = await this.#calls.asked(disk, (store) => store.verify(name))
        if (isStaying(disk)) await this.#leaveOnly(disk, name, damaged)
        return { content }
      } catch (cause) {
        if (cause instanceof BlobDamagedError) damaged.push(disk)
        if (!(cause instanceof BlobMissingError)) fault ??= cause
      }
    }
    return fault === null ? null : { fault }
  }

  async #isSoundOn(disk: OwnDisk, name: BlobName): Promise<boolean> {
    return this.#calls
      .asked(disk, (store) => store.verify(name))
      .then(
        () => true,
        () => false,
      )
  }

  /** The disk with a copy, sound or damaged; null: none has one, as far as the disks answer. */
  async #holderOf(name: BlobName): Promise<OwnDisk | null> {
    for (const disk of this.#askOrder(name)) {
      try {
        if ((await this.#calls.asked(disk, (store) => store.stat(name))) !== null) return disk
      } catch (cause) {
        if (cause instanceof BlobDamagedError) return disk
      }
    }
    return null
  }

  async #first<T>(name: BlobName, ask: (store: DiskBlobStore) => Promise<T | null>): Promise<T | null> {
    let fault: unknown = null
    for (const disk of this.#askOrder(name)) {
      try {
        const found = await this.#calls.asked(disk, ask)
        if (found !== null) return found
      } catch (cause) {
        fault ??= cause
      }
    }
    if (fault !== null) throw fault
    return null
  }

  /** Every disk is asked before a failure is reported. */
  async #each(work: (store: DiskBlobStore) => Promise<void>): Promise<void> {
    const faults: unknown[] = []
    for (const disk of this.#set.used)
      await this.#calls.asked(disk, work).catch((cause: unknown) => faults.push(cause))
    if (faults.length === 1) throw faults[0]
    if (faults.length > 1) throw new AggregateError(faults, `${faults.length} disks failed`)
  }

  /** The good copy was read back: the others are not needed. */
  async #leaveOnly(kept: OwnDisk, name: BlobName, damaged: readonly OwnDisk[]): Promise<void> {
    this.#calls.places.note(name, kept)
    for (const disk of this.#set.used) {
      if (disk === kept) continue
      if (damaged.includes(disk)) await this.#quietly(disk, (store) => store.quarantine(name))
      else
        await this.#quietly(disk, async (store) => {
          if ((await store.stat(name)) !== null) await store.remove([name])
        })
    }
  }

  /** A disk that does not answer keeps its copy until the next time. */
  async #quietly(disk: OwnDisk, work: (store: DiskBlobStore) => Promise<void>): Promise<void> {
    // Counted by DiskCalls.
    await this.#calls.asked(disk, work).catch(() => undefined)
  }

  #askOrder(name: BlobName): readonly OwnDisk[] {
    const { used } = this.#set
    const last = this.#calls.places.of(name)
    return last === undefined || !used.includes(last) ? used : [last, ...used.filter((disk) => disk !== last)]
  }

  #readOrder(name: BlobName): readonly OwnDisk[] {
    return [...this.#askOrder(name), ...this.#set.all.filter((disk) => !disk.isUsed && disk.store !== null)]
  }
}

interface OpenedRead {
  readonly disk: OwnDisk
  readonly store: DiskBlobStore
  readonly pieces: AsyncGenerator<Uint8Array>
  readonly first: IteratorResult<Uint8Array>
}

/** A copy on it may be the only one. */
const isStaying = (disk: OwnDisk): boolean => disk.isSound && !disk.isLeaving

/** Knows whether anything was asked of it. */
class NotedSource implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>
  isBegun = false

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    this.isBegun = true
    return this.#source[Symbol.asyncIterator]()
  }
}

function partOf({ directory, diskId, status, usage }: OwnDisk): DiskPart {
  const { totalBytes = 0, freeBytes = 0, level = 'reserve', doubt } = usage ?? {}
  const facts = { directory, diskId, status, totalBytes, freeBytes, level }
  return doubt === undefined ? facts : { ...facts, doubt }
}

function leastOf(levels: readonly DiskLevel[]): DiskLevel {
  return levels.reduce<DiskLevel>(
    (least, level) => (severityOf(level) < severityOf(least) ? level : least),
    'reserve',
  )
}

function missing(name: BlobName): BlobMissingError {
  return new BlobMissingError(`Blob "${fileNameOf(name)}" is not on any disk of this node`)
}
