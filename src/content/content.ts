/**
 * The port of the object pipeline: bytes of an object in, a body for the commit out; and back again.
 *
 * Owns: what operations may ask of src/content. Knows nothing of: HTTP, buckets, authorization.
 * Rules: every digest is verified before anything refers to the bytes; every frame is authenticated before its bytes
 * leave; memory does not depend on the size of the object.
 */
import type { ByteRange } from './range.ts'
import type { BucketId } from '../state-machine/base/record-ids.ts'
import type { ChecksumAlgorithm, Checksums } from '../state-machine/bodies/records.ts'
import type { PutBody } from '../state-machine/chunks/commands.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { ObjectRecord } from '../state-machine/versions/records.ts'
import type { PinnedRows } from '../store/reads/state-reader.ts'
import type { UploadOutcome } from './uploads.ts'

export interface IngestRequest {
  readonly tenant: TenantRecord
  /** A piece is not looked at any more when the next one is asked for. */
  readonly source: AsyncIterable<Uint8Array>
  /** From Content-Length; null when the client did not say. A body that turns out shorter or longer is refused. */
  readonly expectedSize: number | null
  readonly sizeMax: number
  /** Digests the client claims, raw bytes; each is verified. */
  readonly claimed: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
  /** Computed besides, though nobody claims them. */
  readonly wanted?: readonly ChecksumAlgorithm[]
  readonly signal: AbortSignal
}

export interface IngestedBody {
  readonly size: number
  readonly etag: string
  /** The verified digests, the wanted ones, and the CRC64NVME that is always computed. base64. */
  readonly checksums: Checksums
  readonly body: PutBody
  /** Whoever proposes the body says what came of it, once nothing more is proposed. Until then its copies are kept. */
  readonly end: (outcome: UploadOutcome) => void
}

/** An object with what `pinRows` read of its body in the cut that it was found in. */
export interface PinnedObject {
  readonly bucketId: BucketId
  readonly object: ObjectRecord
  readonly pinned: PinnedRows
}

export interface Content {
  /** Resolves when the bytes are durable on W nodes (or ready to travel inline). Throws Refusal or Condition. */
  ingest(request: IngestRequest): Promise<IngestedBody>
  /**
   * The bytes of `range`, authenticated, in pieces that are the reader's own, falling over between copies in mid-stream.
   * Throws before the first byte if nothing can be read; breaks the stream (never wrong bytes) if it fails later.
   */
  read(tenant: TenantRecord, object: PinnedObject, range: ByteRange): AsyncIterable<Uint8Array>
}
