/**
 * A file system in memory that forgets what was never flushed.
 *
 * Owns: the difference between what a process sees and what survives a power cut, for bytes and for names.
 * Rule: it never keeps more than a disk promises, so a missing flush anywhere shows up as lost data.
 */
import assert from 'node:assert/strict'
import { basename, dirname, join } from 'node:path'
import type { FileOps } from '../../cluster/wal/file-ops.ts'

interface Inode {
  bytes: Buffer
  synced: Buffer
}

/** How much of what was not flushed a power cut leaves behind; a number in [0, 1) for each choice. */
export interface PowerCut {
  readonly keepsNames: boolean
  readonly keepsBytes: (unsynced: number) => number
}

export const LOSE_ALL: PowerCut = { keepsNames: false, keepsBytes: () => 0 }
export const KEEP_ALL: PowerCut = { keepsNames: true, keepsBytes: (unsynced) => unsynced }

export class MemoryFiles implements FileOps {
  names = new Map<string, Inode>()
  #syncedNames = new Map<string, Inode>()
  #open = new Map<number, Inode>()
  #nextFd = 3
  /** Calls that change something, so far. */
  changes = 0
  /** Runs before every change; throws to make it fail. */
  beforeChange: (operation: string, count: number) => void = () => {}

  makeDir(): void {}

  list(dir: string): string[] {
    return [...this.names.keys()].filter((path) => dirname(path) === dir).map((path) => basename(path))
  }

  size(path: string): number {
    return this.#named(path).bytes.length
  }

  read(path: string, bytesMax: number): Uint8Array {
    const { bytes } = this.#named(path)
    return Buffer.from(bytes.subarray(0, bytesMax))
  }

  create(path: string): number {
    this.#change('create')
    if (this.names.has(path)) throw new Error(`EEXIST: '${path}'`)
    const inode = { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) }
    this.names.set(path, inode)
    this.#open.set(this.#nextFd, inode)
    return this.#nextFd++
  }

  write(fd: number, bytes: Uint8Array, position: number): number {
    this.#change('write')
    const inode = this.#opened(fd)
    assert(position === inode.bytes.length, 'the log only appends')
    inode.bytes = Buffer.concat([inode.bytes, bytes])
    return bytes.byteLength
  }

  fdatasync(fd: number): void {
    this.#change('fdatasync')
    this.#opened(fd).synced = this.#opened(fd).bytes
  }

  fsync(fd: number): void {
    this.#change('fsync')
    this.#opened(fd).synced = this.#opened(fd).bytes
  }

  close(fd: number): void {
    this.#open.delete(fd)
  }

  rename(from: string, to: string): void {
    this.#change('rename')
    this.names.set(to, this.#named(from))
    this.names.delete(from)
  }

  unlink(path: string): void {
    this.#change('unlink')
    this.#named(path)
    this.names.delete(path)
  }

  syncDir(): void {
    this.#change('syncDir')
    this.#syncedNames = new Map(this.names)
  }

  /** The machine after the power is back. */
  afterPowerCut(cut: PowerCut): MemoryFiles {
    const after = new MemoryFiles()
    for (const [path, inode] of cut.keepsNames ? this.names : this.#syncedNames) {
      const unsynced = inode.bytes.length - inode.synced.length
      const bytes = Buffer.from(inode.bytes.subarray(0, inode.synced.length + cut.keepsBytes(unsynced)))
      after.put(path, bytes)
    }
    return after
  }

  /** A durable file, as if it had been there for ever. */
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

  bytesOf(path: string): Buffer {
    return this.#named(path).bytes
  }

  #change(operation: string): void {
    this.changes++
    this.beforeChange(operation, this.changes)
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

export const DIR = join('/', 'raft')
