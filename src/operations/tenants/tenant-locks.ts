/**
 * What of a tenant must stay: versions under legal hold or retention, counted one by one.
 *
 * Rules: fail closed: a lock that cannot be read holds. Of a tenant that is not active the count stays true but for time, which
 * only releases: no client can set a lock any more.
 */
import { locksOf } from '../../state-machine/versions/locks.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { VersionRecord } from '../../state-machine/versions/records.ts'
import type { Page } from '../../store/reads/state-reader.ts'
import type { Services } from '../base/services.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import { lockedVersions } from '../../store/reads/tenant-content.ts'

const PAGE = 1_000

export interface TenantLocks {
  readonly held: number
  readonly retained: number
  /** When the first of the retentions ends that stand; null: none stands, or none can be read. */
  readonly earliestRelease: number | null
  /** When the last of those that are over has ended; 0: there is none. */
  readonly endedBy: number
}

/** One walk over the versions that carry a lock; the others are not looked at. */
export async function tenantLocks(
  { state }: Services,
  tenantId: TenantId,
  time: number,
): Promise<TenantLocks> {
  let locks: TenantLocks = { held: 0, retained: 0, earliestRelease: null, endedBy: 0 }
  for (let after: string | null = ''; after !== null; ) {
    const buckets: Page<BucketRecord> = await state.page(bucketRanges.buckets(tenantId), {
      after,
      limit: PAGE,
    })
    for (const { id } of buckets.items) locks = await addBucket(state, id, { time, locks })
    after = buckets.next
  }
  return locks
}

async function addBucket(
  state: Services['state'],
  bucketId: string,
  { time, locks }: { readonly time: number; readonly locks: TenantLocks },
): Promise<TenantLocks> {
  let { held, retained, earliestRelease, endedBy } = locks
  for (let after: string | null = ''; after !== null; ) {
    const page: Page<VersionRecord> = await lockedVersions(state, bucketId, { after, limit: PAGE })
    for (const version of page.items) {
      const { isHeld, isRetained, until } = locksOf(version, time)
      if (isHeld) held++
      if (isRetained) retained++
      if (until === null) continue
      if (isRetained) earliestRelease = Math.min(earliestRelease ?? until, until)
      else endedBy = Math.max(endedBy, until)
    }
    after = page.next
  }
  return { held, retained, earliestRelease, endedBy }
}
