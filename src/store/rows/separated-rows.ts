/**
 * Rows whose values lie in value files: LevelDB has a pointer where the row would be. docs/formats/value-file.md, record 60
 *
 * Owns: which rows these are, what a batch of them becomes, the way back from a pointer, and the compaction of files with garbage.
 * Knows nothing of: what rows mean, when a batch is written.
 * Rules: everything above sees rows as they are. Values are durable before a batch with their pointers is returned. A value is verified before it is
 * copied, and the file that it is copied from stays until the new pointer is durable. How much a batch copies is in proportion to what it writes.
 */
import { type MetadataCipher, SEALED_OVERHEAD, StateDamagedError } from '../../../cluster/index.ts'
import { type CountedValue, countedValue, type ValueFiles } from '../values/value-files.ts'
import type { ValuePlace } from '../values/value-readers.ts'
import type { ValueRecord } from '../values/value-format.ts'
import { type PlacedValue, ValueWalk } from '../values/value-walk.ts'
import { kindOf } from '../../state-machine/base/row-key.ts'
import { keyText, openRow, RowDamagedError } from './row-codec.ts'
import { isPointer, isRowOf, openPointer, pointerTo } from './row-pointer.ts'
import { Turns } from './turns.ts'

/** A pointer with its record costs about a hundred bytes, and a read of its own. Bytes of a row. */
const SEPARATED_FROM_BYTES = 512
/** Only these: they are written once, are read by their key, and no range of them is ever listed. */
const SEPARATED_KIND = Buffer.from('\u0000inlineBody\u0000')
const OF_BUCKET = Buffer.from('in\u0000')
/** What one batch looks through of a file with garbage, beside twice the bytes that it appends and frees: so a file is done before as much again
 * has become garbage. Bytes. */
const COMPACTED_PER_BATCH = 256 * 1024
const COMPACTED_SHARE = 2

export type BatchOperation =
  | {
      readonly type: 'put'
      readonly key: Buffer
      readonly value: Buffer
      /** No row lies under this key: it is not looked up again. Absent: one may. */
      readonly isNew?: boolean
    }
  | { readonly type: 'del'; readonly key: Buffer }

/** As it lies in LevelDB, which may be a pointer. */
export type ReadStored = (key: Buffer) => Buffer | undefined

export interface SeparatedBatch {
  readonly operations: readonly BatchOperation[]
  /** To be called once the operations are durable. */
  readonly settle: () => void
}

interface Draft {
  readonly operations: BatchOperation[]
  /** Rows to be appended, and where their pointers go in `operations`. */
  readonly appended: { readonly key: Buffer; readonly value: Buffer; readonly at: number }[]
  readonly freed: CountedValue[]
  movedBytes: number
}

export class SeparatedRows {
  readonly files: ValueFiles
  readonly #stored: ReadStored
  /** Of the rows in value files; null: they lie there as they are. */
  readonly #cipher: MetadataCipher | null
  /** Whether values may leave LevelDB: a build that cannot follow pointers may still have to open the state. */
  isOn: boolean
  #walk: ValueWalk | null = null
  /** Files whose walk ended before their last value that counts: they stay as they are. */
  readonly #stuck = new Set<number>()

  constructor(files: ValueFiles, stored: ReadStored, isOn: boolean, cipher: MetadataCipher | null = null) {
    this.files = files
    this.#stored = stored
    this.#cipher = cipher
    this.isOn = isOn
  }

  /** The row, whichever way it is stored. Throws StateDamagedError where a pointer leads to anything else. */
  follow(key: Uint8Array, stored: Buffer): Buffer {
    if (!isPointer(stored)) return stored
    const pointer = openPointer(key, stored)
    const row = this.#opened(key, this.files.read(pointer))
    const length = pointer.length - (this.#cipher === null ? 0 : SEALED_OVERHEAD)
    if (row === null || !isRowOf({ ...pointer, length }, row))
      throw new StateDamagedError(
        "Cannot follow a pointer of the state: no row begins there; this node's state is damaged",
      )
    return row
  }

  /** What the operations are to LevelDB. Throws StateDamagedError for a value that is to be moved; any other error is one of a write. */
  async separate(operations: readonly BatchOperation[]): Promise<SeparatedBatch> {
    const draft: Draft = { operations: [...operations], appended: [], freed: [], movedBytes: 0 }
    const touched = this.#take(draft)
    await this.#compact(draft, touched)
    const places = draft.appended.length === 0 ? [] : await this.files.append(this.#sealed(draft.appended))
    const added = draft.appended.map(({ key, value, at }, n) => {
      const place = places[n]
      if (place === undefined) throw new Error('A value was appended without a place')
      draft.operations[at] = { type: 'put', key, value: pointerTo(key, value, place) }
      return countedValue(key, place)
    })
    return { operations: draft.operations, settle: () => this.#settle(draft, added) }
  }

  /** Reads every value file through, piece by piece: what is wrong with a value that counts, or null for a piece without a fault. */
  *check(pieceBytes: number): Generator<string | null> {
    const unpin = this.files.pin()
    try {
      for (const file of this.files.numbers) {
        const walk = new ValueWalk(this.files, file)
        while (!walk.isOver) yield this.#faultIn(walk.next(pieceBytes))
      }
    } finally {
      unpin()
    }
  }

  /** Counts the pointers among these rows, as they are stored. */
  count(rows: Iterable<readonly [key: Buffer, stored: Buffer]>): void {
    const values: CountedValue[] = []
    for (const [key, stored] of rows)
      if (isPointer(stored)) values.push(countedValue(key, openPointer(key, stored)))
    this.files.recount(values)
  }

  /** Returns the keys that may be pointers now or will be. */
  #take({ operations, appended, freed }: Draft): ReadonlySet<string> {
    const touched = new Set<string>()
    for (let at = 0; at < operations.length; at++) {
      const operation = operations[at]
      if (operation === undefined || !isSeparated(operation.key)) continue
      const { key } = operation
      touched.add(key.toString('latin1'))
      const isNew = operation.type === 'put' && operation.isNew === true
      const place = isNew ? null : this.#placeOf(key)
      if (place !== null) freed.push(countedValue(key, place))
      if (operation.type === 'put' && this.isOn && operation.value.length >= SEPARATED_FROM_BYTES)
        appended.push({ key, value: operation.value, at })
    }
    return touched
  }

  /** Adds values of the file with the most garbage that still count. */
  async #compact(draft: Draft, touched: ReadonlySet<string>): Promise<void> {
    if (!this.isOn) return
    if (this.#walk === null) {
      const file = this.files.worstFile(this.#stuck)
      if (file === null) return
      this.#walk = new ValueWalk(this.files, file)
    }
    const written = draft.appended.reduce((sum, { value }) => sum + value.length, 0)
    const freed = draft.freed.reduce((sum, { bytes }) => sum + bytes, 0)
    const turns = new Turns()
    for (
      let left = COMPACTED_PER_BATCH + COMPACTED_SHARE * (written + freed);
      left > 0;
      left -= COMPACTED_PER_BATCH
    ) {
      for (const record of this.#walk.next(COMPACTED_PER_BATCH)) {
        if (touched.has(record.key.toString('latin1')) || !this.#isCounted(record)) continue
        this.#move(draft, record)
      }
      if (this.#walk.isOver) return
      await turns.end()
    }
  }

  #move(draft: Draft, { key, value: stored, place }: PlacedValue): void {
    const { operations, appended, freed } = draft
    const value = this.#verified(key, stored)
    draft.movedBytes += value.length
    appended.push({ key, value, at: operations.length })
    operations.push({ type: 'put', key, value })
    freed.push(countedValue(key, place))
  }

  #faultIn(records: readonly PlacedValue[]): string | null {
    for (const record of records) {
      try {
        this.#verified(record.key, record.value)
      } catch (error) {
        if (!(error instanceof StateDamagedError)) throw error
        if (this.#isCounted(record)) return error.message
      }
    }
    return null
  }

  /** As they lie in a value file. */
  #sealed(rows: Draft['appended']): readonly ValueRecord[] {
    const cipher = this.#cipher
    return cipher === null ? rows : rows.map(({ key, value }) => ({ key, value: cipher.seal(key, value) }))
  }

  /** Null: it does not open. */
  #opened(key: Uint8Array, stored: Buffer): Buffer | null {
    return this.#cipher === null ? stored : this.#cipher.open(key, stored)
  }

  /** Throws StateDamagedError. */
  #verified(key: Buffer, stored: Buffer): Buffer {
    const row = this.#opened(key, stored)
    if (row === null) throw new RowDamagedError(kindOf(keyText(key)), 'it does not open')
    openRow(key, row)
    return row
  }

  #isCounted({ key, place }: PlacedValue): boolean {
    const now = this.#placeOf(key)
    return now !== null && now.file === place.file && now.offset === place.offset
  }

  /** Null: the row is not there, or not in a value file. */
  #placeOf(key: Buffer): ValuePlace | null {
    const stored = this.#stored(key)
    return stored === undefined || !isPointer(stored) ? null : openPointer(key, stored)
  }

  #settle({ freed, movedBytes }: Draft, added: readonly CountedValue[]): void {
    this.files.settle(added, freed, movedBytes)
    if (this.#walk?.isOver !== true) return
    if (this.files.liveIn(this.#walk.file) > 0) this.#stuck.add(this.#walk.file)
    this.#walk = null
  }
}

/** Compares bytes in place, without decoding or slicing the key: every row of a batch is checked. */
function isSeparated(key: Buffer): boolean {
  if (!hasAt(key, 0, OF_BUCKET)) return false
  const end = key.indexOf(0, OF_BUCKET.length)
  return end !== -1 && hasAt(key, end, SEPARATED_KIND)
}

function hasAt(key: Buffer, at: number, part: Buffer): boolean {
  for (let i = 0; i < part.length; i++) if (key[at + i] !== part[i]) return false
  return true
}
