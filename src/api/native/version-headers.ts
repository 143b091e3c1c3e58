/**
 * How a version is named on the wire: `versionId` in queries and JSON, `X-Service-Version-Id` in answers. [decisions 0, 3]
 *
 * Rule: a bucket that never had versions shows none in headers; in JSON its objects have the version `null`.
 */
import Type from 'typebox'
import { clientVersionId } from '../../operations/objects/object-checks.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import type { HeaderNote } from '../route.ts'

export const VersionQuery = Type.Object(
  { versionId: Type.Optional(Type.String({ minLength: 1 })) },
  { additionalProperties: false },
)

export const VERSION_HEADERS: readonly HeaderNote[] = [
  { name: 'X-Service-Version-Id', description: 'The version; absent in a bucket without versions' },
]

export const MARKER_HEADERS: readonly HeaderNote[] = [
  ...VERSION_HEADERS,
  { name: 'X-Service-Delete-Marker', description: 'true: the version is a delete marker' },
]

export function versionHeaders(
  { versioning }: BucketRecord,
  version: VersionRecord | null,
): Record<string, string> {
  if (version === null || versioning === 'Unversioned') return {}
  const marker = version.kind === 'deleteMarker' ? { 'x-service-delete-marker': 'true' } : {}
  return { 'x-service-version-id': clientVersionId(version), ...marker }
}
