/**
 * The file operations of a blob store, on the disk in memory that loses unflushed bytes.
 *
 * Owns: nothing but the translation. Knows nothing of: what survives a power cut (test/wal/memory-files.ts).
 */
import { dirname } from 'node:path'
import { SHARDS } from '../../cluster/blobs/files/blob-layout.ts'
import { type FileOps, type OpenFile, systemFileOps } from '../../cluster/base/file-ops.ts'
import { BLOCK_BYTES } from '../../cluster/base/block-memory.ts'
import type { MemoryFiles } from '../wal/memory-files.ts'

/** Directories of the root. They exist from the start: the disk in memory knows only files. */
const DIRECTORIES = ['tmp', 'quarantine', 'packs', ...SHARDS]

export function blobFilesOn(files: MemoryFiles): FileOps {
  return {
    // These operations concern only the open file.
    ...systemFileOps,
    create: async (path) => writtenFile(files, files.create(path), path),
    createUncached: async (path) => inBlocks(writtenFile(files, files.create(path), path)),
    openForRead: async (path) => openedFile(files, assertThere(files, path)),
    syncDirectory: async (path) => files.syncDir(path),
    rename: async (from, to) => files.rename(assertThere(files, from), to),
    unlink: async (path) => files.unlink(assertThere(files, path)),
    makeDirectory: async () => true,
    listDirectory: async (path) => (dirname(path) === '/' ? DIRECTORIES : files.list(path)),
    diskUsage: async () => ({ totalBytes: 1_000_000, freeBytes: 900_000 }),
  }
}

function assertThere(files: MemoryFiles, path: string): string {
  if (files.names.has(path)) return path
  throw Object.assign(new Error(`ENOENT: '${path}' in '${dirname(path)}'`), { code: 'ENOENT' })
}

function openedFile(files: MemoryFiles, path: string): OpenFile {
  const inode = files.names.get(path) ?? { bytes: Buffer.alloc(0), synced: Buffer.alloc(0) }
  const readOnly = async (): Promise<never> => {
    throw new Error(`EBADF: '${path}' is open for reading`)
  }
  let isOpen = true
  return {
    read: async (into, offset, length, position) => {
      if (!isOpen) throw new Error(`EBADF: '${path}' is closed`)
      return { bytesRead: inode.bytes.copy(into, offset, position, position + length) }
    },
    writev: readOnly,
    truncate: readOnly,
    datasync: async () => {
      inode.synced = inode.bytes
    },
    stat: async () => ({ size: inode.bytes.length }),
    close: async () => {
      isOpen = false
    },
  }
}

/** As the system does it: nothing but whole blocks that begin at a block of their memory and of the file. */
function inBlocks(file: OpenFile): OpenFile {
  let end = 0
  const isWhole = (...places: readonly number[]): boolean =>
    places.every((place) => place % BLOCK_BYTES === 0)
  return {
    ...file,
    writev: async (pieces, position = end) => {
      const areWhole = pieces.every(({ byteOffset, length }) => isWhole(byteOffset, length))
      if (!areWhole || !isWhole(position)) throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' })
      end = position + pieces.reduce((sum, { length }) => sum + length, 0)
      return file.writev(pieces, position)
    },
  }
}

function writtenFile(files: MemoryFiles, fd: number, path: string): OpenFile {
  let end = 0
  return {
    ...openedFile(files, path),
    writev: async (pieces, position = end) => {
      const bytes = Buffer.concat(pieces)
      files.write(fd, bytes, position)
      end = position + bytes.length
      return { bytesWritten: bytes.length }
    },
    truncate: async (length) => {
      const inode = files.names.get(path)
      if (inode !== undefined) inode.bytes = inode.bytes.subarray(0, length)
    },
    datasync: async () => files.fdatasync(fd),
    close: async () => files.close(fd),
  }
}
