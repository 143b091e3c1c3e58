/**
 * The copies that were still open at a clean stop: `sweep.json` in the data directory.
 *
 * Layout: two lines, `{"format":1,"boot":7,"open":["<id>.<birth>", ...]}` and the SHA-256 of that line in hex. Documented in docs/formats/scrub.md.
 * Rules: written after the store is closed, and removed durably before the next write to the store, so no such file exists after a
 * crash. A file that is absent or damaged in any way, or was left by another start than the last one, counts as absent: then the
 * sweep walks over all copies.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileNameOf, parseFileName } from '../blobs/base/blob-name.ts'
import { errorCode, type FileOps, systemFileOps } from '../base/file-ops.ts'
import type { BlobName } from '../base/types.ts'
import { replaceFile } from '../base/replace-file.ts'

const FORMAT = 1

/** The starts of the data directory, those by versions without this file included. */
interface Starts {
  readonly boot: number
  /** The last start at the end. */
  readonly before: readonly number[] | null
}

interface Content {
  readonly format: number
  readonly boot: number
  readonly open: readonly string[]
}

export class SweepFile {
  readonly #path: string
  readonly #starts: Starts
  readonly #ops: FileOps

  constructor(path: string, starts: Starts, ops: FileOps = systemFileOps) {
    this.#path = path
    this.#starts = starts
    this.#ops = ops
  }

  /** Returns its names once: the file is durably gone when this resolves. Null: the sweep must walk over all copies. */
  async take(): Promise<readonly BlobName[] | null> {
    const names = await this.#read()
    try {
      await this.#ops.unlink(this.#path)
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') return null
      throw cause
    }
    await this.#ops.syncDirectory(dirname(this.#path))
    return names
  }

  /** Durable when it resolves. */
  write(names: readonly BlobName[]): Promise<void> {
    const line = JSON.stringify({ format: FORMAT, boot: this.#starts.boot, open: names.map(fileNameOf) })
    return replaceFile(this.#path, `${line}\n${digestOf(line)}\n`, this.#ops)
  }

  async #read(): Promise<readonly BlobName[] | null> {
    try {
      const [line = '', digest] = (await readFile(this.#path, 'utf8')).split('\n')
      if (digest !== digestOf(line)) return null
      const { format, boot, open } = JSON.parse(line) as Content
      if (format !== FORMAT || boot !== this.#starts.before?.at(-1)) return null
      return open.flatMap((one) => parseFileName(one) ?? [])
    } catch {
      return null
    }
  }
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}
