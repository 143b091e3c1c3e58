/**
 * Rows of the versions of an object, and their chain row.
 */
import type { VersionId } from '../base/record-ids.ts'
import type { BodyRecord, Checksums, CompositeChecksum, CustomerSeal } from '../bodies/records.ts'

export interface RetentionRecord {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly until: number
}

export type Tags = Readonly<Record<string, string>>

/** The place of a version among those of its key. The id is never reused, also for null versions. */
export interface VersionPlace {
  readonly key: string
  readonly versionId: VersionId
  /** Clients call it `null`. At most one per key. */
  readonly isNull: boolean
  readonly lastModified: number
  readonly older: VersionId | null
  readonly newer: VersionId | null
  /** Its share in the usage of the tenant. Absent: none, it was stored below feature level 4. */
  readonly metadataBytes?: number
}

/** Settings of a version that can change without making another version. */
export interface VersionSettings {
  readonly tags: Tags
  readonly retention: RetentionRecord | null
  readonly legalHold: boolean
}

/**
 * What an upload says of the ways in which its bytes are handed out: the values of headers, given back as they came. [RFC 9110 8, 9111 5]
 */
export interface Representation {
  readonly cacheControl?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly expires?: string
}

export interface ObjectRecord extends VersionPlace, VersionSettings {
  readonly kind: 'object'
  readonly size: number
  readonly etag: string
  readonly contentType: string
  /** Over all its bytes. */
  readonly checksums: Checksums
  /** Absent: it was not asked for when the upload was created. */
  readonly composite?: CompositeChecksum
  readonly metadata: Readonly<Record<string, string>>
  /** Absent: nothing was said. */
  readonly representation?: Representation
  readonly masterKeyId: string
  /** Present: its client has the key of the body. */
  readonly customerSeal?: CustomerSeal
  readonly body: BodyRecord
}

export interface DeleteMarkerRecord extends VersionPlace {
  readonly kind: 'deleteMarker'
  /** The mark of the deletion of another site that made it. Absent: none. */
  readonly replicaOf?: string
}

export type VersionRecord = ObjectRecord | DeleteMarkerRecord

/** Versions of a key that its object row does not lead to. Absent when both members are null. */
export interface ChainRecord {
  /** The newest version, when it is a delete marker. */
  readonly marker: VersionId | null
  /** The null version, when it is not the current object. */
  readonly nullVersion: VersionId | null
}
