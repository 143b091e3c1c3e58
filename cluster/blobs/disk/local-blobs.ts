/**
 * This node's own copies: counted reads and writes, and the verdict on a copy that a reader reported as bad.
 *
 * Rule: only the owner judges a copy, by reading all of it from its own disk. A reader's report by itself never takes a good
 * copy out of service: the reader may have a wrong key or a bad network card. Nor does an outdated verdict: the copy's lock
 * is held from the reading to the quarantine.
 */
import { BlobDamagedError, BlobMissingError, type BlobName, type Logger } from '../../base/types.ts'
import type { CopyVerdict } from '../base/blob-calls.ts'
import type { BlobContent, BlobStore, DiskUsage, ExpectedContent } from '../base/blob-store.ts'
import type { CopyLocks } from './copy-locks.ts'

export interface BlobCounts {
  readonly readBytes: number
  readonly writtenBytes: number
  readonly damaged: number
}

export interface LocalBlobsOptions {
  readonly store: BlobStore
  readonly locks: CopyLocks
  readonly logger: Logger
  /** Called with each verdict. */
  readonly onJudged?: (verdict: CopyVerdict) => void
}

export class LocalBlobs {
  readonly #store: BlobStore
  readonly #options: LocalBlobsOptions
  #readBytes = 0
  #writtenBytes = 0
  #damaged = 0

  constructor(options: LocalBlobsOptions) {
    this.#store = options.store
    this.#options = options
  }

  get counts(): BlobCounts {
    return { readBytes: this.#readBytes, writtenBytes: this.#writtenBytes, damaged: this.#damaged }
  }

  /** The first copy under the name: a gateway sends each name to a node once, and never again under the same birth. */
  async write(name: BlobName, source: AsyncIterable<Uint8Array>, expected: ExpectedContent): Promise<void> {
    await this.#store.writeNew(name, source, expected)
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

  usage(): Promise<DiskUsage> {
    return this.#store.usage()
  }

  /** Quarantines the copy if it is damaged. */
  async judge(name: BlobName): Promise<CopyVerdict> {
    const verdict = await this.#options.locks.hold(name, () => this.#judge(name))
    this.#options.onJudged?.(verdict)
    return verdict
  }

  async #judge(name: BlobName): Promise<CopyVerdict> {
    try {
      await this.#store.verify(name)
      return 'good'
    } catch (cause) {
      if (cause instanceof BlobMissingError) return 'missing'
      if (!(cause instanceof BlobDamagedError)) throw cause
      await this.#store.quarantine(name)
      this.#damaged++
      this.#options.logger.error({ blob: name.id, birth: name.birth, err: cause }, 'damaged blob quarantined')
      return 'damaged'
    }
  }
}
