/**
 * Which large objects are under way, in a folder of this machine: one small file each, so that a killed import continues inside an object.
 *
 * Owns: the files. Rules: a file is replaced as a whole, only for parts that the target has stored, and removed with its upload. What cannot be read, or
 * belongs to another version of the source object, is as good as nothing. The saved digests can contain a few bytes of the object, so others may
 * not read the files.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rmdir, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SavedDigests } from './source-checksums.ts'

export interface OpenUpload {
  /** Bucket and key at the target. */
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
  readonly partBytes: number
  readonly source: {
    readonly bucket: string
    readonly key: string
    readonly etag: string
    readonly size: number
    readonly modifiedAt: number
  }
  /** Stored parts, from the first on, without a gap. */
  readonly parts: number
  /** The digests of the bytes of those parts. */
  readonly digests: SavedDigests
}

type Name = Pick<OpenUpload, 'bucket' | 'key'>

export class OpenUploads {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Null: none is known. */
  async find(name: Name): Promise<OpenUpload | null> {
    try {
      const found = JSON.parse(await readFile(this.#file(name), 'utf8')) as OpenUpload
      return found.bucket === name.bucket && found.key === name.key ? found : null
    } catch {
      // Missing, torn or of another program: the object starts at its first part.
      return null
    }
  }

  async keep(upload: OpenUpload): Promise<void> {
    const file = this.#file(upload)
    const temporary = `${file}.${randomBytes(4).toString('hex')}`
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(temporary, JSON.stringify(upload), { mode: 0o600 })
    await rename(temporary, file)
  }

  async remove(name: Name): Promise<void> {
    await unlink(this.#file(name)).catch(() => {})
  }

  /** Removes the folder when nothing is under way. */
  async close(): Promise<void> {
    await rmdir(this.#folder).catch(() => {})
  }

  #file({ bucket, key }: Name): string {
    const name = createHash('sha256').update(`${bucket}/${key}`).digest('hex').slice(0, 32)
    return join(this.#folder, `${name}.json`)
  }
}
