/**
 * Commands of the exchange of a tenant's data key, and their replies.
 */
import type { BucketId, ChunkId, TenantId, VersionId } from '../base/record-ids.ts'
import type { LongOperation } from '../long-operations/records.ts'
import type { TenantRecord } from '../tenants/records.ts'

/** A chunk that was sealed again, with its copies durable and read back. */
export interface ResealedChunk {
  readonly chunkId: ChunkId
  /** The birth of the copies that were read. */
  readonly from: string
  /** The birth of the new copies. */
  readonly birth: string
  readonly sealedSize: number
  readonly checksum: string
  readonly replicas: readonly string[]
  readonly missing: readonly string[]
}

/** An inline body that was sealed again. */
export interface ResealedBody {
  readonly bucket: string
  readonly bucketId: BucketId
  /** The id of the version or part. */
  readonly bodyId: VersionId
  readonly sealed: Uint8Array
}

export type KeyExchangeCommand =
  /**
   * From this entry on new writes use `dataKey`. `from`: the version of the key that it follows. After an exchange that failed, the keys stay and
   * another operation continues it.
   */
  | {
      readonly type: 'exchangeTenantKey'
      readonly tenantId: TenantId
      readonly operationId: string
      readonly requestedBy: string
      readonly reason: string
      readonly maxBytesPerSecond: number | null
      readonly from: number
      readonly dataKey: Uint8Array
      readonly masterKeyId: string
    }
  | {
      readonly type: 'resealBodies'
      readonly tenantId: TenantId
      readonly operation: string
      /** Of the key that sealed them. */
      readonly keyVersion: number
      readonly copiesMin: number
      readonly chunks: readonly ResealedChunk[]
      readonly bodies: readonly ResealedBody[]
    }
  /** Destroys the former key, if nothing is sealed with it. */
  | { readonly type: 'endKeyExchange'; readonly tenantId: TenantId; readonly operation: string }

export interface KeyExchangeReplies {
  exchangeTenantKey: LongOperation
  resealBodies: { readonly resealed: number }
  endKeyExchange: TenantRecord
}
