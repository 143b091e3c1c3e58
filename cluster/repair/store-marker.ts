/**
 * A file that tells whether the directory of the blobs is still the one that was there before: `present` in it.
 *
 * Layout: 32 hex digits, drawn when the file is made, and a line end. Knows nothing of: what is to be done when it is gone.
 * Rule: a directory made anew gets other digits, so an old one that is mounted over it again is noticed as well.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, type FileOps, systemFileOps } from '../base/file-ops.ts'
import { replaceFile } from '../base/replace-file.ts'

const DIGITS = /^[0-9a-f]{32}\n$/

export interface StoreMarkerOptions {
  readonly directory: string
  /** 32 hex digits that were never given before. */
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

  /** From now on the directory is the right one: takes its marker, or makes one. Throws what the disk throws. */
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

  /** Whether the directory is the one that was accepted. Throws what the disk throws that says nothing about that. */
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
