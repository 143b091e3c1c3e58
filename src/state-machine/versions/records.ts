/**
 * Rows of the versions of an object, and of what stands beside them.
 */
import type { VersionId } from '../base/record-ids.ts'
import type { BodyRecord, Checksums } from '../bodies/records.ts'

export interface RetentionRecord {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly until: number
}

export type Tags = Readonly<Record<string, string>>

/** Where a version stands among those of its key. The id is unique for ever, also of null versions. */
export interface VersionPlace {
  readonly key: string
  readonly versionId: VersionId
  /** Clients know it as `null`. At most one of a key. */
  readonly isNull: boolean
  readonly lastModified: number
  readonly older: VersionId | null
  readonly newer: VersionId | null
}

/** What may be changed of a version without making another one. */
export interface VersionSettings {
  readonly tags: Tags
  readonly retention: RetentionRecord | null
  readonly legalHold: boolean
}

export interface ObjectRecord extends VersionPlace, VersionSettings {
  readonly kind: 'object'
  readonly size: number
  readonly etag: string
  readonly contentType: string
  readonly checksums: Checksums
  readonly metadata: Readonly<Record<string, string>>
  readonly masterKeyId: string
  readonly body: BodyRecord
}

export interface DeleteMarkerRecord extends VersionPlace {
  readonly kind: 'deleteMarker'
}

export type VersionRecord = ObjectRecord | DeleteMarkerRecord

/** What of a key's versions cannot be found from its object row. Absent when both members are null. */
export interface ChainRecord {
  /** The newest version, when it is a delete marker. */
  readonly marker: VersionId | null
  /** The null version, when it is not the current object. */
  readonly nullVersion: VersionId | null
}
