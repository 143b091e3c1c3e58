/**
 * The bucket `films`, over HTTP, and principals that call operations without a route of the native API.
 */
import type { AccessKeyPrincipal } from '../../src/access/base/principal.ts'
import type { ReadConditions } from '../../src/operations/objects/conditions.ts'
import type { BucketClient } from '../api/bucket-client.ts'

export const UNCONDITIONAL: ReadConditions = {
  ifMatch: null,
  ifNoneMatch: null,
  ifModifiedSince: null,
  ifUnmodifiedSince: null,
}

/** Of a new access key. */
export async function principalOf(
  { world: { memory } }: BucketClient,
  scopes = 'read,write,delete',
  tenant = 'acme',
): Promise<AccessKeyPrincipal> {
  const token = await memory.bearer(tenant, scopes)
  return memory.access.openBearer(`Bearer ${token}`)({ address: '127.0.0.1', isSecure: true })
}
