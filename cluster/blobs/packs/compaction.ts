/**
 * Frees the space of packs that are mostly garbage.
 *
 * Owns: the order: verify a record, append it again, read it back, switch the index; and only once durably no row leads into the
 * old pack, unlink that. Knows nothing of: when it is worth it (compaction-choice.ts), who asks.
 * Rule: a damaged record is quarantined, never copied and never dropped; a pack with unreadable places is moved into quarantine
 * as a whole.
 */
import { BlobDamagedError, type BlobName, type Logger } from '../../base/types.ts'
import { fileNameOf, parseFileName } from '../base/blob-name.ts'
import type { StoreParts } from '../files/file-blob-store.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { Place } from './index-rows.ts'
import type { NameLocks } from './name-locks.ts'
import type { OpenPacks } from './open-packs.ts'
import type { PackIndex } from './pack-index.ts'
import { type PackedBlob, readVerified, verifyPacked } from './pack-reader.ts'
import { recordBytes } from './pack-record.ts'
import { scanPack } from './pack-scan.ts'
import type { PackWriter } from './pack-writer.ts'

/** Moved together, so that they share a flush. */
const RECORDS_AT_ONCE = 32

export interface CompactionParts extends StoreParts {
  readonly index: PackIndex
  readonly packs: OpenPacks
  readonly writer: PackWriter
  readonly locks: NameLocks
  readonly budget: ByteBudget
  readonly logger: Logger
  /** Called with the lock of the name held. */
  readonly quarantine: (name: BlobName) => Promise<void>
  /** Resolves when this many more bytes may be moved, or when `stopping` is aborted. */
  readonly pace: (bytes: number, stopping: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}

export class Compaction {
  readonly #parts: CompactionParts

  constructor(parts: CompactionParts) {
    this.#parts = parts
  }

  /** False: it was stopped, or rows still lead into the pack. Records moved by then stay moved. */
  async run(pack: number): Promise<boolean> {
    const { index, stopping } = this.#parts
    // Also when the totals say that no record is live: the totals are only a count, the rows decide.
    await this.#moveAll(pack, this.#namesOf(pack))
    // Only the index knows records whose headers cannot be read.
    if (index.totalsOf(pack).records > 0) await this.#moveAll(pack, index.namesIn(pack))
    await index.flush()
    if (stopping.aborted || index.totalsOf(pack).records > 0) return false
    await this.#discard(pack)
    return true
  }

  async #moveAll(pack: number, names: AsyncIterable<string>): Promise<void> {
    let group: string[] = []
    for await (const name of names) {
      if (this.#parts.stopping.aborted) return
      group.push(name)
      if (group.length < RECORDS_AT_ONCE) continue
      await this.#moveGroup(pack, group)
      group = []
    }
    await this.#moveGroup(pack, group)
  }

  /** All moves end before a failure is reported, so that none continues after the caller has its answer. */
  async #moveGroup(pack: number, names: readonly string[]): Promise<void> {
    const ends = await Promise.allSettled(names.map((fileName) => this.#move(pack, fileName)))
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #move(pack: number, fileName: string): Promise<void> {
    const { index, budget, locks, pace, stopping } = this.#parts
    const place = await index.lookup(fileName)
    // Removed, or an older record of a name that is elsewhere by now; either may also happen while this call waits.
    if (place?.pack !== pack) return
    await pace(recordBytes(place.size), stopping)
    if (stopping.aborted) return
    await locks.run(fileName, async () => {
      const from = await index.lookup(fileName)
      if (from?.pack !== pack) return
      await budget.run(recordBytes(from.size), () => this.#moveAlone(fileName, from))
    })
  }

  async #moveAlone(fileName: string, from: Place): Promise<void> {
    const { index, writer, quarantine, logger } = this.#parts
    const name = parseFileName(fileName)
    if (name === null) return
    const record = await this.#with(name, from, readVerified).catch(async (err: unknown) => {
      if (!(err instanceof BlobDamagedError)) throw err
      await quarantine(name)
      logger.error({ blob: name.id, birth: name.birth, err }, 'damaged blob quarantined while compacting')
    })
    if (record === undefined) return
    const to = await writer.append({ name, ...record, onDurable: () => undefined })
    // A copy that does not read back ends the compaction: the row still leads to the original record.
    await this.#with(name, to, verifyPacked)
    index.put(fileName, to, from)
  }

  async #with<T>(name: BlobName, place: Place, work: (blob: PackedBlob) => Promise<T>): Promise<T> {
    const pack = await this.#parts.packs.acquire(place.pack)
    try {
      return await work({ name, place, pack })
    } finally {
      pack.release()
    }
  }

  /** In the order of the disk, older records of a name included. */
  async *#namesOf(pack: number): AsyncGenerator<string> {
    const { index, packs } = this.#parts
    // A damaged pack is never unlinked, so nothing is lost when it cannot be opened.
    const opened = await packs.acquire(pack).catch((cause: unknown) => {
      if (index.totalsOf(pack).isDamaged) return null
      throw cause
    })
    try {
      if (opened === null || opened.frame === null) return
      for await (const { records } of scanPack(opened.file, opened.frame, 0)) {
        for (const { name } of records) yield fileNameOf(name)
      }
    } finally {
      opened?.release()
    }
  }

  async #discard(pack: number): Promise<void> {
    const { layout, ops, guard, index, packs } = this.#parts
    if (index.totalsOf(pack).isDamaged) {
      await ops.rename(layout.pathOfPack(pack), layout.nextPackQuarantine(pack))
      await guard.sync(() => ops.syncDirectory(layout.quarantineDirectory))
    } else {
      await ops.unlink(layout.pathOfPack(pack))
    }
    packs.forget(pack)
    await guard.sync(() => ops.syncDirectory(layout.packDirectory))
    index.forget(pack)
  }
}
