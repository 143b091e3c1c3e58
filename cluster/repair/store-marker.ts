/**
 * Detects that the directory of the blobs was replaced, by a marker file `present` in it.
 *
 * Layout: 32 random hex digits, drawn when the file is created, and a line end. Knows nothing of: how a replaced directory is
 * handled.
 * Rule: a new directory gets other digits, so an old directory that is mounted over it again is detected as well.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, type FileOps, systemFileOps } from '../base/file-ops.ts'
import { replaceFile } from '../base/replace-file.ts'

const DIGITS = /^[0-9a-f]{32}\n$/

export interface StoreMarkerOptions {
  readonly directory: string
  /** Returns 32 hex digits, different each time. */
  readonly draw: () => string
  readonly ops?: FileOps
}

export class StoreMarker {
  readonly #options: StoreMarkerOptions
  readonly #path: string
  #text: string | null = null

  constructor(options: StoreMarkerOptions) {
    this.#options = options
    this.#path = join(options.directory, 'present')
  }

  /** Accepts the present directory: reads its marker, or creates one. Throws the errors of the disk. */
  async accept(): Promise<void> {
    const found = await this.#read()
    if (found !== null && DIGITS.test(found)) {
      this.#text = found
      return
    }
    const text = `${this.#options.draw()}\n`
    await replaceFile(this.#path, text, this.#options.ops ?? systemFileOps)
    this.#text = text
  }

  /** Whether the directory is the one that was accepted. Throws errors of the disk that do not answer that. */
  async isThere(): Promise<boolean> {
    return (await this.#read()) === this.#text
  }

  async #read(): Promise<string | null> {
    try {
      return await readFile(this.#path, 'latin1')
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT' || errorCode(cause) === 'ENOTDIR') return null
      throw cause
    }
  }
}
