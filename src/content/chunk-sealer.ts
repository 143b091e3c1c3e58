/**
 * Names and seals chunks: small ones on the calling thread, large ones on a sealing thread.
 *
 * Owns: that decision. Knows nothing of: how either is done. Rule: the caller does not change the plain bytes until the
 * promise settles; whole frames of large ones must be in shared memory.
 */
import type { Trace } from '../../cluster/index.ts'
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import { framesOf, type PlainBytes, sizeOf } from './frame-cipher.ts'
import { type Compression, sealChunk, type SealedBytes } from './sealing.ts'
import type { SealingPool } from './sealing-pool.ts'
import { releaseBytes } from './spent-bytes.ts'
import type { TenantKeys } from './tenant-keys.ts'

/** Below this size a round trip to a thread costs more than it saves. */
export const SEALED_ON_THREAD_FROM_BYTES = 256 * 1024

export class ChunkSealer {
  readonly #pool: SealingPool

  readonly #trace: Trace | null

  /** `trace` null: nothing is measured. */
  constructor(pool: SealingPool, trace: Trace | null = null) {
    this.#pool = pool
    this.#trace = trace
  }

  async nameOf(keys: TenantKeys, plain: PlainBytes): Promise<ChunkId> {
    return isLarge(plain) ? this.#pool.nameOf(keys.secrets, plain) : keys.chunkIdOf(...framesOf(plain))
  }

  /** Throws Condition slow_down if the sealing thread died. */
  async seal(
    keys: TenantKeys,
    chunk: { readonly id: ChunkId; readonly plain: PlainBytes },
    compression: Compression,
  ): Promise<SealedBytes> {
    if (this.#trace === null) return this.#sealed(keys, chunk, compression)
    const bytes = sizeOf(chunk.plain)
    return this.#trace('seal', { bytes }, () => this.#sealed(keys, chunk, compression))
  }

  /** Of bytes that `seal` gave. Their memory is used again, so nothing may use them any more. */
  release(sealed: Buffer): void {
    if (sealed.buffer instanceof SharedArrayBuffer) this.#pool.release(sealed)
    else releaseBytes(sealed)
  }

  async #sealed(
    keys: TenantKeys,
    chunk: { readonly id: ChunkId; readonly plain: PlainBytes },
    compression: Compression,
  ): Promise<SealedBytes> {
    return isLarge(chunk.plain)
      ? this.#pool.seal(keys.secrets, chunk, compression)
      : sealChunk(keys, chunk, compression)
  }
}

function isLarge(plain: PlainBytes): boolean {
  return sizeOf(plain) >= SEALED_ON_THREAD_FROM_BYTES
}
