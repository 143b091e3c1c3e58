/**
 * The files in which a state keeps the values of its large rows, beside LevelDB, which keeps pointers to them. docs/formats/value-file.md
 *
 * Owns: the directory `values` of a state: what is appended where, how much of each file is in use, when a file is removed.
 * Knows nothing of: rows, pointers, what an apply is.
 * Rules: a value is durable before its place is given out. A file is removed when no row names it and no snapshot or walk may read it any more. How much is in use is
 * exact, or unknown: until it has been counted nothing is removed.
 */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ValueAppender } from './value-appender.ts'
import { MAGIC, recordBytes, type ValueRecord } from './value-format.ts'
import { ValuePins } from './value-pins.ts'
import { type ValuePlace, ValueReaders } from './value-readers.ts'

export const VALUES_DIRECTORY = 'values'
const NAME = /^([0-9]{8,15})\.values$/
/** A larger file takes longer to compact, smaller ones are more names and descriptors. One append may exceed it. Bytes. */
export const VALUE_FILE_BYTES: number = 64 * 1024 * 1024

interface ValueFile {
  size: number
  /** Of records that rows point to, with their heads. Bytes. */
  live: number
}

/** By number, as text: bytes of the file, and those in use. */
export type ValueCounts = Readonly<Record<string, readonly [size: number, live: number]>>

export interface ValueSizes {
  readonly files: number
  readonly bytes: number
  readonly liveBytes: number
  /** Bytes of values that were appended again, and files that are gone, since the state was opened. */
  readonly movedBytes: number
  readonly filesRemoved: number
}

/** A value that rows point to no more, or now do. */
export interface CountedValue {
  readonly file: number
  readonly bytes: number
}

export class ValueFiles {
  readonly #directory: string
  readonly #fileBytes: number
  readonly #readers: ValueReaders
  readonly #pins = new ValuePins(() => this.#removeFree())
  readonly #files = new Map<number, ValueFile>()
  /** Files without a row, and since when. */
  readonly #doomed = new Map<number, number>()
  #isCounted = false
  #appender: ValueAppender | null = null
  /** The file that may be continued. */
  #newest: number | null = null
  /** The highest number so far. None is used twice: a removed file may still be on the disk, because files are removed in the background. */
  #lastNumber = 0
  #movedBytes = 0
  #filesRemoved = 0
  #removing: Promise<void> = Promise.resolve()

  constructor(location: string, fileBytes: number = VALUE_FILE_BYTES) {
    this.#directory = join(location, VALUES_DIRECTORY)
    this.#fileBytes = fileBytes
    this.#readers = new ValueReaders((file) => this.#pathOf(file))
    for (const [file, size] of valueFilesIn(location)) this.#files.set(file, { size, live: 0 })
  }

  get sizes(): ValueSizes {
    let [bytes, liveBytes] = [0, 0]
    for (const { size, live } of this.#files.values()) [bytes, liveBytes] = [bytes + size, liveBytes + live]
    const { size: files } = this.#files
    return { files, bytes, liveBytes, movedBytes: this.#movedBytes, filesRemoved: this.#filesRemoved }
  }

  get numbers(): readonly number[] {
    return [...this.#files.keys()]
  }

  get isEmpty(): boolean {
    return this.#files.size === 0
  }

  get counts(): ValueCounts {
    assert(this.#isCounted, 'values are counted before a state is used')
    return Object.fromEntries([...this.#files].map(([file, { size, live }]) => [file, [size, live]]))
  }

  /** As they were at a clean stop: the newest file is whole, and is continued. */
  adopt(counts: ValueCounts): void {
    for (const [file, [, live]] of Object.entries(counts)) this.#fileOf(Number(file)).live = live
    this.#newest = Math.max(0, ...this.#files.keys()) || null
    this.#isCounted = true
  }

  /** Every value that a row points to. */
  recount(values: Iterable<CountedValue>): void {
    for (const { file, bytes } of values) this.#fileOf(file).live += bytes
  }

  endRecount(): void {
    this.#isCounted = true
    for (const file of this.#files.keys()) this.#doomIfEmpty(file)
    this.#removeFree()
  }

  /** Throws StateDamagedError, or the error of a system that gives no access. */
  read(place: ValuePlace): Buffer {
    return this.#readers.read(place)
  }

  /** Files stay until the pin ends, which may be said more than once. */
  pin(): () => void {
    return this.#pins.pin()
  }

  /** Durable when it resolves. */
  async append(records: readonly ValueRecord[]): Promise<readonly ValuePlace[]> {
    const appender = await this.#end()
    const places = appender.write(records)
    this.#fileOf(appender.file).size = appender.size
    await appender.flush()
    return places
  }

  /** Rows that point to the first are durable, and rows that pointed to the second are gone. */
  settle(added: readonly CountedValue[], freed: readonly CountedValue[], movedBytes: number): void {
    this.#movedBytes += movedBytes
    for (const { file, bytes } of added) this.#fileOf(file).live += bytes
    for (const { file, bytes } of freed) {
      this.#fileOf(file).live -= bytes
      this.#doomIfEmpty(file)
    }
    this.#removeFree()
  }

  /** The file that is most worth a compaction, of those that are not refused. Null: none is. */
  worstFile(refused: ReadonlySet<number>): number | null {
    if (!this.#isCounted) return null
    let worst: number | null = null
    let least = 1 / 2
    for (const [file, { size, live }] of this.#files) {
      if (file === this.#newest || this.#doomed.has(file) || refused.has(file)) continue
      // A file that a crash has ended early is as much of a burden as garbage.
      const share = live / Math.max(size, this.#fileBytes / 2)
      if (share < least) [worst, least] = [file, share]
    }
    return worst
  }

  sizeOf(file: number): number {
    return this.#files.get(file)?.size ?? 0
  }

  liveIn(file: number): number {
    return this.#files.get(file)?.live ?? 0
  }

  async close(): Promise<void> {
    this.#appender?.close()
    this.#appender = null
    this.#readers.closeAll()
    await this.#removing
  }

  async #end(): Promise<ValueAppender> {
    const current = this.#appender
    if (current !== null && current.size < this.#fileBytes) return current
    const known = current === null ? this.#newest : null
    const isContinued = known !== null && this.sizeOf(known) < this.#fileBytes
    const file = isContinued ? known : this.#nextNumber()
    current?.close()
    this.#appender = null
    const size = isContinued ? this.sizeOf(file) : 0
    this.#appender = await ValueAppender.open({ file, path: this.#pathOf(file), size })
    this.#files.set(file, { size: this.#appender.size, live: this.liveIn(file) })
    const before = this.#newest
    this.#newest = file
    if (before !== null && before !== file) this.#doomIfEmpty(before)
    return this.#appender
  }

  #nextNumber(): number {
    this.#lastNumber = Math.max(this.#lastNumber, ...this.#files.keys()) + 1
    return this.#lastNumber
  }

  #doomIfEmpty(file: number): void {
    if (!this.#isCounted || file === this.#newest || this.liveIn(file) > 0 || this.#doomed.has(file)) return
    this.#doomed.set(file, this.#pins.nextMoment())
  }

  #removeFree(): void {
    for (const [file, moment] of this.#doomed) {
      if (!this.#pins.isFree(moment)) continue
      this.#lastNumber = Math.max(this.#lastNumber, file)
      this.#doomed.delete(file)
      this.#files.delete(file)
      this.#filesRemoved++
      this.#readers.close(file)
      // A file that stays is found without a row at the next start.
      this.#removing = this.#removing.then(() => rm(this.#pathOf(file), { force: true })).catch(() => {})
    }
  }

  #fileOf(file: number): ValueFile {
    const known = this.#files.get(file)
    if (known !== undefined) return known
    const added = { size: MAGIC.length, live: 0 }
    this.#files.set(file, added)
    return added
  }

  #pathOf(file: number): string {
    return join(this.#directory, nameOf(file))
  }
}

/** What a value takes in its file. */
export function countedValue(key: Uint8Array, { file, length }: ValuePlace): CountedValue {
  return { file, bytes: recordBytes(key.length, length) }
}

export function nameOf(file: number): string {
  return `${String(file).padStart(8, '0')}.values`
}

/** Number to size. */
export function valueFilesIn(location: string): ReadonlyMap<number, number> {
  const files = new Map<number, number>()
  const directory = join(location, VALUES_DIRECTORY)
  for (const name of namesIn(directory)) {
    const number = NAME.exec(name)?.[1]
    if (number !== undefined) files.set(Number(number), statSync(join(directory, name)).size)
  }
  return files
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    throw cause
  }
}
