/**
 * getObject: authorize -> exists -> hand out a reader.
 *
 * The reader is lazy: no chunk is opened before the edge has settled conditions and range against the record. What an overwrite
 * may remove with the version is read in the same cut as the version.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { ByteRange } from '../../content/range.ts'
import { pinRows } from '../../store/reads/pinned-rows.ts'
import type { PinnedRows } from '../../store/reads/state-reader.ts'
import type { Services } from '../base/services.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export interface ReadableObject extends FoundObject {
  /** Authenticated bytes; breaks rather than giving wrong ones. */
  read(range: ByteRange): AsyncIterable<Uint8Array>
}

export async function getObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<ReadableObject> {
  let pinned: PinnedRows = {}
  const { bucket, object } = objectFor(
    services,
    { principal, operationId: 'getObject' },
    input,
    (view, { id }, version) => {
      if (version.kind === 'object') pinned = pinRows(view, id, version)
    },
  )
  const tenant = findTenant(services, principal.tenantId)
  const source = { bucketId: bucket.id, object, pinned }
  return { bucket, object, read: (range) => services.content.read(tenant, source, range) }
}
