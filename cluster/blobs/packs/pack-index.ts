/**
 * Which record of which pack holds a name.
 *
 * Owns: the rows, what is not yet written of them, and for each pack how much of it is still of use.
 * Knows nothing of: files, records. The packs are the truth; this can be lost and made again from them.
 * Rule: rows and the position up to which a pack is indexed are written together and synced; what the rows lack is here in
 * memory, and after a crash it is read from the ends of the packs.
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

/** So many changes are gathered for one write; twice as many are the most that may wait. */
const CHANGES_PER_WRITE = 2_048

export class PackIndex {
  readonly #rows: IndexRows
  readonly #guard: FlushGuard
  readonly #totals = new Map<number, PackTotals>()
  /** Not yet given to the rows, and given but not yet durable. Null: removed. */
  #pending = new Map<string, Place | null>()
  #flushing = new Map<string, Place | null>()
  #changedPacks = new Set<number>()
  #lastWrite: Promise<void> = Promise.resolve()
  #nextWrite: Promise<void> | null = null
  /** There is no mark of a clean stop then, so that the next start reads all rows. */
  #hasBadRow = false
  #isAsLeft = false

  constructor(rows: IndexRows, guard: FlushGuard) {
    this.#rows = rows
    this.#guard = guard
  }

  /**
   * After an unclean stop every row is read and the sums are compared. Resolves with what was wrong, or null; then the index
   * is empty and the packs have to be read from their beginnings.
   */
  async open(): Promise<string | null> {
    await this.#rows.open()
    const audit = await auditOf(this.#rows)
    this.#isAsLeft = audit.isClean && audit.fault === null
    if (audit.fault === null) this.#take(audit)
    else await this.#rows.clear()
    await this.#rows.write(new Map([[CLEAN_KEY, null]]))
    return audit.fault
  }

  /** The stop before was clean, and every row is what it was then. */
  get isAsLeft(): boolean {
    return this.#isAsLeft
  }

  get packs(): ReadonlyMap<number, PackTotals> {
    return this.#totals
  }

  totalsOf(pack: number): PackTotals {
    return this.#totals.get(pack) ?? NO_TOTALS
  }

  /** Throws BlobDamagedError when the row is not what was written: the copy may be there, but nobody can find it. */
  async lookup(fileName: string): Promise<Place | null> {
    const key = nameKey(fileName)
    for (const changes of [this.#pending, this.#flushing]) {
      const place = changes.get(key)
      if (place !== undefined) return place
    }
    const row = await this.#rows.get(key)
    if (row === undefined) return null
    const place = decodePlace(key, row)
    if (place !== null) return place
    this.#hasBadRow = true
    throw new BlobDamagedError(`Blob "${fileName}" cannot be found: its row in the index is damaged`)
  }

  /** `from` is where the name was until now; the caller has looked, and keeps others from changing it. */
  put(fileName: string, place: Place, from: Place | null): void {
    const key = nameKey(fileName)
    if (from !== null) this.#account(from, -1, rowSum(key, from))
    this.#account(place, 1, rowSum(key, place))
    this.#pending.set(key, place)
  }

  /** Null: the row is damaged, and nobody knows which pack it counted for. */
  remove(fileName: string, from: Place | null): void {
    const key = nameKey(fileName)
    if (from !== null) this.#account(from, -1, rowSum(key, from))
    this.#pending.set(key, null)
  }

  /** Everything in the pack before `end` is in the index by now, or is of no use. */
  advance(pack: number, end: number): void {
    this.#change(pack, { indexedTo: end })
  }

  markDamaged(pack: number): void {
    this.#change(pack, { isDamaged: true })
  }

  /** The file is gone, durably. */
  forget(pack: number): void {
    this.#totals.delete(pack)
    this.#changedPacks.add(pack)
  }

  /** Writes when enough has gathered; waits only when too much has. */
  async relieve(): Promise<void> {
    if (this.#pending.size < CHANGES_PER_WRITE) return
    const written = this.flush()
    if (this.#pending.size >= 2 * CHANGES_PER_WRITE) await written
    // A failure has stopped the node through the guard, and shows at the next call.
    else written.catch(() => undefined)
  }

  /** Everything said so far is durable when it resolves. */
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

  #account({ pack, size }: Place, sign: 1 | -1, sum: number): void {
    const { records, bytes, xor } = this.totalsOf(pack)
    // LevelDB may give back totals of another time. The next start compares them with all rows.
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
    this.#flushing = new Map()
  }
}
