/**
 * The port of the file operations that the log needs.
 *
 * Owns: the calls into the operating system, all of them synchronous because the log lives on a thread of its own.
 * Knows nothing of: segments. Rule: a name in a directory is durable only after `syncDir`; bytes in a file only
 * after `fdatasync` or `fsync` returned without an error.
 */
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { readAround } from './read-around.ts'

export interface FileOps {
  /** Creates the directory and its missing parents; durable when it returns. */
  makeDir(path: string): void
  /** File names, in no order. */
  list(dir: string): readonly string[]
  size(path: string): number
  /** Free bytes of the file system of this directory. */
  freeBytes(dir: string): number
  /** The first `bytesMax` bytes, or the whole file when it is shorter. Unreadable sectors read as damage. */
  read(path: string, bytesMax: number): Uint8Array
  /** The same from `position` on. */
  readAt(path: string, position: number, bytesMax: number): Uint8Array
  /** Creates a file that must not exist yet. */
  create(path: string): number
  /** May write fewer bytes than it was given; returns how many. */
  write(fd: number, bytes: Uint8Array, position: number): number
  fdatasync(fd: number): void
  fsync(fd: number): void
  close(fd: number): void
  rename(from: string, to: string): void
  unlink(path: string): void
  syncDir(path: string): void
}

/** The suffix of a file's name until its bytes are durable. */
export const TEMPORARY_SUFFIX = '.tmp'

/** Returns the position after the bytes. */
export function writeAll(
  files: FileOps,
  fd: number,
  { bytes, position }: { readonly bytes: Uint8Array; readonly position: number },
): number {
  for (let done = 0; done < bytes.length; ) {
    const count = files.write(fd, bytes.subarray(done), position + done)
    // A full disk first writes less than requested and then fails; with a file system that does neither this would loop forever.
    assert(count > 0, 'a write makes progress or throws')
    done += count
  }
  return position + bytes.length
}

export const nodeFileOps: FileOps = {
  makeDir,
  list: (dir) => fs.readdirSync(dir),
  size: (path) => fs.statSync(path).size,
  read: (path, bytesMax) => readAt(path, 0, bytesMax),
  readAt,
  freeBytes,
  create: (path) => fs.openSync(path, 'wx', 0o600),
  write: (fd, bytes, position) => fs.writeSync(fd, bytes, 0, bytes.byteLength, position),
  fdatasync: (fd) => fs.fdatasyncSync(fd),
  fsync: (fd) => fs.fsyncSync(fd),
  close: (fd) => fs.closeSync(fd),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  syncDir,
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = fs.statfsSync(dir)
  return bavail * bsize
}

function makeDir(path: string): void {
  const first = fs.mkdirSync(path, { recursive: true })
  if (first === undefined) return
  // A new name is an entry in its parent, so every parent of a new directory must be flushed.
  const top = dirname(first)
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    syncDir(dir)
    if (dir === top || dir === dirname(dir)) return
  }
}

function readAt(path: string, position: number, bytesMax: number): Uint8Array {
  const fd = fs.openSync(path, 'r')
  try {
    const rest = Math.max(0, fs.fstatSync(fd).size - position)
    const bytes = Buffer.allocUnsafeSlow(Math.min(bytesMax, rest))
    const filled = readAround(bytes, (into, offset) =>
      fs.readSync(fd, into, 0, into.length, position + offset),
    )
    return bytes.subarray(0, filled)
  } finally {
    fs.closeSync(fd)
  }
}

function syncDir(path: string): void {
  const fd = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
