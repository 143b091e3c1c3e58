/**
 * Files and the two standard streams as the ends of a transfer.
 *
 * Rules: a file takes its name only when all of it is on disk and was verified, so nothing ever reads half of it; one that changed
 * while it was read is not what was read.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { open, rename, stat, unlink, utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { CommandError } from '../base/exit.ts'
import type { UploadSource } from './upload.ts'

const READ_BYTES = 1024 * 1024

export interface OpenedFile extends UploadSource {
  readonly pieces: Readable
  /** Null: not known before the end. */
  readonly size: number | null
  close(): Promise<void>
}

export function standardInput(signal: AbortSignal): OpenedFile {
  return {
    size: null,
    pieces: ending(process.stdin, signal),
    assertUnchanged: async () => {},
    // Left open, it would keep the process waiting for what nobody reads.
    close: async () => void process.stdin.destroy(),
  }
}

export async function openFile(path: string, signal: AbortSignal): Promise<OpenedFile> {
  const handle = await open(path, 'r')
  const before = await handle.stat()
  if (!before.isFile()) {
    await handle.close()
    throw new CommandError(`'${path}' is no file`, {
      code: 'file_failed',
      hint: 'Name a file, - for standard input, or use holdfast sync for a folder.',
    })
  }
  const assertUnchanged = async (): Promise<void> => {
    const now = await handle.stat()
    if (now.size === before.size && now.mtimeMs === before.mtimeMs) return
    throw new CommandError(`'${path}' changed while it was uploaded`, {
      code: 'file_changed',
      hint: 'Nothing was stored. Upload it again when nobody writes to it.',
    })
  }
  const pieces = ending(handle.createReadStream({ highWaterMark: READ_BYTES, autoClose: false }), signal)
  return { size: before.size, pieces, assertUnchanged, close: () => handle.close() }
}

/** A read that waits is ended too. Whoever iterates hears of it; nobody else has to. */
function ending(pieces: Readable, signal: AbortSignal): Readable {
  return addAbortSignal(signal, pieces).on('error', () => {})
}

/** Where an object goes: the path itself, or in the folder that it names. */
export async function targetFile(path: string, key: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found?.isDirectory() ? join(path, basename(key)) : path
}

const TEMPORARY = /^\.holdfast-[0-9a-f]{16}\.part$/

/** Whether a file is one that a transfer has not finished. */
export const isTemporary = (name: string): boolean => TEMPORARY.test(name)

export interface Take {
  (piece: Uint8Array): Promise<void>
}

/** What `fill` takes becomes the file; when it throws there is none, and what was there before stays. */
export async function writeFile<T extends { readonly lastModified: string }>(
  path: string,
  fill: (take: Take) => Promise<T>,
): Promise<T> {
  const temporary = join(dirname(path), `.holdfast-${randomBytes(8).toString('hex')}.part`)
  const handle = await open(temporary, 'wx')
  try {
    const filled = await fill(async (piece) => {
      for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at)).bytesWritten
    })
    await handle.sync()
    await handle.close()
    const time = new Date(filled.lastModified)
    await utimes(temporary, time, time)
    await rename(temporary, path)
    return filled
  } catch (cause) {
    await handle.close().catch(() => {})
    await unlink(temporary).catch(() => {})
    throw cause
  }
}

export async function writeToStandardOutput(piece: Uint8Array): Promise<void> {
  if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
}
