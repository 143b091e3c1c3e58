/**
 * One opened LevelDB directory that holds the replicated state, and the handle through which everybody reaches it.
 *
 * Owns: opening, typed single reads, and a close that waits for reads in flight.
 * Knows nothing of: what rows mean, which directory is the current one.
 * Rule: nobody keeps an OpenState; a read takes it from the handle each time, because an install swaps it.
 */
import assert from 'node:assert/strict'
import { Level } from 'level'
import type { RowKey, RowKind, RowTypes } from '../state-machine/view.ts'
import { RepairWindow } from './repair-window.ts'
import { decodeRow, keyBytes, openRow } from './row-codec.ts'

/** Opaque bytes of the machine under the state: applied index, configuration, sessions. Written with every batch. */
export const MACHINE_RECORD_KEY: Buffer = keyBytes('machineRecord')

const BLOCK_CACHE_BYTES = 16 * 1024 * 1024

export type Database = Level<Buffer, Buffer>
export type DatabaseSnapshot = ReturnType<Database['snapshot']>

export class OpenState {
  readonly location: string
  readonly db: Database
  readonly repairs: RepairWindow
  #leases = 0
  #drained: (() => void) | null = null

  private constructor(location: string, db: Database) {
    this.location = location
    this.db = db
    this.repairs = new RepairWindow(db)
  }

  /** `create`: the directory must not hold a database yet. Otherwise it must. */
  static async open(location: string, { create }: { readonly create: boolean }): Promise<OpenState> {
    const db: Database = new Level(location, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      createIfMissing: create,
      errorIfExists: create,
      cacheSize: BLOCK_CACHE_BYTES,
    })
    try {
      await db.open()
    } catch (cause) {
      throw new Error(`Cannot open the state in ${location}`, { cause })
    }
    const state = new OpenState(location, db)
    await state.repairs.load()
    return state
  }

  /** Throws RowDamagedError. */
  read<K extends RowKind>(key: RowKey<K>): RowTypes[K] | undefined {
    const value = this.db.getSync(keyBytes(key))
    return value === undefined ? undefined : decodeRow(key, value)
  }

  machineRecord(snapshot?: DatabaseSnapshot): Uint8Array | null {
    const value = this.db.getSync(MACHINE_RECORD_KEY, snapshot === undefined ? {} : { snapshot })
    return value === undefined ? null : openRow(MACHINE_RECORD_KEY, value)
  }

  /** Keeps the database open until `work` is done. For bounded work only: an install waits for it. */
  async lease<T>(work: (state: OpenState) => Promise<T>): Promise<T> {
    this.#leases++
    try {
      return await work(this)
    } finally {
      this.#leases--
      if (this.#leases === 0) this.#drained?.()
    }
  }

  async close(): Promise<void> {
    if (this.#leases > 0) await new Promise<void>((resolve) => (this.#drained = resolve))
    await this.db.close()
  }
}

export class StateHandle {
  #current: OpenState | null = null

  get current(): OpenState {
    assert(this.#current !== null, 'the state is read between open and close only')
    return this.#current
  }

  /** Returns what was current before; its owner closes it. */
  swap(next: OpenState | null): OpenState | null {
    const previous = this.#current
    this.#current = next
    return previous
  }
}
