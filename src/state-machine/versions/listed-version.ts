/**
 * What listings show of a version.
 */
import type { VersionId } from '../base/record-ids.ts'
import type { VersionRecord } from './records.ts'

interface ListedPlace {
  readonly key: string
  readonly versionId: VersionId
  /** Clients call it `null`. */
  readonly isNull: boolean
  readonly isLatest: boolean
  readonly lastModified: number
}

export interface ListedObject extends ListedPlace {
  readonly kind: 'object'
  readonly size: number
  readonly etag: string
  /** Of its checksums: of all, or of the one over its parts. */
  readonly algorithms: readonly string[]
  readonly isComposite: boolean
  /** Its client has the key. Absent: the tenant has it. */
  readonly isOfCustomer?: true
  /** User metadata; only in a listing that asked for it, of an object whose reader may see it. */
  readonly metadata?: ListedMetadata
}

/** Names and values, in the order of the record. */
export type ListedMetadata = readonly (readonly [name: string, value: string])[]

export interface ListedMarker extends ListedPlace {
  readonly kind: 'deleteMarker'
}

export type ListedVersion = ListedObject | ListedMarker

export function listedVersion(version: VersionRecord): ListedVersion {
  const { key, versionId, isNull, newer, lastModified } = version
  const place = { key, versionId, isNull, isLatest: newer === null, lastModified }
  if (version.kind === 'deleteMarker') return { kind: version.kind, ...place }
  const { kind, size, etag, checksums, composite } = version
  const algorithms = composite === undefined ? Object.keys(checksums) : [composite.algorithm]
  const sealed = version.customerSeal === undefined ? {} : { isOfCustomer: true as const }
  return { kind, ...place, size, etag, algorithms, isComposite: composite !== undefined, ...sealed }
}
