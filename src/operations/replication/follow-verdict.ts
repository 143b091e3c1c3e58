/**
 * Whether a bucket follows the replication of its tenant. [docs/adr/0098-what-replication-sends.md]
 *
 * Owns: the decision. PURE. Rules: a bucket's own replication comes before that of its tenant; a bucket that another site has made is sent on only to
 * the name that it was made for, or two sites with prefixes would make buckets of each other's without end.
 */
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { sourceNameIn } from '../../state-machine/sites/mark.ts'
import type { SiteRecord, TenantSiteRecord, WaitingSiteRecord } from '../../state-machine/sites/records.ts'
import { sendIsDue } from '../../state-machine/sites/sending-schedule.ts'

/**
 * `own`: it has a replication of its own. `copy`: another site made it, for another name. `follows`: it does already. `waits`: its target did not
 * serve, and the next attempt is not due. `due`: its target is to be asked now. `released`: it does not follow any more.
 */
export type FollowVerdict = 'own' | 'copy' | 'follows' | 'waits' | 'due' | 'released'

export interface Followed {
  readonly site: TenantSiteRecord
  readonly bucket: Pick<BucketRecord, 'id' | 'name' | 'replicaOf' | 'restoring'>
  /** Of the bucket. */
  readonly present: Pick<SiteRecord, 'ofTenant'> | undefined
  readonly waiting: WaitingSiteRecord | undefined
}

export function followVerdict({ site, bucket, present, waiting }: Followed, now: number): FollowVerdict {
  if (present !== undefined && present.ofTenant === undefined) return 'own'
  if (site.isRemoved) return 'released'
  if (isForeignCopy(site, bucket)) return 'copy'
  if (present?.ofTenant === site.revision) return 'follows'
  // It follows, with all that is in it, when it is whole.
  if (bucket.restoring !== undefined) return 'waits'
  const isOfThis = waiting?.bucketId === bucket.id && waiting.revision === site.revision
  return isOfThis && !sendIsDue(waiting.dueAt, now) ? 'waits' : 'due'
}

export function targetBucketOf(
  { target }: Pick<TenantSiteRecord, 'target'>,
  { name }: Pick<BucketRecord, 'name'>,
): string {
  return `${target.bucketPrefix}${name}`
}

function isForeignCopy(site: TenantSiteRecord, bucket: Followed['bucket']): boolean {
  if (bucket.replicaOf === undefined) return false
  return sourceNameIn(bucket.replicaOf) !== targetBucketOf(site, bucket)
}
