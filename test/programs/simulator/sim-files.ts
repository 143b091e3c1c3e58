/**
 * The disk under a simulated log: the view of a process (page cache), the content after a power cut, and faults of both.
 *
 * Owns: files of bytes, dirty ranges, names that were not flushed yet, faults on demand. Knows nothing of: segments.
 * Rule: it never keeps more than a disk promises; a sector of 512 bytes is written whole or not at all.
 */
import assert from 'node:assert/strict'
import { basename, dirname } from 'node:path'
import type { FileOps } from '../../../cluster/wal/file-ops.ts'
import type { Random } from './random.ts'

const SECTOR_BYTES = 512

/** The process is gone in the middle of an operation. */
export class PowerCut extends Error {
  override readonly name = 'PowerCut'
}

interface Inode {
  /** As a process sees it. */
  cache: Buffer
  length: number
  /** The content after a power cut, except written parts of the dirty range. */
  durable: Buffer
  durableLength: number
  /** Bytes [from, to) differ from the durable content. */
  dirtyFrom: number
  dirtyTo: number
}

export interface SimFilesOptions {
  readonly random: Random
  /** Share of writes that take only a part of what they are given. */
  readonly shortWriteRate: number
  /** Sectors reach the disk in any order; otherwise in the order in which they were written. */
  readonly tearsAnywhere: boolean
  /** A disk that confirms flushes and does not do them. Only to show that the checks detect it. */
  readonly isLying: boolean
}

export class SimFiles implements FileOps {
  readonly #options: SimFilesOptions
  #names = new Map<string, Inode>()
  #durableNames = new Map<string, Inode>()
  readonly #open = new Map<number, Inode>()
  #nextFd = 3
  /** Changes until the process dies; negative: it does not. */
  #changesLeft = -1
  /** The next flush fails with EIO. */
  failsSync = false
  /** No file may grow any more, but released space can be used again. Bytes; null: there is space. */
  #bytesMax: number | null = null
  /** Faults that were met. */
  faultsMet = 0

  constructor(options: SimFilesOptions) {
    this.#options = options
  }

  makeDir(): void {}

  list(dir: string): readonly string[] {
    return [...this.#names.keys()].filter((path) => dirname(path) === dir).map((path) => basename(path))
  }

  size(path: string): number {
    return this.#named(path).length
  }

  read(path: string, bytesMax: number): Uint8Array {
    const { cache, length } = this.#named(path)
    return Buffer.from(cache.subarray(0, Math.min(length, bytesMax)))
  }

  readAt(path: string, position: number, bytesMax: number): Uint8Array {
    const { cache, length } = this.#named(path)
    return Buffer.from(cache.subarray(Math.min(position, length), Math.min(length, position + bytesMax)))
  }

  create(path: string): number {
    this.#change()
    if (this.#names.has(path)) throw ioError('EEXIST', `'${path}' exists`)
    const inode = inodeOf(Buffer.alloc(0))
    this.#names.set(path, inode)
    this.#open.set(this.#nextFd, inode)
    return this.#nextFd++
  }

  write(fd: number, bytes: Uint8Array, position: number): number {
    this.#change()
    const { random, shortWriteRate } = this.#options
    const isShort = bytes.length > 1 && shortWriteRate > 0 && random.chance(shortWriteRate)
    const count = isShort ? 1 + random.below(bytes.length - 1) : bytes.length
    const inode = this.#opened(fd)
    const end = position + count
    if (this.#bytesMax !== null && this.#bytesUsed + end - inode.length > this.#bytesMax)
      this.#refuse('ENOSPC')
    if (end > inode.cache.length) inode.cache = grown(inode.cache, end)
    inode.cache.set(count === bytes.length ? bytes : bytes.subarray(0, count), position)
    inode.length = Math.max(inode.length, end)
    inode.dirtyFrom = Math.min(inode.dirtyFrom, position)
    inode.dirtyTo = Math.max(inode.dirtyTo, end)
    return count
  }

  fdatasync(fd: number): void {
    this.#sync(fd)
  }

  fsync(fd: number): void {
    this.#sync(fd)
  }

  close(fd: number): void {
    this.#open.delete(fd)
  }

  rename(from: string, to: string): void {
    this.#change()
    this.#names.set(to, this.#named(from))
    this.#names.delete(from)
  }

  unlink(path: string): void {
    this.#change()
    this.#named(path)
    this.#names.delete(path)
  }

  syncDir(): void {
    this.#change()
    if (this.failsSync) this.#failSync()
    if (!this.#options.isLying) this.#durableNames = new Map(this.#names)
  }

  set isFull(isFull: boolean) {
    this.#bytesMax = isFull ? this.#bytesUsed : null
  }

  freeBytes(): number {
    return this.#bytesMax === null ? Number.MAX_SAFE_INTEGER : Math.max(0, this.#bytesMax - this.#bytesUsed)
  }

  get #bytesUsed(): number {
    return [...this.#names.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /** Runs `work` until it has made this many changes, fails, or ends. No caller gets the result. */
  cutOff(changes: number, work: () => void): void {
    this.#changesLeft = changes
    try {
      work()
    } catch (error) {
      if (!isOfDisk(error)) throw error
    } finally {
      this.#changesLeft = -1
    }
  }

  /** The process is gone; the machine runs on. */
  processEnded(): void {
    this.#open.clear()
    this.failsSync = false
  }

  /** The machine is gone. Any subset of unflushed names and sectors may have reached the disk. */
  powerCut(): void {
    this.processEnded()
    const { random } = this.#options
    const style = random.below(4)
    const keeps = (): boolean => (style === 0 ? false : style === 1 ? true : random.chance(0.5))
    const keepsSector = (): (() => boolean) => this.#inOrder(keeps)
    const paths = new Set([...this.#durableNames.keys(), ...this.#names.keys()])
    const after = new Map<string, Inode>()
    const survivors = new Map<Inode, Inode>()
    for (const path of [...paths].toSorted()) {
      const [before, latest] = [this.#durableNames.get(path), this.#names.get(path)]
      const inode = before === latest || keeps() ? latest : before
      if (inode === undefined) continue
      let survivor = survivors.get(inode)
      if (survivor === undefined) {
        survivor = inodeOf(bytesAfterPowerCut(inode, keepsSector()))
        survivors.set(inode, survivor)
      }
      after.set(path, survivor)
    }
    this.#names = after
    this.#durableNames = new Map(after)
  }

  /** As it would be after a power cut that lost all unflushed bytes. */
  image(): SimFiles {
    const image = new SimFiles(this.#options)
    for (const [path, { durable, durableLength }] of this.#durableNames)
      image.#names.set(path, inodeOf(Buffer.from(durable.subarray(0, durableLength))))
    image.#durableNames = new Map(image.#names)
    return image
  }

  /** One bit, somewhere in a file, on the disk itself. Returns where, or null when there is nothing to damage. */
  rot(): string | null {
    const { random } = this.#options
    const paths = [...this.#durableNames.keys()].filter((path) => this.#names.has(path)).toSorted()
    if (paths.length === 0) return null
    const path = random.pick(paths)
    const inode = this.#named(path)
    if (inode.durableLength === 0) return null
    const at = random.below(inode.durableLength)
    const bit = 1 << random.below(8)
    inode.durable.writeUInt8(inode.durable.readUInt8(at) ^ bit, at)
    if (at < inode.length) inode.cache.writeUInt8(inode.cache.readUInt8(at) ^ bit, at)
    return `${path} byte ${at}`
  }

  #sync(fd: number): void {
    this.#change()
    if (this.failsSync) this.#failSync(fd)
    if (this.#options.isLying) return
    const inode = this.#opened(fd)
    if (inode.dirtyTo > inode.dirtyFrom) {
      if (inode.durable.length < inode.length) inode.durable = grown(inode.durable, inode.length)
      inode.cache.copy(inode.durable, inode.dirtyFrom, inode.dirtyFrom, inode.dirtyTo)
    }
    inode.durableLength = inode.length
    becomeClean(inode)
  }

  /** As Linux does it: some pages reached the disk, some did not, and all of them count as clean from now on. */
  #failSync(fd?: number): never {
    this.failsSync = false
    const inode = fd === undefined ? undefined : this.#open.get(fd)
    if (inode !== undefined) {
      inode.durable = bytesAfterPowerCut(
        inode,
        this.#inOrder(() => this.#options.random.chance(0.5)),
      )
      inode.durableLength = inode.durable.length
      becomeClean(inode)
    }
    return this.#refuse('EIO')
  }

  #refuse(code: string): never {
    this.faultsMet += 1
    throw ioError(code, 'simulated disk')
  }

  /** After the first sector that is lost, all are. */
  #inOrder(keeps: () => boolean): () => boolean {
    if (this.#options.tearsAnywhere) return keeps
    let isLost = false
    return () => {
      isLost ||= !keeps()
      return !isLost
    }
  }

  #change(): void {
    if (this.#changesLeft < 0) return
    if (this.#changesLeft === 0) throw new PowerCut('the process is gone')
    this.#changesLeft -= 1
  }

  #named(path: string): Inode {
    const inode = this.#names.get(path)
    if (inode === undefined) throw ioError('ENOENT', `no '${path}'`)
    return inode
  }

  #opened(fd: number): Inode {
    const inode = this.#open.get(fd)
    assert(inode !== undefined, 'the file is open')
    return inode
  }
}

function inodeOf(bytes: Buffer): Inode {
  return {
    cache: Buffer.from(bytes),
    length: bytes.length,
    durable: bytes,
    durableLength: bytes.length,
    dirtyFrom: Number.MAX_SAFE_INTEGER,
    dirtyTo: 0,
  }
}

function becomeClean(inode: Inode): void {
  inode.dirtyFrom = Number.MAX_SAFE_INTEGER
  inode.dirtyTo = 0
}

function grown(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.alloc(Math.max(1024, 2 * length))
  bytes.copy(larger)
  return larger
}

/** Unwritten bytes past the durable end are zeros when later bytes were written. */
function bytesAfterPowerCut(inode: Inode, keeps: () => boolean): Buffer {
  const after = Buffer.alloc(Math.max(inode.length, inode.durableLength))
  inode.durable.copy(after, 0, 0, inode.durableLength)
  let length = inode.durableLength
  for (let start = inode.dirtyFrom - (inode.dirtyFrom % SECTOR_BYTES); start < inode.dirtyTo; ) {
    const end = Math.min(start + SECTOR_BYTES, inode.length)
    if (keeps()) {
      inode.cache.copy(after, start, start, end)
      length = Math.max(length, end)
    }
    start += SECTOR_BYTES
  }
  return Buffer.from(after.subarray(0, length))
}

function isOfDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof PowerCut || 'code' in error || isOfDisk(error.cause)
}

function ioError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code })
}
