/**
 * The port of the file operations that a blob store needs, so that tests can make each one fail or stop half-way.
 *
 * Rule: `syncFile` and `syncDirectory` are separate operations, because their failure has another meaning: bytes that were
 * written before may be lost although the kernel marks its pages clean, so the store must never acknowledge again.
 */
import { constants, type StatsFs } from 'node:fs'
import { mkdir, open, readdir, rename, statfs, unlink } from 'node:fs/promises'
import type { DiskSize } from './disk-level.ts'

/** What a store uses of an open file; a FileHandle is one. */
export interface OpenFile {
  read(
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
  /** Without a position: after the bytes written last. */
  writev(pieces: readonly Uint8Array[], position?: number): Promise<{ readonly bytesWritten: number }>
  truncate(length: number): Promise<void>
  datasync(): Promise<void>
  stat(): Promise<{ readonly size: number }>
  close(): Promise<void>
}

export interface FileOps {
  /** Exclusive: fails if the file exists. */
  create(path: string): Promise<OpenFile>
  /**
   * The same for a file that is written without the page cache, in whole blocks of memory from block-memory.ts. Null, and no file: the system
   * or the file system has no such writes.
   */
  createUncached(path: string): Promise<OpenFile | null>
  openForRead(path: string): Promise<OpenFile>
  /** Appends all of `pieces`, in order. */
  append(file: OpenFile, pieces: readonly Uint8Array[]): Promise<void>
  /** The same, from `position` on. */
  writeAt(file: OpenFile, pieces: readonly Uint8Array[], position: number): Promise<void>
  truncate(file: OpenFile, length: number): Promise<void>
  syncFile(file: OpenFile): Promise<void>
  syncDirectory(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** False if the directory existed already. */
  makeDirectory(path: string): Promise<boolean>
  listDirectory(path: string): Promise<string[]>
  /** What this user can use of the file system. */
  diskUsage(path: string): Promise<DiskSize>
}

export const systemFileOps: FileOps = {
  create: (path) => open(path, 'wx', 0o600),
  createUncached,
  openForRead: (path) => open(path, 'r'),
  append: (file, pieces) => writeAll(file, pieces),
  writeAt: writeAll,
  truncate: (file, length) => file.truncate(length),
  syncFile: (file) => file.datasync(),
  syncDirectory,
  rename,
  unlink,
  makeDirectory,
  listDirectory: (path) => readdir(path),
  diskUsage,
}

async function createUncached(path: string): Promise<OpenFile | null> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_DIRECT } = constants
  // Defined on Linux alone, whatever the types say.
  if ((O_DIRECT as number | undefined) === undefined) return null
  try {
    return await open(path, O_WRONLY | O_CREAT | O_EXCL | O_DIRECT, 0o600)
  } catch (cause) {
    if (errorCode(cause) !== 'EINVAL') throw cause
    // The system makes the file before it asks the file system.
    await unlink(path).catch(() => undefined)
    return null
  }
}

/** A write may be short; the rest is written until nothing is left. */
async function writeAll(file: OpenFile, pieces: readonly Uint8Array[], position?: number): Promise<void> {
  let left = pieces.filter(({ length }) => length > 0)
  let at = position
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left, at)
    if (bytesWritten === 0) throw new Error('Cannot write to a file: the system wrote nothing')
    left = after(left, bytesWritten)
    if (at !== undefined) at += bytesWritten
  }
}

function after(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes
  return pieces.flatMap((piece) => {
    const skipped = Math.min(skip, piece.length)
    skip -= skipped
    return skipped < piece.length ? [piece.subarray(skipped)] : []
  })
}

/** The names in it are durable when this resolves. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (cause) {
    if (errorCode(cause) === 'EEXIST') return false
    throw cause
  }
}

async function diskUsage(path: string): Promise<DiskSize> {
  return usableSpace(await statfs(path))
}

/** Without the blocks that only root may use, or that a quota of the directory does not allow: they are neither used nor free to this user. */
export function usableSpace({
  blocks,
  bfree,
  bavail,
  bsize,
}: Pick<StatsFs, 'blocks' | 'bfree' | 'bavail' | 'bsize'>): DiskSize {
  return { totalBytes: (blocks - bfree + bavail) * bsize, freeBytes: bavail * bsize }
}

/** The errno name of a failed system call, e.g. ENOENT. */
export function errorCode(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}

/** True if `open` found no such file. A failed call on an open file is another error. */
export function isGone(cause: unknown): boolean {
  return (
    errorCode(cause) === 'ENOENT' && cause instanceof Error && 'syscall' in cause && cause.syscall === 'open'
  )
}
