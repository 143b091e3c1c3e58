/**
 * The blobs of a node with several disks: each copy lies whole on one of them.
 *
 * Owns: which disk gets a copy, where a copy is looked for, what the disks are as one. Knows nothing of: which disks are used (disk-set.ts).
 * Rules: a copy on a disk that is out does not count and is reported as missing, so it is made again on another disk. It is still read
 * when nothing else has it, from a disk that failed. A copy that lies on two disks, because one was away, is read from either, and the
 * second one is removed once the first was read back whole. An error of one disk hides no copy of another.
 */
import { BlobDamagedError, BlobMissingError, type BlobName, type DiskPart } from '../../base/types.ts'
import { type DiskLevel, severityOf } from '../../base/disk-level.ts'
import { fileNameOf } from '../base/blob-name.ts'
import {
  type BlobContent,
  type BlobStore,
  BlobWriteError,
  type DiskUsage,
  type ExpectedContent,
  type SizedName,
} from '../base/blob-store.ts'
import { WholeBytes } from '../base/whole-bytes.ts'
import type { DiskBlobStore } from '../disk/disk-blob-store.ts'
import { rankDisks } from './disk-choice.ts'
import type { DiskSet, OwnDisk } from './disk-set.ts'
import { LastPlaces } from './last-places.ts'
import { listOf } from './list-of-disks.ts'

/** So many reads of one disk in a row that fail, other than by a missing or damaged copy, take it out. */
const FAILURES_MAX = 5

export class BlobDisks implements BlobStore {
  readonly #set: DiskSet
  readonly #places = new LastPlaces<OwnDisk>()
  readonly #failures = new Map<OwnDisk, number>()

  constructor(set: DiskSet) {
    this.#set = set
  }

  /** Must be called first. Throws StartError. */
  open(): Promise<void> {
    return this.#set.open()
  }

  /** After the last call. Idempotent. */
  close(): Promise<void> {
    return this.#set.close()
  }

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    const holder = await this.#holderOf(name)
    if (holder === null) return this.writeNew(name, source, expected)
    await this.#onto(holder, name, (store) => store.write(name, source, expected))
  }

  async writeNew(
    name: BlobName,
    source: AsyncIterable<Uint8Array>,
    expected: ExpectedContent,
  ): Promise<void> {
    const ranked = this.#ranked(name)
    if (ranked.length === 0) throw this.#noDisk()
    const bytes = source instanceof WholeBytes ? source : new NotedSource(source)
    for (const [at, disk] of ranked.entries()) {
      try {
        return await this.#onto(disk, name, (store) => store.writeNew(name, bytes, expected))
      } catch (cause) {
        // A disk that is full says so before it takes a byte. A stream that was started cannot be read again.
        const isOver = bytes instanceof NotedSource && bytes.isBegun
        if (isOver || !isOfDisk(cause) || at === ranked.length - 1) throw cause
      }
    }
  }

  async *read(name: BlobName, start: number, end: number): AsyncGenerator<Uint8Array> {
    let fault: unknown = null
    for (const disk of this.#readOrder(name)) {
      const { store } = disk
      if (store === null) continue
      let isBegun = false
      try {
        for await (const piece of store.read(name, start, end)) {
          if (!isBegun) this.#places.note(name, disk)
          isBegun = true
          yield piece
        }
        return
      } catch (cause) {
        if (isBegun) throw cause
        this.#judge(disk, cause)
        if (!(cause instanceof BlobMissingError)) fault ??= cause
      }
    }
    throw fault ?? missing(name)
  }

  async stat(name: BlobName): Promise<BlobContent | null> {
    return (await this.#first(name, (store) => store.stat(name)))?.found ?? null
  }

  async areUnchanged(copies: readonly SizedName[]): Promise<readonly boolean[]> {
    const found = new Map<SizedName, boolean>()
    for (const { store } of this.#set.used) {
      const rest = copies.filter((copy) => found.get(copy) !== true)
      const areThere = (await store?.areUnchanged(rest)) ?? []
      rest.forEach((copy, at) => found.set(copy, areThere[at] === true))
    }
    return copies.map((copy) => found.get(copy) === true)
  }

  async verify(name: BlobName): Promise<BlobContent> {
    const damaged: OwnDisk[] = []
    let fault: unknown = null
    for (const disk of this.#askOrder(name)) {
      try {
        const content = await this.#asked(disk, (store) => store.verify(name))
        await this.#leaveOnly(disk, name, damaged)
        return content
      } catch (cause) {
        if (cause instanceof BlobDamagedError) damaged.push(disk)
        if (!(cause instanceof BlobMissingError)) fault ??= cause
      }
    }
    throw fault ?? missing(name)
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    names.forEach(fileNameOf)
    await this.#each((store) => store.remove(names))
  }

  async quarantine(name: BlobName): Promise<void> {
    fileNameOf(name)
    await this.#each((store) => store.quarantine(name))
  }

  list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    return listOf(
      this.#set.used.flatMap(({ store }) => store ?? []),
      after,
      limit,
    )
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

  /** Copies on disks that take no new ones, in the order of their names. */
  leaving(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    return listOf(
      this.#leavingDisks.flatMap(({ store }) => store ?? []),
      after,
      limit,
    )
  }

  /**
   * The copy lies on another disk when it resolves: copied, read back there, and only then removed. The caller holds its lock. Resolves
   * with the bytes that were copied. Throws BlobWriteError: `disk_full` when no other disk takes it, `checksum_mismatch` when it is damaged.
   */
  async moveOff(name: BlobName): Promise<number> {
    let copied = 0
    for (const disk of this.#leavingDisks) {
      const content = await this.#asked(disk, (store) => store.stat(name))
      if (content === null) continue
      if (!(await this.#isBeside(disk, name))) {
        await this.#copyOff(disk, name, content)
        copied += content.size
      }
      await this.#asked(disk, (store) => store.remove([name]))
    }
    return copied
  }

  // ---------------------------------------------------------------------------------------------

  get #leavingDisks(): readonly OwnDisk[] {
    return this.#set.used.filter(({ isLeaving }) => isLeaving)
  }

  async #isBeside(leaving: OwnDisk, name: BlobName): Promise<boolean> {
    for (const disk of this.#set.used) {
      if (disk === leaving || disk.isLeaving) continue
      const isGood = await this.#asked(disk, (store) => store.verify(name)).then(
        () => true,
        () => false,
      )
      if (isGood) return true
    }
    return false
  }

  async #copyOff(from: OwnDisk, name: BlobName, content: BlobContent): Promise<void> {
    const ranked = this.#ranked(name)
    if (ranked.length === 0) throw this.#noDisk()
    for (const [at, disk] of ranked.entries()) {
      const { store: source } = from
      if (source === null) throw new BlobWriteError('io_error', 'Cannot move a blob: its disk is out of use')
      try {
        await this.#onto(disk, name, (store) =>
          store.write(name, source.read(name, 0, content.size), content),
        )
        await this.#asked(disk, (store) => store.verify(name))
        return
      } catch (cause) {
        if (!isOfDisk(cause) || at === ranked.length - 1) throw cause
      }
    }
  }

  #ranked(name: BlobName): readonly OwnDisk[] {
    const open = this.#set.used.filter(({ status, failure }) => status === 'serving' && failure === null)
    const rooms = open.flatMap(({ diskId, usage }) => (usage === null ? [] : [{ diskId, ...usage }]))
    const order = rankDisks(fileNameOf(name), rooms)
    return order.flatMap((diskId) => open.find((disk) => disk.diskId === diskId) ?? [])
  }

  #noDisk(): BlobWriteError {
    const isAny = this.#set.used.length > 0
    return isAny
      ? new BlobWriteError(
          'disk_full',
          'Cannot write a blob: every disk of this node is nearly full; free space or add a disk',
        )
      : new BlobWriteError('io_error', 'Cannot write a blob: no disk of this node is in use')
  }

  /** A write that ends on a disk that was taken out meanwhile is none. */
  async #onto(disk: OwnDisk, name: BlobName, write: (store: DiskBlobStore) => Promise<void>): Promise<void> {
    const { store } = disk
    if (store === null) throw new BlobWriteError('io_error', 'Cannot write a blob: its disk is out of use')
    await write(store)
    if (disk.store !== store || !disk.isUsed)
      throw new BlobWriteError('io_error', 'Cannot write a blob: its disk was taken out of use')
    this.#places.note(name, disk)
  }

  /** The disk with a copy, sound or damaged; null: none has one, as far as the disks answer. */
  async #holderOf(name: BlobName): Promise<OwnDisk | null> {
    for (const disk of this.#askOrder(name)) {
      try {
        if ((await this.#asked(disk, (store) => store.stat(name))) !== null) return disk
      } catch (cause) {
        if (cause instanceof BlobDamagedError) return disk
      }
    }
    return null
  }

  async #first<T>(
    name: BlobName,
    ask: (store: DiskBlobStore) => Promise<T | null>,
  ): Promise<{ readonly disk: OwnDisk; readonly found: T } | null> {
    let fault: unknown = null
    for (const disk of this.#askOrder(name)) {
      try {
        const found = await this.#asked(disk, ask)
        if (found !== null) return { disk, found }
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
      await this.#asked(disk, work).catch((cause: unknown) => faults.push(cause))
    if (faults.length === 1) throw faults[0]
    if (faults.length > 1) throw new AggregateError(faults, `${faults.length} disks failed`)
  }

  async #asked<T>(disk: OwnDisk, ask: (store: DiskBlobStore) => Promise<T>): Promise<T> {
    const { store } = disk
    if (store === null) throw new Error('This disk is out of use')
    try {
      const answer = await ask(store)
      this.#failures.delete(disk)
      return answer
    } catch (cause) {
      this.#judge(disk, cause)
      throw cause
    }
  }

  /** What only a copy is to blame for says nothing about the disk. */
  #judge(disk: OwnDisk, cause: unknown): void {
    if (cause instanceof BlobMissingError || cause instanceof BlobDamagedError) return
    const failures = (this.#failures.get(disk) ?? 0) + 1
    this.#failures.set(disk, failures)
    if (failures < FAILURES_MAX) return
    this.#failures.delete(disk)
    this.#set.fail(disk, cause)
  }

  /** The good copy was read back: the others are not needed. */
  async #leaveOnly(kept: OwnDisk, name: BlobName, damaged: readonly OwnDisk[]): Promise<void> {
    this.#places.note(name, kept)
    for (const disk of this.#set.used) {
      if (disk === kept) continue
      if (damaged.includes(disk)) await this.#asked(disk, (store) => store.quarantine(name))
      else await this.#removeSecond(disk, name)
    }
  }

  /** A disk that does not answer keeps its copy until the next time. */
  async #removeSecond(disk: OwnDisk, name: BlobName): Promise<void> {
    try {
      if ((await this.#asked(disk, (store) => store.stat(name))) !== null)
        await this.#asked(disk, (store) => store.remove([name]))
    } catch {
      // Counted by #asked.
    }
  }

  #askOrder(name: BlobName): readonly OwnDisk[] {
    const { used } = this.#set
    const last = this.#places.of(name)
    return last === undefined || !used.includes(last) ? used : [last, ...used.filter((disk) => disk !== last)]
  }

  #readOrder(name: BlobName): readonly OwnDisk[] {
    return [...this.#askOrder(name), ...this.#set.all.filter((disk) => !disk.isUsed && disk.store !== null)]
  }
}

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

/** Another disk may take what this one did not. */
function isOfDisk(cause: unknown): boolean {
  return cause instanceof BlobWriteError && ['disk_full', 'io_error', 'store_failed'].includes(cause.code)
}

function partOf({ directory, diskId, status, usage }: OwnDisk): DiskPart {
  const { totalBytes = 0, freeBytes = 0, level = 'reserve' } = usage ?? {}
  return { directory, diskId, status, totalBytes, freeBytes, level }
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
