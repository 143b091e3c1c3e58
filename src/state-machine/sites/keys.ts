/**
 * Row keys of the replication to another site, and the ranges that the node on duty reads.
 */
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { BucketId, VersionId } from '../base/record-ids.ts'
import type { SiteChangeRecord, SiteRecord, SiteStateRecord } from './records.ts'

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
} as const

export const siteRanges = {
  sites: (): KeyRange<SiteRecord> => rangeOf('site'),
  siteStates: (): KeyRange<SiteStateRecord> => rangeOf('siteState'),
  busySites: (): KeyRange<BusySite> => rangeOf('busySite'),
  /** In the order of the log. */
  siteChanges: (bucket: BucketId): KeyRange<SiteChangeRecord> => rangeOf('siteChange', bucket),
  failedSiteChanges: (bucket: BucketId): KeyRange<SiteChangeRecord> => rangeOf('failedSiteChange', bucket),
} as const
