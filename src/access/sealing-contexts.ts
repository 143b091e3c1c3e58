/**
 * What each sealed secret is called when it is sealed and when it is opened.
 *
 * Rule: a context names the kind and the owner, so that a secret copied into another row does not open there.
 * Changing a text here makes every secret stored under it unreadable.
 */
import type { AccessKeyId, BucketId, HookId, TenantId } from '../state-machine/base/record-ids.ts'

export const accessKeySecret = (id: AccessKeyId): string => `access-key/${id}/secret`
/** A key that was exchanged has its version in the context, so that no row can present an earlier key as a later one. */
export const tenantDataKey = (id: TenantId, version = 1): string =>
  version === 1 ? `tenant/${id}/data-key` : `tenant/${id}/data-key/${version}`
export const tenantDedupKey = (id: TenantId): string => `tenant/${id}/dedup-key`
export const auditDataKey = (): string => 'audit/data-key'
export const auditDedupKey = (): string => 'audit/dedup-key'
/** Of the access key of the store that a bucket is replicated to. */
export const siteSecret = (id: BucketId): string => `site/${id}/secret`
/** The same for all buckets of a tenant. */
export const tenantSiteSecret = (id: TenantId): string => `tenant-site/${id}/secret`
export const backupTargetSecret = (name: string): string => `backup-target/${name}/secret`
export const hookSecret = (id: HookId): string => `hook/${id}/secret`
