/**
 * Keeps a bounded number of packs open for reading.
 *
 * Owns: descriptors, and which may be closed. Knows nothing of: records.
 * Rule: a descriptor in use is never closed, so a reader of a pack that is deleted meanwhile can finish.
 */
import type { BlobLayout } from '../files/blob-layout.ts'
import type { FileOps, OpenFile } from '../../base/file-ops.ts'
import { readFully } from './pack-bytes.ts'
import { decodePackHead, PACK_HEAD_BYTES, type PackFrame } from './pack-record.ts'

const OPEN_MAX = 128

export interface OpenPack {
  readonly file: OpenFile
  /** Null: neither head can be read, so its records cannot be distinguished from other bytes. */
  readonly frame: PackFrame | null
}

interface Entry {
  readonly opened: Promise<OpenPack>
  users: number
  isForgotten: boolean
}

export class OpenPacks {
  readonly #layout: BlobLayout
  readonly #ops: FileOps
  /** The least recently used pack first. */
  readonly #entries = new Map<number, Entry>()

  constructor(layout: BlobLayout, ops: FileOps) {
    this.#layout = layout
    this.#ops = ops
  }

  /** Call `release` once. Throws the system's error when the pack does not exist. */
  async acquire(pack: number): Promise<OpenPack & { readonly release: () => void }> {
    const entry = this.#entryOf(pack)
    entry.users++
    const release = (): void => {
      entry.users--
      if (entry.isForgotten) this.#closeIdle(entry)
    }
    try {
      return { ...(await entry.opened), release }
    } catch (cause) {
      release()
      if (this.#entries.get(pack) === entry) this.#entries.delete(pack)
      throw cause
    }
  }

  /** Closes the pack as soon as no reader uses it. */
  forget(pack: number): void {
    const entry = this.#entries.get(pack)
    if (entry === undefined) return
    this.#entries.delete(pack)
    entry.isForgotten = true
    this.#closeIdle(entry)
  }

  forgetAll(): void {
    for (const pack of this.#entries.keys()) this.forget(pack)
  }

  #entryOf(pack: number): Entry {
    const known = this.#entries.get(pack)
    this.#entries.delete(pack)
    const entry = known ?? { opened: this.#open(pack), users: 0, isForgotten: false }
    this.#entries.set(pack, entry)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= OPEN_MAX) break
      this.forget(oldest)
    }
    return entry
  }

  async #open(pack: number): Promise<OpenPack> {
    const file = await this.#ops.openForRead(this.#layout.pathOfPack(pack))
    try {
      const frame = decodePackHead(pack, await readFully(file, 0, PACK_HEAD_BYTES))
      return { file, frame }
    } catch (cause) {
      await file.close()
      throw cause
    }
  }

  #closeIdle(entry: Entry): void {
    if (entry.users > 0) return
    entry.opened.then(
      // The descriptor was used only for reading, so a failed close loses nothing.
      ({ file }) => file.close().catch(() => undefined),
      () => undefined,
    )
  }
}
