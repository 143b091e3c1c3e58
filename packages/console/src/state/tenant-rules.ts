/**
 * What an operator sets for a tenant beside its quota: the policy of one of its buckets, and the replication of all of them.
 *
 * Rule: that there is none is a value, and no fault.
 */
import { signal } from '@preact/signals'
import { type HoldfastAdmin, NotFoundError } from '../../../client/src/admin.ts'
import { resource } from './resource.ts'
import { tenantId } from './tenant-data.ts'

/** Of the tenant; `policy` loads its policy. */
export const policyBucket = signal('')

/** What is not there, unless the tenant or bucket is not. */
async function orUnset<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof NotFoundError && !error.message.includes('does not exist')) return null
    throw error
  }
}

export const policy = resource(async (api: HoldfastAdmin) => ({
  set: await orUnset(api.getTenantBucketPolicy({ id: tenantId.peek(), bucket: policyBucket.peek() })),
}))

export const tenantReplication = resource(async (api: HoldfastAdmin) => ({
  set: await orUnset(api.getTenantReplication({ id: tenantId.peek() })),
}))
