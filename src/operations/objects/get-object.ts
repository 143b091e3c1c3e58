/**
 * getObject: authorize -> exists -> hand out a reader.
 *
 * The reader is lazy: nothing is opened before the edge has settled conditions and range against the record.
 */
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import type { ByteRange } from '../../content/range.ts'
import type { Services } from '../services.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { type FoundObject, objectFor, type ObjectName } from './ladder.ts'

export interface ReadableObject extends FoundObject {
  /** Authenticated bytes; breaks rather than giving wrong ones. */
  read(range: ByteRange): AsyncIterable<Uint8Array>
}

export async function getObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<ReadableObject> {
  const { bucket, object } = objectFor(services, { principal, operationId: 'getObject' }, input)
  const tenant = findTenant(services, principal.tenantId)
  return { bucket, object, read: (range) => services.content.read(tenant, bucket.id, object, range) }
}
