/**
 * A file system in memory that forgets what was never flushed.
 *
 * Owns: the difference between what a process sees and what survives a power cut, for sectors and for names.
 * Rule: it never keeps more than a disk promises, so a missing flush anywhere shows up as lost data. Bytes that were
 * not flushed survive sector by sector, in any choice; names survive in the order in which they were changed.
 */
import assert from 'node:assert/strict'
import { basename, dirname, join } from 'node:path'
import type { FileOps } from '../../cluster/wal/file-ops.ts'

export const SECTOR = 512

interface Inode {
  bytes: Buffer
  synced: Buffer
}

interface NameChange {
  readonly dir: string
  readonly apply: (names: Map<string, Inode>) => void
}

/** The unflushed changes that survive a power cut. */
export interface PowerCut {
  /** How many of the changes of names survive, oldest first. */
  readonly names: number
  /** `position`: in the list of all unflushed sectors, in the order in which they were written to. */
  readonly keeps: (position: number) => boolean
  /** A file may have its new length although the sectors that made it longer are not there; they read as zeros. */
  readonly keepsLength: boolean
}

export const LOSE_ALL: PowerCut = { names: 0, keeps: () => false, keepsLength: false }

export class MemoryFiles implements FileOps {
  names = new Map<string, Inode>()
  #syncedNames = new Map<string, Inode>()
  #nameChanges: NameChange[] = []
  #open = new Map<number, Inode>()
  #nextFd = 3
  /** Count of changing calls so far. */
  changes = 0
  /** Runs before every change; throws to make it fail. */
  beforeChange: (operation: string, count: number, path: string) => void = () => {}

  makeDir(): void {}

  list(dir: string): string[] {
    return [...this.names.keys()].filter((path) => dirname(path) === dir).map((path) => basename(path))
  }

  size(path: string): number {
    return this.#named(path).bytes.length
  }

  freeBytes(): number {
    return Number.MAX_SAFE_INTEGER
  }

  read(path: string, bytesMax: number): Uint8Array {
    const { bytes } = this.#named(path)
    return Buffer.from(bytes.subarray(0, bytesMax))
  }

  readAt(path: string, position: number, bytesMax: number): Uint8Array {
    const { bytes } = this.#named(path)
    return Buffer.from(bytes.subarray(position, position + bytesMax))
  }

  create(path: string): number {
    this.#change('create', path)
    if (this.names.has(path)) throw new Error(`EEXIST: '${path}'`)
    const inode = { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) }
    this.#rename(dirname(path), (names) => names.set(path, inode))
    this.#open.set(this.#nextFd, inode)
    return this.#nextFd++
  }

  write(fd: number, bytes: Uint8Array, position: number): number {
    const inode = this.#opened(fd)
    this.#change('write', this.#pathOf(inode))
    assert(position <= inode.bytes.length, 'the log leaves no hole in a file')
    const after = inode.bytes.subarray(position + bytes.byteLength)
    inode.bytes = Buffer.concat([inode.bytes.subarray(0, position), bytes, after])
    return bytes.byteLength
  }

  fdatasync(fd: number): void {
    this.#sync('fdatasync', fd)
  }

  fsync(fd: number): void {
    this.#sync('fsync', fd)
  }

  close(fd: number): void {
    this.#open.delete(fd)
  }

  rename(from: string, to: string): void {
    this.#change('rename', to)
    const inode = this.#named(from)
    if (dirname(from) === dirname(to)) {
      this.#rename(dirname(to), (names) => names.set(to, inode).delete(from))
      return
    }
    this.#rename(dirname(to), (names) => names.set(to, inode))
    this.#rename(dirname(from), (names) => names.delete(from))
  }

  unlink(path: string): void {
    this.#change('unlink', path)
    this.#named(path)
    this.#rename(dirname(path), (names) => names.delete(path))
  }

  syncDir(dir: string): void {
    this.#change('syncDir', dir)
    for (const change of this.#nameChanges) if (change.dir === dir) change.apply(this.#syncedNames)
    this.#nameChanges = this.#nameChanges.filter((change) => change.dir !== dir)
  }

  /** The choices that a power cut has now: changes of names, and for each unflushed sector the path of its file. */
  unflushed(): { readonly names: number; readonly sectors: readonly string[] } {
    const sectors = this.#unflushedSectors().map(({ inode }) => this.#pathOf(inode))
    return { names: this.#nameChanges.length, sectors }
  }

  /** The machine after the power is back. */
  afterPowerCut({ names, keeps, keepsLength }: PowerCut): MemoryFiles {
    const after = new MemoryFiles()
    const survivors = new Map(this.#syncedNames)
    for (const change of this.#nameChanges.slice(0, names)) change.apply(survivors)
    const kept = new Map<Inode, number[]>()
    for (const [position, { inode, sector }] of this.#unflushedSectors().entries()) {
      if (keeps(position)) kept.set(inode, [...(kept.get(inode) ?? []), sector])
    }
    for (const [path, inode] of survivors)
      after.put(path, survivingBytes(inode, kept.get(inode) ?? [], keepsLength))
    return after
  }

  /** A durable file, as if it had always existed. */
  put(path: string, bytes: Buffer): void {
    const inode = { bytes, synced: bytes }
    this.names.set(path, inode)
    this.#syncedNames.set(path, inode)
  }

  /** Durable copies of everything, to damage them. */
  copy(): MemoryFiles {
    const copy = new MemoryFiles()
    for (const [path, { bytes }] of this.names) copy.put(path, Buffer.from(bytes))
    return copy
  }

  paths(): string[] {
    return [...this.names.keys()].toSorted()
  }

  segments(): string[] {
    return this.paths().filter((path) => dirname(path) === DIR && path.endsWith('.wal'))
  }

  lengthOf(fd: number): number {
    return this.#opened(fd).bytes.length
  }

  bytesOf(path: string): Buffer {
    return this.#named(path).bytes
  }

  #unflushedSectors(): { inode: Inode; sector: number }[] {
    const inodes = new Set([...this.names.values(), ...this.#syncedNames.values()])
    return [...inodes].flatMap((inode) => changedSectors(inode).map((sector) => ({ inode, sector })))
  }

  #rename(dir: string, apply: NameChange['apply']): void {
    apply(this.names)
    this.#nameChanges.push({ dir, apply })
  }

  #sync(operation: string, fd: number): void {
    const inode = this.#opened(fd)
    this.#change(operation, this.#pathOf(inode))
    inode.synced = inode.bytes
  }

  #change(operation: string, path: string): void {
    this.changes++
    this.beforeChange(operation, this.changes, path)
  }

  #pathOf(inode: Inode): string {
    return [...this.names].find(([, named]) => named === inode)?.[0] ?? ''
  }

  #named(path: string): Inode {
    const inode = this.names.get(path)
    if (inode === undefined) throw new Error(`ENOENT: '${path}'`)
    return inode
  }

  #opened(fd: number): Inode {
    const inode = this.#open.get(fd)
    if (inode === undefined) throw new Error(`EBADF: ${fd}`)
    return inode
  }
}

function changedSectors({ bytes, synced }: Inode): number[] {
  const changed: number[] = []
  for (let sector = 0; sector * SECTOR < bytes.length; sector++) {
    const [start, end] = [sector * SECTOR, (sector + 1) * SECTOR]
    if (!bytes.subarray(start, end).equals(synced.subarray(start, end))) changed.push(sector)
  }
  return changed
}

function survivingBytes({ bytes, synced }: Inode, sectors: readonly number[], keepsLength: boolean): Buffer {
  const ends = sectors.map((sector) => Math.min((sector + 1) * SECTOR, bytes.length))
  const after = Buffer.alloc(Math.max(synced.length, ...ends, keepsLength ? bytes.length : 0))
  synced.copy(after)
  for (const sector of sectors) bytes.copy(after, sector * SECTOR, sector * SECTOR, (sector + 1) * SECTOR)
  return after
}

export const DIR = join('/', 'raft')
