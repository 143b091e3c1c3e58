/**
 * Files and the standard streams as source and target of a transfer.
 *
 * Rule: a source file that changes while it is read fails the upload.
 */
import { once } from 'node:events'
import { open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { CommandError } from '../base/exit.ts'
import type { UploadSource } from './upload.ts'

const READ_BYTES = 1024 * 1024
const READ_BYTES_MIN = 4 * 1024

export interface OpenedFile extends UploadSource {
  readonly pieces: Readable
  /** Null: not known before the end. */
  readonly size: number | null
  /** Nanoseconds since 1970; null: it has no time. */
  readonly modifiedNs: bigint | null
  close(): Promise<void>
}

export function standardInput(signal: AbortSignal): OpenedFile {
  return {
    size: null,
    modifiedNs: null,
    pieces: ending(process.stdin, signal),
    assertUnchanged: async () => {},
    // An open standard input would keep the process alive.
    close: async () => void process.stdin.destroy(),
  }
}

export async function openFile(path: string, signal: AbortSignal): Promise<OpenedFile> {
  const handle = await open(path, 'r')
  const before = await handle.stat({ bigint: true })
  if (!before.isFile()) {
    await handle.close()
    throw new CommandError(`'${path}' is not a file`, {
      code: 'file_failed',
      hint: 'Name a file, - for standard input, or use holdfast sync for a folder.',
    })
  }
  const assertUnchanged = async (): Promise<void> => {
    const now = await handle.stat({ bigint: true })
    if (now.size === before.size && now.mtimeNs === before.mtimeNs) return
    throw new CommandError(`'${path}' changed while it was uploaded`, {
      code: 'file_changed',
      hint: 'Nothing was stored. Upload it again when no program writes to it.',
    })
  }
  const size = Number(before.size)
  // A buffer of this size is made for each file.
  const highWaterMark = Math.min(READ_BYTES, Math.max(READ_BYTES_MIN, size))
  const pieces = ending(handle.createReadStream({ highWaterMark, autoClose: false }), signal)
  return { size, modifiedNs: before.mtimeNs, pieces, assertUnchanged, close: () => handle.close() }
}

/** Ends a waiting read too. Only the iteration receives the error; the empty listener keeps it from ending the process. */
function ending(pieces: Readable, signal: AbortSignal): Readable {
  return addAbortSignal(signal, pieces).on('error', () => {})
}

/** The file of an object: the path itself, or if that is a folder, a file in it. */
export async function targetFile(path: string, key: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found?.isDirectory() ? join(path, basename(key)) : path
}

export async function writeToStandardOutput(piece: Uint8Array): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
}
