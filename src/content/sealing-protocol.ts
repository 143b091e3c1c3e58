/**
 * What the sealing pool and its threads say to each other.
 *
 * Owns: the messages. Rule: plain bytes are never copied, they lie in memory that both sides see; sealed bytes are
 * given away by the thread. One request is under way on a thread at a time.
 */
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import type { Compression } from './sealing.ts'
import type { TenantSecrets } from './tenant-keys.ts'

interface Chunk {
  readonly secrets: TenantSecrets
  readonly memory: SharedArrayBuffer
  readonly offset: number
  readonly length: number
}

export type SealingRequest =
  | (Chunk & { readonly type: 'name' })
  | (Chunk & { readonly type: 'seal'; readonly id: ChunkId; readonly compression: Compression })

export type SealingReply =
  | { readonly type: 'named'; readonly id: ChunkId }
  | { readonly type: 'sealed'; readonly memory: ArrayBuffer; readonly checksum: string }
