/**
 * Tenants, and one of them with its quota, usage, accounts and access keys.
 *
 * Rule: a list is one request for each page, never one for each row.
 */
import { signal } from '@preact/signals'
import type {
  AccessKey,
  Account,
  AdminOperations,
  HoldfastAdmin,
  Quota,
  Tenant,
} from '../../../client/src/admin.ts'
import { resource } from './resource.ts'

const PAGE = 200
/** Of a list on the screen; that there are more is said. */
const ROWS_MAX = 2000

export interface Listed<T> {
  readonly rows: readonly T[]
  readonly isWhole: boolean
}

/** With its counts. */
export type TenantBucket = AdminOperations['getTenantUsage']['answer']['byBucket'][number]

export interface OneTenant {
  readonly tenant: Tenant
  readonly quota: Quota
  readonly accounts: Listed<Account>
  readonly buckets: Listed<TenantBucket>
  readonly keys: Listed<AccessKey>
}

async function listed<T>(rows: AsyncIterable<T>): Promise<Listed<T>> {
  const found: T[] = []
  for await (const row of rows) {
    if (found.length === ROWS_MAX) return { rows: found, isWhole: false }
    found.push(row)
  }
  return { rows: found, isWhole: true }
}

export const tenants = resource((api) => listed(api.tenants({ limit: PAGE })))

/** Which one `oneTenant` loads. */
export const tenantId = signal('')

export const oneTenant = resource(async (api: HoldfastAdmin): Promise<OneTenant> => {
  const id = tenantId.peek()
  const [tenant, quota, usage, accounts, keys] = await Promise.all([
    api.getTenant({ id }),
    api.getTenantQuota({ id }),
    api.getTenantUsage({ id }),
    listed(api.accounts({ id, limit: PAGE })),
    listed(api.keys({ id, limit: PAGE })),
  ])
  const buckets = { rows: usage.byBucket, isWhole: !usage.isTruncated }
  return { tenant, quota, accounts, buckets, keys }
})

/** Of the same one. */
export const encryption = resource((api) => api.getTenantEncryption({ id: tenantId.peek() }))
