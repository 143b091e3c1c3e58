/**
 * The state of a backup as the source of an install: rows of the old cluster in, rows of the new one out.
 *
 * Owns: the blocks. Knows nothing of: directories, targets. Rules: blocks are asked for in order, once each; the last one is given only when the rows that were
 * read add up to the checksum of the cut, so a state that is not whole is never installed.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import {
  STATE_BLOCK_BYTES_MAX,
  type StateBlock,
  type StateBlockRequest,
  type StateSource,
} from '../../../cluster/index.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { frameRow, rowsOf } from '../../store/rows/row-block.ts'
import { decodeRow, encodeRow, keyBytes, keyText } from '../../store/rows/row-codec.ts'
import { rowHash, RowSum } from '../../store/rows/row-sum.ts'
import { TargetCorrupt } from '../targets/target.ts'
import type { RestoredRows } from './restored-rows.ts'

export interface RestoredSourceParts {
  /** Rows of the cut in the form of a block, in the order of their keys. */
  readonly blocks: AsyncIterable<Buffer>
  /** Of these rows, hex. */
  readonly checksum: string
  /** That of the new state. */
  readonly record: Uint8Array
  readonly rows: RestoredRows
}

export class RestoredSource implements StateSource {
  readonly record: Uint8Array
  readonly #parts: RestoredSourceParts
  readonly #frames: AsyncGenerator<Buffer>
  readonly #given = new RowSum()
  /** Read, and not given yet. */
  #next: Buffer | null = null

  constructor(parts: RestoredSourceParts) {
    this.#parts = parts
    this.record = parts.record
    this.#frames = this.#made()
  }

  /** Of the rows that were given so far; an install asks for it after the last. */
  get checksum(): Uint8Array {
    return this.#given.bytes()
  }

  async block({ after, held }: StateBlockRequest): Promise<StateBlock> {
    assert(held === null, 'an install into an empty directory holds no rows')
    const frames: Buffer[] = []
    let bytes = 0
    for (;;) {
      const frame = this.#next ?? (await this.#read())
      this.#next = frame
      if (frame === null || (bytes + frame.length > STATE_BLOCK_BYTES_MAX && frames.length > 0)) break
      frames.push(frame)
      bytes += frame.length
      this.#next = null
    }
    const rows = Buffer.concat(frames)
    const through = frames.length === 0 ? after : lastKeyOf(rows)
    return { rows, digest: hash('sha256', rows, 'buffer'), through, isEnd: this.#next === null }
  }

  async #read(): Promise<Buffer | null> {
    const { value, done } = await this.#frames.next()
    return done === true ? null : value
  }

  #framed(key: Buffer, row: Buffer | object): Buffer {
    const stored = Buffer.isBuffer(row) ? row : encodeRow(key, row)
    this.#given.add(rowHash(key, stored))
    return frameRow(key, stored)
  }

  async *#made(): AsyncGenerator<Buffer> {
    const { blocks, checksum, rows } = this.#parts
    const read = new RowSum()
    for await (const block of blocks)
      for (const { key, value } of rowsOf(block)) {
        read.add(rowHash(key, value))
        const name = keyText(key)
        const inserted = rows.before(name)
        if (inserted !== null) yield this.#framed(keyBytes(inserted.key), inserted.row)
        const made = rows.take(name, () => decodeRow(name as RowKey, value))
        if (made === null) continue
        yield this.#framed(key, made === 'same' ? value : made)
      }
    if (read.bytes().toString('hex') !== checksum)
      throw new TargetCorrupt('The rows of the backup do not add up to the checksum of its cut')
  }
}

function lastKeyOf(rows: Buffer): Buffer {
  let last: Buffer = Buffer.alloc(0)
  for (const { key } of rowsOf(rows)) last = key
  return last
}
