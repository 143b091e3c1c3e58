/**
 * Downloads an object into a file, and continues where a command that ended stopped.
 *
 * Rules: a file gets its name only when all of it is on disk and verified, so no program reads a partial file. Bytes that were there count
 * only with those that follow, by the digests of the whole; where these differ, nothing is kept.
 */
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, unlink, utimes } from 'node:fs/promises'
import type { DataClient } from '../../client/clients.ts'
import { CommandError } from '../base/exit.ts'
import { download, type Downloaded, type DownloadRequest, type DownloadStart } from './download.ts'
import { claimUnfinished, type UnfinishedFile, unfinishedPath } from './unfinished-files.ts'

interface FileDownload extends Pick<DownloadRequest, 'bucket' | 'key' | 'versionId' | 'signal'> {
  /** The file. */
  readonly path: string
  /** Of the object, where it is known: a small one is not looked for. */
  readonly size?: number
  /** Called before the first byte. */
  readonly onSize?: (bytes: number) => void
  /** Called with how many were written, and before with how many were there. */
  readonly onBytes?: (bytes: number) => void
  /** The time of the file; unless given that of the file that was stored, or of the object. */
  readonly timeOf?: (done: Downloaded) => string
}

/** Less is downloaded again. */
const KEPT_BYTES_MIN = 16 * 1024 * 1024
const READ_BYTES = 1024 * 1024

/** Throws what `download` throws; an existing file stays unchanged then. */
export async function downloadToFile(client: DataClient, requested: FileDownload): Promise<Downloaded> {
  const { path, size = Infinity, onSize = () => {}, onBytes = () => {}, timeOf, ...from } = requested
  const target = { path, bucket: from.bucket, key: from.key }
  const found = size < KEPT_BYTES_MIN ? null : await claimUnfinished(target)
  const file = new GrowingFile(found, (state) => unfinishedPath(target, state))
  try {
    const done = await download(client, {
      ...from,
      ...(found === null ? {} : { held: { ...found, pieces: () => piecesOf(found) } }),
      onSize,
      onStart: async (start) => {
        await file.start(start)
        onBytes(start.heldBytes)
      },
      onBytes: async (piece) => {
        await file.append(piece)
        onBytes(piece.length)
      },
    })
    await file.become(path, timeOf?.(done) ?? done.fileTime ?? done.lastModified)
    return done
  } catch (cause) {
    await file.giveUp(cause)
    throw cause
  }
}

const piecesOf = ({ file, bytes }: UnfinishedFile): AsyncIterable<Uint8Array> =>
  createReadStream(file, { end: bytes - 1, highWaterMark: READ_BYTES })

class GrowingFile {
  readonly #found: UnfinishedFile | null
  readonly #pathOf: (state: string) => string
  #file = ''
  #handle: FileHandle | null = null
  #at = 0

  constructor(found: UnfinishedFile | null, pathOf: (state: string) => string) {
    this.#found = found
    this.#pathOf = pathOf
  }

  async start({ state, heldBytes }: DownloadStart): Promise<void> {
    const isContinued = heldBytes > 0
    if (this.#found !== null && !isContinued) await unlink(this.#found.file)
    this.#file = this.#pathOf(state)
    this.#handle = await open(this.#file, isContinued ? 'r+' : 'wx')
    this.#at = heldBytes
  }

  async append(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.length; ) {
      const { bytesWritten = 0 } =
        (await this.#handle?.write(piece, from, piece.length - from, this.#at)) ?? {}
      from += bytesWritten
      this.#at += bytesWritten
    }
  }

  async become(path: string, time: string): Promise<void> {
    await this.#handle?.sync()
    await this.#handle?.close()
    await utimes(this.#file, new Date(time), new Date(time))
    await rename(this.#file, path)
  }

  async giveUp(cause: unknown): Promise<void> {
    if (this.#handle === null) return
    await this.#handle.close().catch(() => {})
    const isWrong = cause instanceof CommandError && cause.code === 'checksum_mismatch'
    if (isWrong || this.#at < KEPT_BYTES_MIN) await unlink(this.#file).catch(() => {})
  }
}
