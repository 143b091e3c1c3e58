/**
 * The port to the store of another site: what replication asks of it.
 *
 * Owns: the interface. Knows nothing of: HTTP. Rules: a member that changes something names what it expects to find, so that a late request of
 * a node that was replaced changes nothing; what fails is a SiteFault, which says whether trying again helps.
 */
import type { ByteRange } from '../../content/range.ts'
import type { Mark } from '../../state-machine/sites/mark.ts'
import type { SiteRecord } from '../../state-machine/sites/records.ts'
import type { ObjectRecord, RetentionRecord, Tags } from '../../state-machine/versions/records.ts'

/** `failed`: this request may succeed later. `refused`: it never will. `unreachable`: nothing of this target succeeds now. */
export type SiteFaultKind = 'failed' | 'refused' | 'unreachable'

export class SiteFault extends Error {
  override readonly name = 'SiteFault'
  readonly kind: SiteFaultKind
  /** The code of S3, such as `NoSuchBucket`; null: no answer came. */
  readonly s3Code: string | null
  /** The `Retry-After` of the target. */
  readonly retryAfterMs: number | null

  constructor(
    kind: SiteFaultKind,
    message: string,
    more: { readonly s3Code?: string; readonly retryAfterMs?: number | null } = {},
  ) {
    super(message)
    this.kind = kind
    this.s3Code = more.s3Code ?? null
    this.retryAfterMs = more.retryAfterMs ?? null
  }
}

/** What is at a key, or at a version of it. */
export interface RemoteVersion {
  readonly isDeleteMarker: boolean
  /** Without quotes; empty for a delete marker. */
  readonly etag: string
  readonly size: number
  /** Null: the target keeps no versions. */
  readonly versionId: string | null
  /** Whole seconds, in ms since 1970. Null: the target does not say. */
  readonly modifiedAt: number | null
  /** base64 of a digest of all bytes. Null: the target does not say. */
  readonly crc64nvme: string | null
  /** Null: it came from no site. */
  readonly mark: Mark | null
}

export interface RemotePut {
  readonly key: string
  readonly object: ObjectRecord
  readonly mark: Mark
  /** What has to be there: the etag of an object, or null for none. */
  readonly expected: string | null
  /** The sizes of its parts, of a version that was assembled. */
  readonly assembledOf?: readonly number[]
  /** Each call reads again. Without a range: all of it. */
  readonly body: (range?: ByteRange) => AsyncIterable<Uint8Array>
}

export interface RemoteName {
  readonly key: string
  /** Null: the newest. */
  readonly versionId: string | null
}

export interface RemoteObject {
  readonly key: string
  readonly size: number
  readonly etag: string
}

/** Of a bucket of a Holdfast. */
export type BucketIdentity = Pick<Mark, 'clusterId' | 'bucketId'>

/** The bucket that one at the target is made for. */
export interface BucketSource {
  readonly clusterId: string
  readonly name: string
}

/** The store of a target, reached with this secret. */
export type OpenSite = (
  site: Pick<SiteRecord, 'tenantId' | 'target'>,
  secretKey: string,
  signal: AbortSignal,
) => RemoteStore

export interface RemoteStore {
  /** That the bucket is there and these credentials are good for it; throws SiteFault `unreachable`.  */
  probe(): Promise<{ readonly identity: BucketIdentity | null }>
  /** That these credentials are good, whatever they may do; throws SiteFault. */
  probeStore(): Promise<void>
  /** The bucket of the target, with versions; a Holdfast keeps `source`. Nothing of it stays where a part of that fails. */
  makeBucket(how: { readonly objectLock: boolean; readonly source: BucketSource }): Promise<void>
  /** Null: there is none. */
  head(name: RemoteName): Promise<RemoteVersion | null>
  put(put: RemotePut): Promise<void>
  /** `expected`: the etag that has to be there. Null: any. */
  remove(name: RemoteName, how: { readonly expected: string | null; readonly mark: Mark }): Promise<void>
  setTags(name: RemoteName, tags: Tags): Promise<void>
  setRetention(name: RemoteName, retention: RetentionRecord | null): Promise<void>
  setLegalHold(name: RemoteName, legalHold: boolean): Promise<void>
  /** Ids of the versions of a key, newest first, bounded. Empty where the target keeps no versions. */
  versionsOf(key: string): Promise<readonly string[]>
  /** In the order of keys, the first behind `after`. */
  list(query: {
    readonly prefix: string
    readonly after: string
    readonly limit: number
  }): Promise<{ readonly objects: readonly RemoteObject[]; readonly isLast: boolean }>
}
