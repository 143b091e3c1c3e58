/**
 * The port of the few file operations a blob store needs, so that tests can make each one fail or stop half-way.
 *
 * Rule: `syncFile` and `syncDirectory` are apart from the rest, because their failure has another meaning: what was
 * written before may be gone although the kernel calls its pages clean, so the store must never acknowledge again.
 */
import { mkdir, open, readdir, rename, statfs, unlink, type FileHandle } from 'node:fs/promises'

export interface FileOps {
  /** Exclusive: fails if the file exists. */
  create(path: string): Promise<FileHandle>
  openForRead(path: string): Promise<FileHandle>
  /** Appends all of `pieces`, in order. */
  append(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void>
  syncFile(file: FileHandle): Promise<void>
  syncDirectory(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** False if the directory was there already. */
  makeDirectory(path: string): Promise<boolean>
  listDirectory(path: string): Promise<string[]>
  diskUsage(path: string): Promise<{ readonly totalBytes: number; readonly freeBytes: number }>
}

export const systemFileOps: FileOps = {
  create: (path) => open(path, 'wx', 0o600),
  openForRead: (path) => open(path, 'r'),
  append,
  syncFile: (file) => file.datasync(),
  syncDirectory,
  rename,
  unlink,
  makeDirectory,
  listDirectory: (path) => readdir(path),
  diskUsage,
}

/** A write may be short; the rest is written until nothing is left. */
async function append(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  let left = pieces.filter(({ length }) => length > 0)
  while (left.length > 0) {
    const { bytesWritten } = await file.writev(left)
    if (bytesWritten === 0) throw new Error('Cannot append to a file: the system wrote nothing')
    left = after(left, bytesWritten)
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

async function syncDirectory(path: string): Promise<void> {
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

async function diskUsage(path: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(path)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}

/** The errno name of a failed system call, e.g. ENOENT. */
export function errorCode(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}
