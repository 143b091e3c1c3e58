/**
 * One opened LevelDB directory that holds the replicated state, and the handle through which all code reaches it.
 *
 * Owns: opening, typed single reads, checkpoints, and a close that waits for reads in flight.
 * Knows nothing of: what rows mean, which directory is the current one.
 * Rules: no caller keeps an OpenState; a read takes it from the handle each time, because an install swaps it. Damage that a read
 * meets is reported to the owner of the state before the reader gets the error. To a reader damage is one more reason why this
 * node cannot serve now: the state is being replaced, and a later read succeeds.
 */
import assert from 'node:assert/strict'
import type { View } from '../../state-machine/base/view.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { Condition, type MetadataCipher, StateDamagedError } from '../../../cluster/index.ts'
import { cutView } from './cut-view.ts'
import { EmptyRanges } from './empty-ranges.ts'
import { KnownGaps } from './known-gaps.ts'
import { LevelLogs } from '../level/level-logs.ts'
import { damageIn, damageInWrite, writeRefusal } from './state-errors.ts'
import { RepairWindow } from './repair-window.ts'
import { RowCache, type KeptRow } from './row-cache.ts'
import { decodeRow, keyBytes, keyText, openRow } from './row-codec.ts'
import type { BatchOperation } from './separated-rows.ts'
import { readSeal, type StateSeal } from './state-seal.ts'
import { Turns } from './turns.ts'
import type { Database, DatabaseSnapshot } from './row-database.ts'
import { openDatabase } from './open-database.ts'
import { countPointers, FIRST_STATE_KEY, removeKeys } from './state-rows.ts'
import type { ValueCounts } from '../values/value-files.ts'

/** What is written between two checkpoints, which a start after a power cut may have to apply again: a second of work. Bytes, batches. */
const CHECKPOINT_BYTES = 8 * 1024 * 1024
const CHECKPOINT_BATCHES = 2_000

export type OnDamage = (error: StateDamagedError, state: OpenState) => void

export interface OpenStateOptions {
  readonly location: string
  /** The directory must not hold a database yet. Otherwise it must. */
  readonly create: boolean
  /** Whether large values may lie beside LevelDB (value-file.md). Those that do are read in any case. */
  readonly separates: boolean
  /** Of the rows on the disk; null or absent: they lie there as they are. */
  readonly cipher?: MetadataCipher | null
  /** Called for every damage that a read of this state meets, before the reader gets the error. */
  readonly onDamage: OnDamage
}

export class OpenState {
  readonly location: string
  readonly db: Database
  readonly repairs: RepairWindow
  readonly knownGaps = new KnownGaps()
  readonly emptyRanges = new EmptyRanges()
  readonly #onDamage: OnDamage
  readonly #cache = new RowCache()
  readonly #logs: LevelLogs
  /** Since the last checkpoint. Never nothing before the first: LevelDB has started a log. */
  #unflushed = { batches: 1, bytes: 0 }
  /** Value files that lost their last row since the last checkpoint stay: a power cut may bring the row back. */
  #unpin: () => void
  /** The checkpoint under way, or the last. Rejects for good once one has failed. */
  #checkpoints: Promise<void> = Promise.resolve()
  /** Batches that LevelDB is writing now. */
  #writes = 0
  #leases = 0
  #isClosing = false
  #drained: (() => void) | null = null

  private constructor(db: Database, { location, onDamage }: OpenStateOptions) {
    this.location = location
    this.db = db
    this.repairs = new RepairWindow(db)
    this.#logs = new LevelLogs(location)
    this.#unpin = db.rows.files.pin()
    this.#onDamage = onDamage
  }

  /** Rejects with the error of LevelDB; no row of the state is read yet. */
  static async open(options: OpenStateOptions): Promise<OpenState> {
    const { location, create, separates, cipher = null } = options
    return new OpenState(await openDatabase(location, { create, separates }, cipher), options)
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Throws StateDamagedError. */
  read<R extends object>(key: RowKey<R>): R | undefined {
    return this.readStored(key)?.row
  }

  /** With the bytes that the row was made of. Throws StateDamagedError. */
  readStored<R extends object>(key: RowKey<R>): KeptRow<R> | undefined {
    const kept = this.#cache.get(key)
    if (kept !== undefined) return kept ?? undefined
    return this.#watched(() => {
      const value = this.db.rowAt(keyBytes(key))
      const stored = value === undefined ? null : { row: decodeRow(key, value), value }
      this.#cache.keep(key, stored)
      return stored ?? undefined
    })
  }

  /** The bytes stored under a key, verified but not decoded. Throws StateDamagedError. */
  readVerified(key: Buffer): Buffer | undefined {
    return this.#watched(() => {
      const value = this.db.rowAt(key)
      if (value !== undefined) openRow(key, value)
      return value
    })
  }

  /** Single reads of one moment, regardless of writes between them. Throws StateDamagedError. */
  cut<T>(read: (view: View) => T): T {
    // Nothing else writes, and `read` ends before a write can begin: what lies in the database is of one moment.
    if (this.#writes === 0) return read({ get: (key) => this.read(key) })
    return this.#watched(() => {
      const snapshot = this.db.snapshot()
      try {
        return read(cutView(this.db, snapshot))
      } finally {
        // Not awaited: LevelDB releases the snapshot before this returns.
        void snapshot.close()
      }
    })
  }

  seal(snapshot?: DatabaseSnapshot): StateSeal | null {
    return this.#watched(() => readSeal(this.db, snapshot))
  }

  /**
   * Durable with the next checkpoint, and never without the writes before it. Throws StateDamagedError where LevelDB found damage in files
   * that it read for the write.
   */
  async write(operations: readonly BatchOperation[]): Promise<void> {
    const keys = operations.map(({ key }) => keyText(key))
    const endChange = this.#cache.changing(keys)
    const endWriting = this.knownGaps.writing(keys)
    const endFilling = this.emptyRanges.writing()
    this.#writes += 1
    try {
      // Values first: a pointer to bytes that are not durable may outlive them.
      const { operations: stored, settle } = await this.db.rows.separate(operations)
      await this.#writeInTurns(stored)
      settle()
      endChange()
      endWriting()
      endFilling()
      this.#writes -= 1
      await this.#count(stored)
    } catch (error) {
      const damage = error instanceof StateDamagedError ? error : damageInWrite(error)
      if (damage === null) throw error
      this.#onDamage(damage, this)
      throw damage
    }
  }

  /**
   * Everything that was written before the call is durable when it resolves. Once a flush has failed, every call rejects: what the disk holds is
   * not known any more.
   */
  checkpoint(): Promise<void> {
    this.#checkpoints = this.#checkpoints.then(() => this.#flush())
    // Every caller gets the failure; without one it is not an unhandled rejection.
    this.#checkpoints.catch(() => {})
    return this.#checkpoints
  }

  async #flush(): Promise<void> {
    if (this.#unflushed.batches === 0) return
    // Before the flush: a write that ends meanwhile counts for the next one.
    this.#unflushed = { batches: 0, bytes: 0 }
    const unpin = this.#unpin
    this.#unpin = this.db.rows.files.pin()
    try {
      await this.#logs.flush()
    } catch (cause) {
      // Never damage, which another node could replace: what this disk accepts is not known any more.
      throw writeRefusal(cause)
    }
    unpin()
  }

  /** A write without a checkpoint soon afterwards has to be bounded. */
  async #count(stored: readonly BatchOperation[]): Promise<void> {
    const unflushed = this.#unflushed
    unflushed.batches += 1
    for (const operation of stored)
      unflushed.bytes += operation.key.length + (operation.type === 'put' ? operation.value.length : 0)
    if (unflushed.bytes >= CHECKPOINT_BYTES || unflushed.batches >= CHECKPOINT_BATCHES)
      await this.checkpoint()
  }

  /** One atomic batch: it is handed over row by row, which costs half of what an array of rows does, and written at the end. */
  async #writeInTurns(operations: readonly BatchOperation[]): Promise<void> {
    const batch = this.db.batch()
    const turns = new Turns()
    for (const operation of operations) {
      if (operation.type === 'put') batch.put(operation.key, operation.value)
      else batch.del(operation.key)
      if (turns.isOver(1)) await turns.end()
    }
    await batch.write({ sync: false })
  }

  /** How much of each value file is in use: as it was at a clean stop, or counted from all rows. Before that no file is compacted or removed. */
  async countValues(known: ValueCounts | null): Promise<void> {
    const { rows } = this.db
    if (known !== null) rows.files.adopt(known)
    else {
      if (!rows.files.isEmpty) await countPointers(this.db)
      rows.files.endRecount()
    }
  }

  /** Removes the notes of the install that made this state. */
  async removeNotes(): Promise<void> {
    await removeKeys(this.db, { lt: FIRST_STATE_KEY })
  }

  /** Keeps the database open until `work` is done. For bounded work only: an install waits for it. */
  async lease<T>(work: (state: OpenState) => Promise<T>): Promise<T> {
    this.#leases++
    try {
      return await work(this)
    } catch (error) {
      throw this.#reported(error)
    } finally {
      this.#leases--
      if (this.#leases === 0) this.#drained?.()
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#leases > 0) await new Promise<void>((resolve) => (this.#drained = resolve))
    await this.db.close()
  }

  #watched<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#reported(error)
    }
  }

  #reported(error: unknown): unknown {
    const damage = damageIn(error)
    if (damage === null) return error
    this.#onDamage(damage, this)
    return damage
  }
}

export class StateHandle {
  #current: OpenState | null = null
  #fault: string | null = null

  /** For reads of the service. Throws Condition, whose cause is a StateDamagedError where damage was met. */
  read<T>(work: (state: OpenState) => T): T {
    try {
      return work(this.current)
    } catch (error) {
      throw conditionOf(error)
    }
  }

  /** As `read`, with the database kept open until the work is done. */
  async lease<T>(work: (state: OpenState) => Promise<T>): Promise<T> {
    try {
      return await this.current.lease(work)
    } catch (error) {
      throw conditionOf(error)
    }
  }

  /** Throws StateDamagedError while no state may be read. */
  get current(): OpenState {
    if (this.#fault !== null) throw new StateDamagedError(`Cannot read the state: ${this.#fault}`)
    assert(this.#current !== null, 'the state is read between open and close only')
    return this.#current
  }

  /** Null while no state may be read. */
  get usable(): OpenState | null {
    return this.#current
  }

  /** Returns the previous state; its owner closes it. `fault`: why no state is current. */
  swap(next: OpenState | null, fault: string | null = null): OpenState | null {
    assert(next === null || fault === null, 'a state with a fault is not given to readers')
    const previous = this.#current
    this.#current = next
    this.#fault = fault
    return previous
  }
}

function conditionOf(error: unknown): unknown {
  if (!(error instanceof StateDamagedError)) return error
  const message =
    'Cannot read: the state of this node is damaged and is being replaced by that of another node'
  return new Condition('leader_not_ready', message, { cause: error })
}
