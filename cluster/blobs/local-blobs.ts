/**
 * This node's own copies: counted reads and writes, and the judgement about a copy that somebody found wrong.
 *
 * Rule: only the owner judges a copy, by reading all of it from its own disk. A reader's word alone never takes a good
 * copy out of service: the reader may hold a wrong key or a bad network card.
 */
import { BlobDamagedError, BlobMissingError, type BlobName, type Logger } from '../types.ts'
import type { CopyVerdict } from './blob-calls.ts'
import type { BlobContent, BlobStore } from './blob-store.ts'

export interface BlobCounts {
  readonly readBytes: number
  readonly writtenBytes: number
  readonly damaged: number
}

export class LocalBlobs {
  readonly #store: BlobStore
  readonly #logger: Logger
  #readBytes = 0
  #writtenBytes = 0
  #damaged = 0

  constructor(store: BlobStore, logger: Logger) {
    this.#store = store
    this.#logger = logger
  }

  get counts(): BlobCounts {
    return { readBytes: this.#readBytes, writtenBytes: this.#writtenBytes, damaged: this.#damaged }
  }

  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: BlobContent): Promise<void> {
    await this.#store.write(name, source, expected)
    this.#writtenBytes += expected.size
  }

  async *read(name: BlobName, start: number, end: number): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#store.read(name, start, end)) {
      this.#readBytes += piece.length
      yield piece
    }
  }

  stat(name: BlobName): Promise<BlobContent | null> {
    return this.#store.stat(name)
  }

  /** Quarantines the copy if it is damaged. */
  async judge(name: BlobName): Promise<CopyVerdict> {
    try {
      await this.#store.verify(name)
      return 'good'
    } catch (cause) {
      if (cause instanceof BlobMissingError) return 'missing'
      if (!(cause instanceof BlobDamagedError)) throw cause
      await this.#store.quarantine(name)
      this.#damaged++
      this.#logger.error({ blob: name.id, birth: name.birth, err: cause }, 'damaged blob quarantined')
      return 'damaged'
    }
  }
}
