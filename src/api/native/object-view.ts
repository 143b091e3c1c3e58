/**
 * An object as clients see it: the record in JSON, the entry of a listing, the headers. [decisions 3, 4]
 *
 * Rule: names of JSON members and headers are the contract; a value that cannot be known yet is written as unset.
 */
import Type, { type Static } from 'typebox'
import { clientVersionId } from '../../operations/objects/object-checks.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import type { ListedMetadata, ListedObject } from '../../state-machine/versions/listed-version.ts'
import type { JsonBytes } from '../json-bytes.ts'
import type { HeaderNote } from '../route.ts'
import { orNull, Time, timeText } from '../wire.ts'
import { HoldView, holdView, RetentionView, retentionView } from './lock-view.ts'
import { metadataHeaders } from './metadata-headers.ts'
import { REPRESENTATION_VIEW } from './representation-headers.ts'
import { settingsHeaders } from './settings-headers.ts'
import { VERSION_HEADERS, versionHeaders } from './version-headers.ts'

export const STORAGE_CLASS = 'STANDARD'

export const ObjectView = Type.Object(
  {
    bucket: Type.String(),
    key: Type.String(),
    versionId: Type.String(),
    isLatest: Type.Boolean(),
    size: Type.Integer(),
    contentLength: Type.Integer(),
    etag: Type.String(),
    contentType: Type.String(),
    lastModified: Time,
    storageClass: Type.String(),
    checksums: Type.Record(Type.String(), Type.String()),
    /** Of `checksums`. */
    checksumType: Type.Enum(['FULL_OBJECT']),
    compositeChecksum: Type.Optional(
      Type.Object({ algorithm: Type.String(), checksum: Type.String() }, { additionalProperties: false }),
    ),
    encryption: Type.Object({
      status: Type.Enum(['encrypted']),
      algorithm: Type.Enum(['AES256-GCM']),
      keyId: Type.String(),
      /** Its client has the key: requests for its bytes bring it. */
      customerKey: Type.Optional(Type.Boolean()),
    }),
    compression: Type.Object({ status: Type.Enum(['none', 'zstd']) }),
    retention: orNull(RetentionView),
    legalHold: HoldView,
    metadata: Type.Record(Type.String(), Type.String()),
    ...REPRESENTATION_VIEW,
    tagCount: Type.Integer(),
    partsCount: Type.Integer(),
  },
  { additionalProperties: false },
)

export const ListedObjectView = Type.Object(
  {
    key: Type.String(),
    size: Type.Integer(),
    etag: Type.String(),
    lastModified: Time,
    storageClass: Type.String(),
    versionId: Type.String(),
    /** true: its client has the key. */
    customerKey: Type.Optional(Type.Boolean()),
    /** Where it was asked for and the caller may read the object. */
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)

export function objectView(bucket: string, object: ObjectRecord): Static<typeof ObjectView> {
  return {
    bucket,
    key: object.key,
    versionId: clientVersionId(object),
    isLatest: object.newer === null,
    size: object.size,
    contentLength: object.size,
    etag: object.etag,
    contentType: object.contentType,
    lastModified: timeText(object.lastModified),
    storageClass: STORAGE_CLASS,
    checksums: { ...object.checksums },
    checksumType: 'FULL_OBJECT',
    ...(object.composite === undefined ? {} : { compositeChecksum: { ...object.composite } }),
    encryption: {
      status: 'encrypted',
      algorithm: 'AES256-GCM',
      keyId: object.masterKeyId,
      ...(object.customerSeal === undefined ? {} : { customerKey: true }),
    },
    compression: { status: compressionOf(object) },
    retention: object.retention === null ? null : retentionView(object.retention),
    legalHold: holdView(object.legalHold),
    metadata: { ...object.metadata },
    ...object.representation,
    tagCount: Object.keys(object.tags).length,
    partsCount: partsOf(object),
  }
}

/** Of the whole: `zstd` when any part of it is stored so. */
function compressionOf({ body }: ObjectRecord): 'none' | 'zstd' {
  return body.kind === 'chunks' || body.kind === 'parts' ? (body.compression ?? 'none') : 'none'
}

/** Pieces it was uploaded in. */
function partsOf({ body }: ObjectRecord): number {
  return body.kind === 'parts' ? body.count : 1
}

/** JSON of a `ListedObjectView`. */
export function writeListedObject(object: ListedObject, into: JsonBytes): void {
  into.plain('{"key":')
  into.text(object.key)
  into.plain(',"size":')
  into.plain(`${object.size}`)
  into.plain(',"etag":')
  into.text(object.etag)
  into.plain(',"lastModified":"')
  into.plain(timeText(object.lastModified))
  into.plain(LISTED_CLASS)
  into.plain(clientVersionId(object))
  into.plain(object.isOfCustomer === true ? '","customerKey":true' : '"')
  if (object.metadata !== undefined) writeMetadata(object.metadata, into)
  into.plain('}')
}

const LISTED_CLASS = `","storageClass":"${STORAGE_CLASS}","versionId":"`

function writeMetadata(metadata: ListedMetadata, into: JsonBytes): void {
  into.plain(',"metadata":{')
  metadata.forEach(([name, value], n) => {
    if (n > 0) into.plain(',')
    into.text(name)
    into.plain(':')
    into.text(value)
  })
  into.plain('}')
}

export const OBJECT_HEADERS: readonly HeaderNote[] = [
  { name: 'ETag', description: 'Entity tag, quoted' },
  { name: 'Last-Modified', description: 'When the object was stored' },
  { name: 'X-Service-Object-Length', description: 'Bytes of the whole object, on a partial answer too' },
  { name: 'X-Service-Checksum-<ALG>', description: 'Stored digests, base64' },
  {
    name: 'X-Service-Composite-Checksum',
    description: 'Digest over those of its parts, as in CRC32=base64-3, if it was uploaded for one',
  },
  { name: 'X-Service-Meta-<name>', description: 'User metadata' },
  { name: 'X-Service-Tag-Count', description: 'Number of tags' },
  { name: 'X-Service-Parts-Count', description: 'Pieces it was uploaded in' },
  { name: 'X-Service-Retention-Mode', description: 'GOVERNANCE or COMPLIANCE, if there is retention' },
  { name: 'X-Service-Retain-Until', description: 'End of the retention' },
  { name: 'X-Service-Legal-Hold', description: 'ON or OFF, in a bucket with object lock' },
  ...VERSION_HEADERS,
]

function compositeHeader({ composite }: ObjectRecord): Record<string, string> {
  if (composite === undefined) return {}
  return { 'x-service-composite-checksum': `${composite.algorithm}=${composite.checksum}` }
}

/** What PUT, GET and HEAD say about an object beside its body. */
export function objectHeaders(bucket: BucketRecord, object: ObjectRecord): Record<string, string> {
  const checksums = Object.entries(object.checksums).map(
    ([algorithm, digest]) => [`x-service-checksum-${algorithm.toLowerCase()}`, digest] as const,
  )
  return {
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.lastModified).toUTCString(),
    'accept-ranges': 'bytes',
    ...Object.fromEntries(checksums),
    'x-service-checksum-type': 'FULL_OBJECT',
    ...compositeHeader(object),
    'x-service-encryption': 'AES256-GCM',
    'x-service-compression': compressionOf(object),
    'x-service-storage-class': STORAGE_CLASS,
    'x-service-object-length': `${object.size}`,
    'x-service-parts-count': `${partsOf(object)}`,
    ...versionHeaders(bucket, object),
    ...settingsHeaders(object, bucket),
    ...metadataHeaders(object.metadata),
  }
}
