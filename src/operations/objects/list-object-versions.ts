/**
 * listObjectVersions: authorize (the prefix must lie inside a scope) -> bucket exists -> one page of versions and delete
 * markers, keys in UTF-8 byte order, of a key the newest first. [decisions 4, 14]
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { VersionPage } from '../../store/reads/state-reader.ts'
import { clampPageSize } from '../base/page-size.ts'
import type { Services } from '../base/services.ts'
import { bucketFor } from './object-checks.ts'

interface ListObjectVersionsInput {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter: string
  readonly maxKeys: number | undefined
  readonly keyMarker: string | undefined
  readonly versionIdMarker: string | undefined
}

export interface VersionListing extends VersionPage {
  readonly maxKeys: number
}

export async function listObjectVersions(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ListObjectVersionsInput,
): Promise<VersionListing> {
  const bucket = bucketFor(services, { principal, operationId: 'listObjectVersions' }, input)
  const { prefix, delimiter, keyMarker = '', versionIdMarker = '' } = input
  if (versionIdMarker !== '' && keyMarker === '')
    throw new Refusal(
      'invalid_argument',
      '"versionIdMarker" says where in a key to go on: give "keyMarker" too',
    )
  const limit = clampPageSize(input.maxKeys)
  const page = await services.state.versions(bucket, { prefix, delimiter, keyMarker, versionIdMarker, limit })
  return { ...page, maxKeys: limit }
}
