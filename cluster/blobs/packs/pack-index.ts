/**
 * The pack, offset and size of each name's record.
 *
 * Owns: the rows, their changes that are not yet written, and for each pack how much of it is live.
 * Knows nothing of: files, records. The packs are the truth; the index can be lost and rebuilt from them.
 * Rule: rows and the position up to which a pack is indexed are written together and synced. Changes not yet in the rows are in
 * memory, and after a crash they are read from the ends of the packs.
 */
import { BlobDamagedError } from '../../base/types.ts'
import type { FlushGuard } from '../files/flush-guard.ts'
import { auditOf, type Audit } from './index-audit.ts'
import {
  CLEAN_KEY,
  decodePlace,
  encodePlace,
  encodeTotals,
  type IndexRows,
  NAME_ROWS,
  NO_TOTALS,
  nameKey,
  type PackTotals,
  packKey,
  type Place,
  rowSum,
} from './index-rows.ts'
import { recordBytes } from './pack-record.ts'

/** This many changes are gathered for one write; at most twice as many may wait. */
const CHANGES_PER_WRITE = 2_048
/** Places of names that were written or read last: a read of one of them asks no row. Some 4 MB. */
const PLACES_KEPT_MAX = 16_384

export class PackIndex {
  readonly #rows: IndexRows
  readonly #guard: FlushGuard
  readonly #totals = new Map<number, PackTotals>()
  /** Changes not yet passed to the rows, and changes passed but not yet durable. Null: removed. */
  #pending = new Map<string, Place | null>()
  #flushing = new Map<string, Place | null>()
  /** As in the rows. The oldest first. */
  readonly #kept = new Map<string, Place>()
  /** The number of changes so far: a row that was asked for before one may be outdated. */
  #changes = 0
  #changedPacks = new Set<number>()
  #lastWrite: Promise<void> = Promise.resolve()
  #nextWrite: Promise<void> | null = null
  /** If set, no mark of a clean stop is written, so that the next start reads all rows. */
  #hasBadRow = false
  #isUnchanged = false

  constructor(rows: IndexRows, guard: FlushGuard) {
    this.#rows = rows
    this.#guard = guard
  }

  /**
   * After an unclean stop every row is read and the sums are compared. Resolves with the fault, or null. After a fault the index
   * is empty and the packs have to be read from the start.
   */
  async open(): Promise<string | null> {
    await this.#rows.open()
    const audit = await auditOf(this.#rows)
    this.#isUnchanged = audit.isClean && audit.fault === null
    if (audit.fault === null) this.#take(audit)
    else await this.#rows.clear()
    await this.#rows.write(new Map([[CLEAN_KEY, null]]))
    return audit.fault
  }

  /** The previous stop was clean, and the rows had no fault at this start. */
  get isUnchanged(): boolean {
    return this.#isUnchanged
  }

  get packs(): ReadonlyMap<number, PackTotals> {
    return this.#totals
  }

  totalsOf(pack: number): PackTotals {
    return this.#totals.get(pack) ?? NO_TOTALS
  }

  /** Throws BlobDamagedError when the row is damaged: the copy may be on the disk, but cannot be found. */
  async lookup(fileName: string): Promise<Place | null> {
    const key = nameKey(fileName)
    const change = this.#changeOf(key)
    const known = change === undefined ? this.#kept.get(key) : change
    if (known !== undefined) return known
    const changes = this.#changes
    const row = await this.#rows.get(key)
    if (row === undefined) return null
    const place = decodePlace(key, row)
    if (place !== null && changes === this.#changes) this.#keep(key, place)
    if (place !== null) return place
    this.#hasBadRow = true
    throw new BlobDamagedError(`Blob "${fileName}" cannot be found: its row in the index is damaged`)
  }

  /** For names that are new as far as the caller knows; null also where the row is damaged, so that a row of the caller replaces it. */
  async placesOf(fileNames: readonly string[]): Promise<readonly (Place | null)[]> {
    const keys = fileNames.map(nameKey)
    const changes = keys.map((key) => this.#changeOf(key))
    const rows = await this.#rows.getMany(keys)
    return keys.map((key, at) => {
      const [change, row] = [changes[at], rows[at]]
      if (change !== undefined || row === undefined) return change ?? null
      const place = decodePlace(key, row)
      if (place === null) this.#hasBadRow = true
      return place
    })
  }

  /** `from` is the present place of the name; the caller has looked it up and holds the lock of the name. */
  put(fileName: string, place: Place, from: Place | null): void {
    const key = nameKey(fileName)
    if (from !== null) this.#account(from, -1, rowSum(key, from))
    this.#account(place, 1, rowSum(key, place))
    this.#set(key, place)
  }

  /** `from` null: the row is damaged, and the pack that it counted for is unknown. */
  remove(fileName: string, from: Place | null): void {
    const key = nameKey(fileName)
    if (from !== null) this.#account(from, -1, rowSum(key, from))
    this.#set(key, null)
  }

  /** Every record in the pack before `end` is in the index by now, or is garbage. */
  advance(pack: number, end: number): void {
    this.#change(pack, { indexedTo: end })
  }

  markDamaged(pack: number): void {
    this.#change(pack, { isDamaged: true })
  }

  /** Call when the file is durably gone. */
  forget(pack: number): void {
    this.#totals.delete(pack)
    this.#changedPacks.add(pack)
  }

  /** Starts a write when enough changes have gathered; waits for it only when twice as many have. */
  async relieve(): Promise<void> {
    if (this.#pending.size < CHANGES_PER_WRITE) return
    const written = this.flush()
    if (this.#pending.size >= 2 * CHANGES_PER_WRITE) await written
    // A failure stops the node through the guard, and the next call throws it.
    else written.catch(() => undefined)
  }

  /** All changes made so far are durable when it resolves. */
  flush(): Promise<void> {
    this.#nextWrite ??= this.#lastWrite.then(() => {
      this.#nextWrite = null
      return this.#write()
    })
    this.#lastWrite = this.#nextWrite
    return this.#nextWrite
  }

  /** Names after `after`, in order. */
  async names(after: string, limit: number): Promise<readonly string[]> {
    await this.flush()
    const range = { after: nameKey(after), before: NAME_ROWS.before, limit }
    const names: string[] = []
    for await (const [key] of this.#rows.entries(range)) names.push(key.slice(1))
    return names
  }

  /** Every name that leads into the pack. Reads the whole index. */
  async *namesIn(pack: number): AsyncGenerator<string> {
    await this.flush()
    for await (const [key, row] of this.#rows.entries(NAME_ROWS)) {
      if (decodePlace(key, row)?.pack === pack) yield key.slice(1)
    }
  }

  async close(): Promise<void> {
    try {
      await this.flush()
      if (!this.#hasBadRow) await this.#rows.write(new Map([[CLEAN_KEY, new Uint8Array(0)]]))
    } finally {
      await this.#rows.close()
    }
  }

  // ---------------------------------------------------------------------------------------------

  #take({ totals }: Audit): void {
    for (const [pack, found] of totals) this.#totals.set(pack, found)
  }

  #set(key: string, place: Place | null): void {
    this.#changes++
    this.#kept.delete(key)
    this.#pending.set(key, place)
  }

  #keep(key: string, place: Place): void {
    this.#kept.set(key, place)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= PLACES_KEPT_MAX) return
      this.#kept.delete(oldest)
    }
  }

  /** Undefined: the rows decide. */
  #changeOf(key: string): Place | null | undefined {
    const place = this.#pending.get(key)
    return place === undefined ? this.#flushing.get(key) : place
  }

  #account({ pack, size }: Place, sign: 1 | -1, sum: number): void {
    const { records, bytes, xor } = this.totalsOf(pack)
    // LevelDB may return outdated totals. The next start compares them with all rows.
    if (records + sign < 0) this.#hasBadRow = true
    this.#change(pack, {
      records: Math.max(0, records + sign),
      bytes: Math.max(0, bytes + sign * recordBytes(size)),
      xor: (xor ^ sum) >>> 0,
    })
  }

  #change(pack: number, change: Partial<PackTotals>): void {
    this.#totals.set(pack, { ...this.totalsOf(pack), ...change })
    this.#changedPacks.add(pack)
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0 && this.#changedPacks.size === 0) return
    const changes = new Map<string, Uint8Array | null>()
    for (const [key, place] of this.#pending) changes.set(key, place && encodePlace(key, place))
    for (const pack of this.#changedPacks) {
      const [key, totals] = [packKey(pack), this.#totals.get(pack)]
      changes.set(key, totals === undefined ? null : encodeTotals(key, totals))
    }
    this.#flushing = this.#pending
    this.#pending = new Map()
    this.#changedPacks = new Set()
    await this.#guard.sync(() => this.#rows.write(changes))
    for (const [key, place] of this.#flushing)
      if (place !== null && !this.#pending.has(key)) this.#keep(key, place)
    this.#flushing = new Map()
  }
}
