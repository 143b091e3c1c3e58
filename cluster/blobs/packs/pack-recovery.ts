/**
 * Brings the index up to the packs when a store opens.
 *
 * Owns: what becomes of records that the index does not know. Knows nothing of: reads and writes of blobs.
 * Rule: what is not proved to have been flushed is not believed for being readable, since it may stand in the page cache
 * only; it is written once more, into a new pack, before anything may answer for it.
 */
import type { Logger } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'
import { BlobWriteError } from '../base/blob-store.ts'
import type { StoreParts } from '../files/file-blob-store.ts'
import type { Place } from './index-rows.ts'
import type { OpenPack, OpenPacks } from './open-packs.ts'
import type { PackIndex } from './pack-index.ts'
import { readVerified } from './pack-reader.ts'
import { PACK_HEAD_BYTES, type PackFrame, type PackRecord } from './pack-record.ts'
import { scanPack } from './pack-scan.ts'
import type { PackWriter } from './pack-writer.ts'

export interface RecoveryParts extends StoreParts {
  readonly index: PackIndex
  readonly packs: OpenPacks
  readonly writer: PackWriter
  readonly logger: Logger
}

export class PackRecovery {
  readonly #parts: RecoveryParts
  #found = 0

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /** `found`: the packs on the disk. Durable in the index when it resolves, with whether there were records that it did not know. */
  async run(found: readonly number[]): Promise<boolean> {
    const { index, logger, guard, ops, layout } = this.#parts
    const there = new Set(found)
    const gone = [...index.packs].filter(([pack]) => !there.has(pack))
    // The process before may have died between the unlink and its flush: a power cut would bring the pack back, and everything that was
    // removed from it, when the index does not know it any more.
    if (gone.length > 0) await guard.sync(() => ops.syncDirectory(layout.packDirectory))
    for (const [pack, { records }] of gone) {
      if (records === 0) index.forget(pack)
      else logger.error({ pack, records }, 'pack of blobs is gone')
    }
    for (const pack of found) await this.#readPack(pack)
    await index.flush()
    return this.#found > 0
  }

  async #readPack(pack: number): Promise<void> {
    const { index, packs, logger } = this.#parts
    let opened: Awaited<ReturnType<OpenPacks['acquire']>>
    try {
      opened = await packs.acquire(pack)
    } catch (err) {
      logger.error({ pack, err }, 'pack of blobs cannot be opened')
      index.markDamaged(pack)
      return
    }
    try {
      const { size } = await opened.file.stat()
      if (index.totalsOf(pack).indexedTo >= size && size > PACK_HEAD_BYTES) return
      if (opened.frame !== null) await this.#readRecords({ ...opened, frame: opened.frame })
      else if (size > PACK_HEAD_BYTES) this.#onDamage(pack)
      index.advance(pack, size)
    } finally {
      opened.release()
    }
  }

  async #readRecords(pack: OpenPack & { readonly frame: PackFrame }): Promise<void> {
    const { index } = this.#parts
    const { frame, file } = pack
    for await (const group of scanPack(file, frame, index.totalsOf(frame.pack).indexedTo)) {
      this.#found += group.records.length
      if (group.isDamaged) this.#onDamage(frame.pack)
      if (group.isProved) for (const record of group.records) await this.#adopt(frame.pack, record)
      // At once, as they were written: together they share a flush, and are no more than one batch in memory.
      else await Promise.all(group.records.map((record) => this.#rewrite(pack, record)))
      await index.relieve()
    }
  }

  /** The newest record of a name is the one: an older one was copied or replaced. */
  async #adopt(pack: number, { name, offset, content }: PackRecord): Promise<void> {
    const { index } = this.#parts
    const fileName = fileNameOf(name)
    const known = await this.#known(fileName)
    if (known !== null && (known.pack > pack || (known.pack === pack && known.offset >= offset))) return
    index.put(fileName, { pack, offset, size: content.size }, known)
  }

  /** What does not match its checksum was never acknowledged, or cannot be told from that: it stays where it is, unnamed. */
  async #rewrite(pack: OpenPack & { readonly frame: PackFrame }, record: PackRecord): Promise<void> {
    const { index, writer, guard, ops } = this.#parts
    const { name, content, offset } = record
    const place = { pack: pack.frame.pack, offset, size: content.size }
    const whole = await readVerified({ name, place, pack }).catch(() => null)
    if (whole === null) return
    const fileName = fileNameOf(name)
    const known = await this.#known(fileName)
    try {
      const onDurable = (to: Place): void => index.put(fileName, to, known)
      await writer.append({ name, content, pieces: whole.pieces, onDurable })
    } catch (cause) {
      if (!(cause instanceof BlobWriteError && cause.code === 'disk_full')) throw cause
      // No room for a second copy: flushing the first one is all that can be done.
      await guard.sync(() => ops.syncFile(pack.file))
      index.put(fileName, place, known)
    }
  }

  async #known(fileName: string): Promise<Place | null> {
    // A damaged row leads nowhere; the record that was found takes its place.
    return this.#parts.index.lookup(fileName).catch(() => null)
  }

  #onDamage(pack: number): void {
    this.#parts.index.markDamaged(pack)
    this.#parts.logger.error({ pack }, 'pack of blobs has places that cannot be read')
  }
}
