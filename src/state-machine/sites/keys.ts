/**
 * Row keys of the replication to another site, and the ranges that the node on duty reads.
 */
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId, TenantId, VersionId } from '../base/record-ids.ts'
import type {
  SiteChangeRecord,
  SiteRecord,
  SiteStateRecord,
  TenantSiteRecord,
  WaitingSiteRecord,
} from './records.ts'

/** Index: buckets with something to do. */
export interface BusySite {
  readonly bucketId: BucketId
}

export const siteKeys = {
  site: (bucket: BucketId): RowKey<SiteRecord> => join('site', bucket),
  siteState: (bucket: BucketId): RowKey<SiteStateRecord> => join('siteState', bucket),
  busySite: (bucket: BucketId): RowKey<BusySite> => join('busySite', bucket),
  siteChange: (bucket: BucketId, change: VersionId): RowKey<SiteChangeRecord> =>
    join('siteChange', bucket, change),
  failedSiteChange: (bucket: BucketId, change: VersionId): RowKey<SiteChangeRecord> =>
    join('failedSiteChange', bucket, change),
  tenantSite: (tenant: TenantId): RowKey<TenantSiteRecord> => join('tenantSite', tenant),
  waitingSite: (tenant: TenantId, bucket: string): RowKey<WaitingSiteRecord> =>
    join('waitingSite', tenant, bucket),
} as const

export const siteRanges = {
  sites: (): KeyRange<SiteRecord> => rangeOf('site'),
  siteStates: (): KeyRange<SiteStateRecord> => rangeOf('siteState'),
  busySites: (): KeyRange<BusySite> => rangeOf('busySite'),
  /** In the order of the log. */
  siteChanges: (bucket: BucketId): KeyRange<SiteChangeRecord> => rangeOf('siteChange', bucket),
  failedSiteChanges: (bucket: BucketId): KeyRange<SiteChangeRecord> => rangeOf('failedSiteChange', bucket),
  tenantSites: (): KeyRange<TenantSiteRecord> => rangeOf('tenantSite'),
  waitingSites: (tenant: TenantId): KeyRange<WaitingSiteRecord> => rangeOf('waitingSite', tenant),
} as const
