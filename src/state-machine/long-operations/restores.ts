/**
 * The end of a restore into the running cluster: what it was filling is free.
 *
 * Owns: the marks that keep others away. Rule: at most one bucket and one tenant carry the mark of an operation, and the operation names them, so they are free in the
 * entry that ends it, whichever way it ends.
 */
import { bucketKeys } from '../buckets/keys.ts'
import type { Draft } from '../base/draft.ts'
import { tenantKeys } from '../tenants/keys.ts'
import type { LongOperation } from './records.ts'

export function freeRestored(draft: Draft, { operationId, restore }: LongOperation): void {
  if (restore === undefined) return
  const { to, filling } = restore
  const tenant = draft.get(tenantKeys.tenant(to.tenantId))
  if (tenant?.restoring === operationId) {
    const { restoring: _, ...free } = tenant
    draft.put(tenantKeys.tenant(to.tenantId), free)
  }
  const bucket = filling === undefined ? undefined : draft.get(bucketKeys.bucket(to.tenantId, filling))
  if (bucket?.restoring !== operationId) return
  const { restoring: _, ...free } = bucket
  draft.put(bucketKeys.bucket(to.tenantId, bucket.name), free)
}
