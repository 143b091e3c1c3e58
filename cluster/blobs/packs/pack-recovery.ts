/**
 * Updates the index from the packs when a store opens.
 *
 * Owns: the handling of records that the index does not know. Knows nothing of: reads and writes of blobs.
 * Rule: that a record can be read does not prove that it was flushed, since it may be only in the page cache. A record without
 * that proof is written again, into a new pack, before a row names it.
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

  /** `found`: the packs on the disk. All records are durably in the index when it resolves; true if there were records that it did not know. */
  async run(found: readonly number[]): Promise<boolean> {
    const { index, logger, guard, ops, layout } = this.#parts
    const there = new Set(found)
    const gone = [...index.packs].filter(([pack]) => !there.has(pack))
    // The previous process may have died between the unlink and its flush: a power cut would then bring the pack back, with all copies
    // that were removed from it, after the index has forgotten it.
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
      // Concurrently, as they were written: they share a flush, and are no more than one batch in memory.
      else await Promise.all(group.records.map((record) => this.#rewrite(pack, record)))
      await index.relieve()
    }
  }

  /** The newest record of a name counts: an older one was copied or replaced. */
  async #adopt(pack: number, { name, offset, content }: PackRecord): Promise<void> {
    const { index } = this.#parts
    const fileName = fileNameOf(name)
    const known = await this.#known(fileName)
    if (known !== null && (known.pack > pack || (known.pack === pack && known.offset >= offset))) return
    index.put(fileName, { pack, offset, size: content.size }, known)
  }

  /** A record that does not match its checksum was never acknowledged, or cannot be distinguished from one that was not: it stays in place, without a row. */
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
      // No space for a second copy: flushing the first one is all that can be done.
      await guard.sync(() => ops.syncFile(pack.file))
      index.put(fileName, place, known)
    }
  }

  async #known(fileName: string): Promise<Place | null> {
    // A damaged row leads nowhere; the row of the found record replaces it.
    return this.#parts.index.lookup(fileName).catch(() => null)
  }

  #onDamage(pack: number): void {
    this.#parts.index.markDamaged(pack)
    this.#parts.logger.error({ pack }, 'pack of blobs has unreadable places')
  }
}
