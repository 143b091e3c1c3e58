/**
 * The port of the object pipeline: turns the bytes of an object into a body for the commit, and reads them back.
 *
 * Owns: the interface of src/content for operations. Knows nothing of: HTTP, buckets, authorization.
 * Rules: every digest is verified before any row refers to the bytes; every frame is authenticated before its bytes
 * leave; memory does not depend on the size of the object.
 */
import type { KeyObject } from 'node:crypto'
import type { Claims, TrailingClaims } from './checksums.ts'
import type { UploadCaller } from './memory-shares.ts'
import type { ByteRange } from './range.ts'
import type { BucketId } from '../state-machine/base/record-ids.ts'
import type { ChecksumAlgorithm, Checksums, CustomerSeal } from '../state-machine/bodies/records.ts'
import type { PutBody } from '../state-machine/chunks/commands.ts'
import type { TenantRecord } from '../state-machine/tenants/records.ts'
import type { ObjectRecord } from '../state-machine/versions/records.ts'
import type { PinnedRows } from '../store/reads/pinned-rows.ts'
import type { UploadOutcome } from './uploads.ts'

/** The bytes of a body as they come. */
export interface BodySource extends AsyncIterable<Uint8Array> {
  /** For how long this node has held back bytes that had come, in milliseconds, the present time included. Absent: it never does. */
  heldMs?(): number
}

/** `content`: made from the ids of the chunks. `md5`: hex MD5 of the plain bytes, which S3 clients compare. */
export type EtagForm = 'content' | 'md5'

export interface IngestRequest {
  readonly tenant: TenantRecord
  /** Whose share of the memory for uploads the body collects in. */
  readonly caller: UploadCaller
  /** The pipeline no longer reads a piece once it requests the next one. */
  readonly source: BodySource
  /** From Content-Length; null without that header. A shorter or longer body is refused. */
  readonly expectedSize: number | null
  readonly sizeMax: number
  /** Digests that the client claims, raw bytes; each is verified. */
  readonly claimed: Claims
  /** Those that it claims behind the body; undefined: none. */
  readonly trailing?: TrailingClaims | undefined
  /** Algorithms to compute in addition, without a claim. */
  readonly wanted?: readonly ChecksumAlgorithm[]
  /** Absent: `content`. */
  readonly etag?: EtagForm | undefined
  /** With which the bytes are sealed instead of the tenant's own. Its etag is of the form `content`, unlike that of any other body. */
  readonly customer?: { readonly key: KeyObject; readonly seal: CustomerSeal } | undefined
  readonly signal: AbortSignal
}

export interface IngestedBody {
  readonly size: number
  readonly etag: string
  /** The etag of the form `content`, whichever `etag` is: equal for equal bytes of one tenant through any API. */
  readonly contentTag: string
  /** The verified digests, the wanted ones, and the CRC64NVME that is always computed. base64. */
  readonly checksums: Checksums
  readonly body: PutBody
  /** The proposer calls it with the outcome, after its last proposal. Until then the copies of the body are kept. */
  readonly end: (outcome: UploadOutcome) => void
}

/** An object, with the rows of its body that `pinRows` read from the same snapshot as the object. */
export interface PinnedObject {
  readonly bucketId: BucketId
  readonly object: ObjectRecord
  /** That the client sent. */
  readonly customerKey?: KeyObject | undefined
  readonly pinned: PinnedRows
}

export interface Content {
  /** What is kept instead of the key. `again`: of an upload that may be repeated, what tells it from others. */
  customerSeal(tenant: TenantRecord, key: KeyObject, again?: string): CustomerSeal
  /**
   * Whether the key is the one of the object or upload. Throws Refusal: invalid_request where one is missing or has nothing to open, access_denied for
   * another key.
   */
  checkCustomerKey(
    tenant: TenantRecord,
    key: KeyObject | undefined,
    sealed: { readonly key: string; readonly customerSeal?: CustomerSeal },
  ): void
  /** Resolves when the bytes are durable on enough nodes for an acknowledgement, or inline in the body. Throws Refusal or Condition. */
  ingest(request: IngestRequest): Promise<IngestedBody>
  /**
   * The authenticated bytes of `range`, in pieces that the reader owns. Switches between copies in mid-stream.
   * Throws before the first byte if nothing can be read, or as `checkCustomerKey`; a later failure breaks the stream, which never contains wrong bytes.
   */
  read(tenant: TenantRecord, object: PinnedObject, range: ByteRange): AsyncIterable<Uint8Array>
  /** The same in one piece and without a wait, of a body inline in the metadata. Throws what the first piece of `read` throws. */
  readAtHand(tenant: TenantRecord, object: PinnedObject, range: ByteRange): Uint8Array
}
