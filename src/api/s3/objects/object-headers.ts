/**
 * What answers of the S3 API say of an object beside its body. [AWS S3 API reference: GetObject, HeadObject]
 */
import { clientVersionId, type FoundObject } from '../../../operations/objects/object-checks.ts'
import type { ObjectExpiry } from '../../../operations/lifecycle/object-expiry.ts'
import type { BucketRecord } from '../../../state-machine/buckets/records.ts'
import type { ObjectRecord, VersionRecord } from '../../../state-machine/versions/records.ts'
import type { CustomerKey } from '../../customer-key-headers.ts'
import { metadataHeaders } from '../../native/metadata-headers.ts'
import { timeText } from '../../wire.ts'
import { encryptionHeaders } from '../base/s3-encryption.ts'
import { METADATA_PREFIX } from './upload-headers.ts'

type Headers = Record<string, string>

/** A bucket that never had versions shows none. */
export function s3VersionHeaders(
  { versioning }: Pick<BucketRecord, 'versioning'>,
  version: VersionRecord | null,
): Headers {
  if (version === null || versioning === 'Unversioned') return {}
  const marker = version.kind === 'deleteMarker' ? { 'x-amz-delete-marker': 'true' } : {}
  return { 'x-amz-version-id': clientVersionId(version), ...marker }
}

/** Of GET and HEAD. The id is encoded as in a URL, as in S3. */
export function expirationHeader(expiry: ObjectExpiry | null): Headers {
  if (expiry === null) return {}
  const date = new Date(expiry.at).toUTCString()
  return { 'x-amz-expiration': `expiry-date="${date}", rule-id="${encodeURIComponent(expiry.ruleId)}"` }
}

/** Of an answer to a copy. */
export function sourceVersionHeaders({ bucket, object }: FoundObject): Headers {
  return bucket.versioning === 'Unversioned'
    ? {}
    : { 'x-amz-copy-source-version-id': clientVersionId(object) }
}

/** Of GET and HEAD; `withChecksums`: the client sent `x-amz-checksum-mode: ENABLED`; `customer`: the key that it sent. */
export function s3ObjectHeaders(
  bucket: BucketRecord,
  object: ObjectRecord,
  {
    withChecksums,
    customer,
  }: { readonly withChecksums: boolean; readonly customer: CustomerKey | undefined },
): Headers {
  const tags = Object.keys(object.tags).length
  return {
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.lastModified).toUTCString(),
    'accept-ranges': 'bytes',
    ...encryptionHeaders(customer),
    ...s3VersionHeaders(bucket, object),
    ...(withChecksums ? checksumHeaders(object) : {}),
    ...(tags === 0 ? {} : { 'x-amz-tagging-count': `${tags}` }),
    ...lockHeaders(object),
    ...metadataHeaders(object.metadata, METADATA_PREFIX),
  }
}

/** An object has checksums of one type in S3: the composite one, where its upload was created for that. */
export function checksumHeaders({
  checksums,
  composite,
}: Pick<ObjectRecord, 'checksums' | 'composite'>): Headers {
  if (composite !== undefined) {
    const name = `x-amz-checksum-${composite.algorithm.toLowerCase()}`
    return { [name]: composite.checksum, 'x-amz-checksum-type': 'COMPOSITE' }
  }
  const digests = Object.entries(checksums).map(
    ([algorithm, digest]) => [`x-amz-checksum-${algorithm.toLowerCase()}`, digest] as const,
  )
  return { ...Object.fromEntries(digests), 'x-amz-checksum-type': 'FULL_OBJECT' }
}

function lockHeaders({ retention, legalHold }: ObjectRecord): Headers {
  const until =
    retention === null
      ? {}
      : {
          'x-amz-object-lock-mode': retention.mode,
          'x-amz-object-lock-retain-until-date': timeText(retention.until),
        }
  return legalHold ? { ...until, 'x-amz-object-lock-legal-hold': 'ON' } : until
}
