/**
 * Adjacent pieces of an install, gathered until they fill a block and are worth a flush.
 *
 * Owns: the piece that grows. Knows nothing of: where rows came from. Rule: gathered rows are not durable; after a crash they are
 * requested again. Memory: one block.
 */
import { hash } from 'node:crypto'
import { STATE_BLOCK_BYTES_MAX, type StateBlock } from '../../../cluster/index.ts'

export interface Piece {
  readonly after: Uint8Array
  readonly rows: Uint8Array
  readonly through: Uint8Array
  readonly isEnd: boolean
}

/** Durable when it resolves. */
export type WriteBlock = (after: Uint8Array, block: StateBlock) => Promise<void>

export class BlockDraft {
  readonly #write: WriteBlock
  #parts: Uint8Array[] = []
  #bytes = 0
  #after: Uint8Array = new Uint8Array()
  #through: Uint8Array = new Uint8Array()

  constructor(write: WriteBlock) {
    this.#write = write
  }

  async add({ after, rows, through, isEnd }: Piece): Promise<void> {
    if (this.#bytes + rows.length > STATE_BLOCK_BYTES_MAX) await this.flush()
    if (this.#parts.length === 0) this.#after = after
    this.#parts.push(rows)
    this.#bytes += rows.length
    this.#through = through
    if (isEnd) await this.#put(true)
  }

  async flush(): Promise<void> {
    if (this.#parts.length > 0) await this.#put(false)
  }

  async #put(isEnd: boolean): Promise<void> {
    const rows = Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    const digest = hash('sha256', rows, 'buffer')
    await this.#write(this.#after, { rows, digest, through: this.#through, isEnd })
  }
}
