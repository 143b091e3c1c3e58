/**
 * Keys and values of the LevelDB under a sealed database. docs/formats/sealed-metadata.md
 *
 *   'd' u48be page             sealed: the first key of the page
 *   'g'                        sealed: u48le generation of the directory of pages
 *   'r' u48be page, 16 bytes   sealed: u32le length of the key, key, value; the 16 bytes stand for the key
 *
 * Owns: this form, both ways. Knows nothing of: which rows there are.
 * Rule: what is sealed opens only under the key of LevelDB that it was written to.
 */
import { type MetadataCipher, SEALED_OVERHEAD, StateDamagedError } from '../../../cluster/index.ts'

const DIRECTORY = 0x64
const GENERATION = 0x67
const ROW = 0x72
const PAGE_BYTES = 6
const NAME_BYTES = 16
const LENGTH_BYTES = 4

export interface OpenedRow {
  readonly key: Buffer
  readonly value: Buffer
}

/** An entry of LevelDB. */
export interface RawEntry {
  readonly key: Buffer
  readonly value: Buffer
}

export interface RawRange {
  readonly gte: Buffer
  readonly lt: Buffer
}

export const GENERATION_KEY: Buffer = Buffer.of(GENERATION)
export const DIRECTORY_RANGE: RawRange = { gte: Buffer.of(DIRECTORY), lt: Buffer.of(DIRECTORY + 1) }

export class SealedForm {
  readonly #cipher: MetadataCipher

  constructor(cipher: MetadataCipher) {
    this.#cipher = cipher
  }

  /** What stands for a key, as latin1. */
  nameOf(key: Buffer): string {
    return this.#cipher.nameOf(key)
  }

  sealRow(raw: Buffer, key: Buffer, value: Uint8Array): Buffer {
    const plain = Buffer.allocUnsafe(LENGTH_BYTES + key.length + value.length)
    plain.writeUInt32LE(key.length, 0)
    plain.set(key, LENGTH_BYTES)
    plain.set(value, LENGTH_BYTES + key.length)
    return this.#cipher.seal(raw, plain)
  }

  /** Throws StateDamagedError. */
  openRow({ key: raw, value }: RawEntry): OpenedRow {
    const plain = this.#opened(raw, value)
    const end = LENGTH_BYTES + plain.readUInt32LE(0)
    return { key: plain.subarray(LENGTH_BYTES, end), value: plain.subarray(end) }
  }

  pageEntry(page: number, first: Buffer): RawEntry {
    const key = pageKey(page)
    return { key, value: this.#cipher.seal(key, first) }
  }

  /** Throws StateDamagedError. */
  openPage({ key, value }: RawEntry): { readonly id: number; readonly first: Buffer } {
    return { id: key.readUIntBE(1, PAGE_BYTES), first: this.#opened(key, value) }
  }

  generationEntry(generation: number): RawEntry {
    const plain = Buffer.allocUnsafe(PAGE_BYTES)
    plain.writeUIntLE(generation, 0, PAGE_BYTES)
    return { key: GENERATION_KEY, value: this.#cipher.seal(GENERATION_KEY, plain) }
  }

  /** 0 where there is none. Throws StateDamagedError. */
  openGeneration(value: Buffer | undefined): number {
    return value === undefined ? 0 : this.#opened(GENERATION_KEY, value).readUIntLE(0, PAGE_BYTES)
  }

  #opened(raw: Buffer, value: Buffer): Buffer {
    const plain = this.#cipher.open(raw, value)
    if (plain !== null) return plain
    throw new StateDamagedError(
      "Cannot read the state: a sealed row does not open with the metadata key; this node's state is damaged",
    )
  }
}

export function rowKey(page: number, name: string): Buffer {
  const raw = Buffer.allocUnsafe(1 + PAGE_BYTES + NAME_BYTES)
  raw[0] = ROW
  raw.writeUIntBE(page, 1, PAGE_BYTES)
  raw.write(name, 1 + PAGE_BYTES, NAME_BYTES, 'latin1')
  return raw
}

export function nameIn(raw: Buffer): string {
  return raw.toString('latin1', 1 + PAGE_BYTES)
}

export function pageKey(page: number): Buffer {
  const raw = Buffer.allocUnsafe(1 + PAGE_BYTES)
  raw[0] = DIRECTORY
  raw.writeUIntBE(page, 1, PAGE_BYTES)
  return raw
}

/** All rows of a page. */
export function rowsOfPage(page: number): RawRange {
  const [gte, lt] = [Buffer.allocUnsafe(1 + PAGE_BYTES), Buffer.allocUnsafe(1 + PAGE_BYTES)]
  gte[0] = ROW
  lt[0] = ROW
  gte.writeUIntBE(page, 1, PAGE_BYTES)
  lt.writeUIntBE(page + 1, 1, PAGE_BYTES)
  return { gte, lt }
}

/** Of a row as it is sealed, beside its key and its value. */
export const ROW_OVERHEAD: number = SEALED_OVERHEAD + LENGTH_BYTES
