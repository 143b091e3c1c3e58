/**
 * Single rows and ranges out of the metadata of a backup, without reading all of it.
 *
 * Owns: which file has which rows. Knows nothing of: what rows mean. Rules: files are in the order of their rows, so a row is found by bisection, and the first
 * key of a file is remembered; memory holds FILES_HELD files, however many the backup has; a row counts only after its file and its own checksum agree.
 */
import type { KeyRange, RowKey } from '../../state-machine/base/row-key.ts'
import { rowsOf, type StoredRow } from '../../store/rows/row-block.ts'
import { decodeRow, keyBytes, keyText } from '../../store/rows/row-codec.ts'
import type { BackupFile } from '../format/manifest.ts'
import { TargetCorrupt } from '../targets/target.ts'

/** Of about 4 MiB each. */
const FILES_HELD = 8

type Rows = readonly StoredRow[]

/** The files of rows of a backup, in the order of their keys. */
export interface RowFiles {
  readonly manifest: { readonly state: readonly BackupFile[] }
  /** Throws TargetError. */
  rowsIn(file: BackupFile): Promise<Buffer>
}

/** A row with its key. */
export interface FoundRow<R extends object> {
  readonly key: RowKey<R>
  readonly row: R
}

export class BackupRows {
  readonly #reader: RowFiles
  /** The first key of each file, as far as it is known. */
  readonly #first = new Map<number, Buffer>()
  #ready: ReadonlyMap<RowKey, object> = new Map()
  /** Least recently used first. */
  readonly #held = new Map<number, Rows>()

  constructor(reader: RowFiles) {
    this.#reader = reader
  }

  /** Rows that are about to be asked for one by one: their files are read in order, each once. Forgets those of the call before, except for `keys`. */
  async prepare(keys: readonly RowKey[]): Promise<void> {
    this.#ready = await this.many(keys)
  }

  /** Throws TargetError. */
  async get<R extends object>(key: RowKey<R>): Promise<R | undefined> {
    const ready = this.#ready.get(key)
    if (ready !== undefined) return ready as R
    const wanted = keyBytes(key)
    const rows = await this.#file(await this.#fileOf(wanted))
    const found = rows[lowerBound(rows, wanted)]
    return found?.key.equals(wanted) === true ? readable(() => decodeRow(key, found.value)) : undefined
  }

  /** In any order; files are read in the order of the keys, so each of them once. Throws TargetError. */
  async many<R extends object>(keys: readonly RowKey<R>[]): Promise<ReadonlyMap<RowKey<R>, R>> {
    const found = new Map<RowKey<R>, R>()
    const inOrder = keys.toSorted((one, other) => Buffer.compare(keyBytes(one), keyBytes(other)))
    for (const key of inOrder) {
      const row = await this.get(key)
      if (row !== undefined) found.set(key, row)
    }
    return found
  }

  /** In the order of the keys, from the first one that is not below `from`. Throws TargetError. */
  async *ascending<R extends object>(
    range: KeyRange<R>,
    from: string = range.start,
  ): AsyncGenerator<FoundRow<R>> {
    const [start, end] = [keyBytes(from), keyBytes(range.end)]
    for (let file = await this.#fileOf(start); file < this.#files; file++) {
      const rows = await this.#file(file)
      for (let at = lowerBound(rows, start); at < rows.length; at++) {
        const row = rows[at]
        if (row === undefined || Buffer.compare(row.key, end) >= 0) return
        yield decoded(row)
      }
    }
  }

  /** Against the order of the keys, from the last one below `before`. Throws TargetError. */
  async *descending<R extends object>(
    range: KeyRange<R>,
    before: string = range.end,
  ): AsyncGenerator<FoundRow<R>> {
    const [start, end] = [keyBytes(range.start), keyBytes(before)]
    for (let file = await this.#fileOf(end); file >= 0; file--) {
      const rows = await this.#file(file)
      for (let at = lowerBound(rows, end) - 1; at >= 0; at--) {
        const row = rows[at]
        if (row === undefined || Buffer.compare(row.key, start) < 0) return
        yield decoded(row)
      }
    }
  }

  get #files(): number {
    return this.#reader.manifest.state.length
  }

  /** The last file whose first key is not above `key`; the first file where there is none. */
  async #fileOf(key: Buffer): Promise<number> {
    let [low, high] = [0, this.#files - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (Buffer.compare(await this.#firstOf(middle), key) <= 0) low = middle
      else high = middle - 1
    }
    return low
  }

  async #firstOf(file: number): Promise<Buffer> {
    const known = this.#first.get(file)
    if (known !== undefined) return known
    // A copy: the row is a view of the whole file.
    const first = Buffer.from((await this.#file(file))[0]?.key ?? [])
    this.#first.set(file, first)
    return first
  }

  async #file(file: number): Promise<Rows> {
    const held = this.#held.get(file)
    this.#held.delete(file)
    const rows = held ?? (await this.#read(file))
    this.#held.set(file, rows)
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= FILES_HELD) break
      this.#held.delete(oldest)
    }
    return rows
  }

  async #read(file: number): Promise<Rows> {
    const described = this.#reader.manifest.state[file]
    if (described === undefined) return []
    const block = await this.#reader.rowsIn(described)
    return readable(() => [...rowsOf(block)])
  }
}

/** The number of rows below `key`. */
function lowerBound(rows: Rows, key: Buffer): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle]
    if (row !== undefined && Buffer.compare(row.key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function decoded<R extends object>({ key, value }: StoredRow): FoundRow<R> {
  const name = keyText(key) as RowKey<R>
  return { key: name, row: readable(() => decodeRow(name, value)) }
}

/** It is the backup that is damaged, not the state of this node. */
function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new TargetCorrupt('A row of the backup cannot be read', { cause })
  }
}
