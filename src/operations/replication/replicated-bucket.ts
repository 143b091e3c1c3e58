/**
 * Looks the replication of a bucket up, and opens the store that it goes to.
 */
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { siteKeys } from '../../state-machine/sites/keys.ts'
import type { SiteRecord, SiteStateRecord } from '../../state-machine/sites/records.ts'
import { siteOf } from '../../state-machine/sites/sites.ts'
import type { Services } from '../base/services.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { type RemoteStore, SiteFault } from '../base/remote-store.ts'

export interface ReplicatedBucket {
  readonly bucket: BucketRecord
  readonly site: SiteRecord
  readonly state: SiteStateRecord
}

/** Throws Refusal not_found. */
export function findReplication(services: Services, tenantId: string, name: string): ReplicatedBucket {
  const bucket = findBucket(services, tenantId, name)
  const found = services.state.cut((view) => ({
    site: siteOf(view, bucket),
    state: view.get(siteKeys.siteState(bucket.id)),
  }))
  if (found.site === undefined || found.state === undefined) {
    const waiting = services.state.get(siteKeys.waitingSite(tenantId, bucket.name))
    const why = waiting === undefined ? '' : ` yet, though its tenant is: ${waiting.lastError}`
    throw new Refusal('not_found', `Bucket "${bucket.name}" is not replicated${why}`, {
      missing: 'replication',
    })
  }
  return { bucket, site: found.site, state: found.state }
}

export function remoteOf({ siteSecrets, openSite, stopping }: Services, site: SiteRecord): RemoteStore {
  return openSite(site, siteSecrets.open(site.bucketId, site.secret), stopping)
}

/** What the target answers instead, as a refusal that says so. Throws Refusal target_refused. */
export async function atTarget<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (!(cause instanceof SiteFault)) throw cause
    throw new Refusal('target_refused', `The target does not serve: ${explained(cause)}`, { cause })
  }
}

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'create the bucket there first, and check its name and target.virtualHost',
  InvalidAccessKeyId: 'check target.accessKeyId and target.endpoint',
  SignatureDoesNotMatch: 'check target.secretKey',
  AccessDenied: 'its key needs s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject for this bucket',
  AuthorizationHeaderMalformed: 'give the region of the bucket as target.region',
  PermanentRedirect: 'give the address of the region of the bucket as target.endpoint, and target.region',
  RequestTimeTooSkewed: 'the clocks of the two sites differ by more than 15 minutes',
}

function explained({ message, s3Code }: SiteFault): string {
  const hint = s3Code === null ? 'check target.endpoint, and that this cluster may reach it' : HINTS[s3Code]
  return hint === undefined ? message : `${message}; ${hint}`
}
