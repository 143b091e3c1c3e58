/**
 * What an operator sets for a tenant beside its quota: the policy of one of its buckets, and the replication of all of them.
 *
 * Rule: that there is none is a value, and no fault.
 */
import { signal } from '@preact/signals'
import type { HoldfastAdmin } from '../../../client/src/admin.ts'
import { orUnset, resource } from './resource.ts'
import { tenantId } from './tenant-data.ts'

/** Of the tenant; `policy` loads its policy. */
export const policyBucket = signal('')

export const policy = resource(async (api: HoldfastAdmin) => ({
  set: await orUnset(api.getTenantBucketPolicy({ id: tenantId.peek(), bucket: policyBucket.peek() })),
}))

export const tenantReplication = resource(async (api: HoldfastAdmin) => ({
  set: await orUnset(api.getTenantReplication({ id: tenantId.peek() })),
}))
