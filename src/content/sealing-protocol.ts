/**
 * Messages between the sealing pool and its threads.
 *
 * Owns: the messages. Rule: whole frames of plain bytes are not copied but shared between both sides, and so is the memory of sealed bytes.
 * A thread has one request at a time.
 */
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import type { Compression } from './sealing.ts'
import type { TenantSecrets } from './tenant-keys.ts'

interface Chunk {
  readonly secrets: TenantSecrets
  readonly frames: readonly Uint8Array[]
}

export type SealingRequest =
  | (Chunk & { readonly type: 'name' })
  | (Chunk & {
      readonly type: 'seal'
      readonly id: ChunkId
      readonly compression: Compression
      /** Sealed bytes of any chunk fit. */
      readonly memory: SharedArrayBuffer
    })

export type SealingReply =
  | { readonly type: 'named'; readonly id: ChunkId }
  | {
      readonly type: 'sealed'
      /** At the beginning of the memory. Bytes. */
      readonly size: number
      readonly checksum: string
      readonly crc32c: number
    }
