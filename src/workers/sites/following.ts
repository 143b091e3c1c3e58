/**
 * Lets buckets follow the replication of their tenant, also those that are made later, and releases them when it ends.
 *
 * Owns: whose turn it is, and what is asked of a target before a bucket follows. Knows nothing of: which buckets follow; a pure verdict decides that and
 * apply decides it again. Rules: one page of buckets a round, and of it a bounded number of targets is asked; a bucket whose target does not serve keeps
 * no other from following.
 */
import { Condition, gauge, type Cluster, type Logger, type MetricSample } from '../../../cluster/index.ts'
import type { SiteSecrets } from '../../access/site-secrets.ts'
import type { Propose } from '../../commands/propose.ts'
import { type OpenSite, type RemoteStore, SiteFault } from '../../operations/base/remote-store.ts'
import { followVerdict, targetBucketOf } from '../../operations/replication/follow-verdict.ts'
import { isTargetBucket } from '../../operations/replication/replication-config.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../state-machine/base/batch-bound.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { siteKeys, siteRanges } from '../../state-machine/sites/keys.ts'
import { identityText } from '../../state-machine/sites/mark.ts'
import type { TenantSiteRecord } from '../../state-machine/sites/records.ts'
import { siteOf } from '../../state-machine/sites/sites.ts'
import { activeTenant } from '../../state-machine/tenants/tenants.ts'
import type { StateReader } from '../../store/reads/state-reader.ts'

const BUCKETS_PER_ROUND: number = ITEMS_PER_COMMAND_MAX
/** Targets that are asked at a time. */
const ASKED_MAX = 8

export interface FollowingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'clusterId'>
  readonly state: StateReader
  readonly propose: Propose
  readonly siteSecrets: SiteSecrets
  readonly openSite: OpenSite
  /** The clock of the log. ms since 1970 */
  readonly now: () => number
  /** [0, 1) */
  readonly random: () => number
  readonly logger: Logger
}

interface Turn {
  readonly site: TenantSiteRecord
  readonly bucket: BucketRecord
}

/** Where the walk over tenants and their buckets is. */
interface Place {
  /** The tenant before the one whose turn it is. */
  readonly tenant: string
  readonly bucket: string
}

const START: Place = { tenant: '', bucket: '' }

export class Following {
  readonly #parts: FollowingParts
  readonly #stopping = new AbortController()
  #place = START
  /** Buckets that wait: of the walk that ended, and of the one under way. */
  #waiting = { seen: 0, walking: 0 }

  constructor(parts: FollowingParts) {
    this.#parts = parts
  }

  /** Resolves with true when the walk is not at its end. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isJobRunner()) {
      this.#place = START
      this.#waiting = { seen: 0, walking: 0 }
      return false
    }
    const { items, next } = await state.page(siteRanges.tenantSites(), {
      after: this.#place.tenant,
      limit: 1,
    })
    const [site] = items
    const isThrough = site === undefined || (await this.#page(site))
    if (!isThrough) return true
    this.#place = { tenant: next ?? '', bucket: '' }
    if (next !== null) return true
    this.#waiting = { seen: this.#waiting.walking, walking: 0 }
    return false
  }

  /** Ends requests under way. */
  close(): void {
    this.#stopping.abort()
  }

  samples(): readonly MetricSample[] {
    return [
      gauge(
        'holdfast_replication_waiting_buckets',
        'Buckets that are to follow the replication of their tenant and whose target is not there or refuses; on the node that sends.',
        this.#waiting.seen,
      ),
    ]
  }

  /** A page of buckets of one tenant; true: it was the last. */
  async #page(site: TenantSiteRecord): Promise<boolean> {
    const { state } = this.#parts
    const { tenantId } = site
    if (!activeTenant(state, tenantId).ok) return true
    const { bucket: after } = this.#place
    const page = { after, limit: BUCKETS_PER_ROUND }
    const { items, next } = await state.page(bucketRanges.buckets(tenantId), page)
    if (site.isRemoved) await this.#release(site, items, next === null)
    else await this.#follow(items.map((bucket) => ({ site, bucket })))
    this.#place = { ...this.#place, bucket: next ?? '' }
    return next === null
  }

  async #release(
    { tenantId, revision }: TenantSiteRecord,
    buckets: readonly BucketRecord[],
    isLast: boolean,
  ): Promise<void> {
    const names = buckets.map(({ name }) => name)
    if (names.length === 0 && !isLast) return
    const { propose, logger } = this.#parts
    const reply = await propose({ type: 'leaveTenant', tenantId, revision, names, isLast })
    if (!reply.ok) logger.warn({ reason: reply.message }, 'buckets not released from replication')
  }

  async #follow(turns: readonly Turn[]): Promise<void> {
    const verdicts = turns.map((turn) => ({ turn, verdict: this.#verdict(turn) }))
    const due = verdicts.filter(({ verdict }) => verdict === 'due').map(({ turn }) => turn)
    this.#waiting.walking += verdicts.filter(({ verdict }) => verdict === 'waits').length
    for (let n = 0; n < due.length && !this.#stopping.signal.aborted; n += ASKED_MAX) {
      const done = await Promise.all(due.slice(n, n + ASKED_MAX).map((turn) => this.#ask(turn)))
      this.#waiting.walking += done.filter((follows) => !follows).length
    }
  }

  #verdict({ site, bucket }: Turn) {
    const { state, now } = this.#parts
    const waiting = state.get(siteKeys.waitingSite(site.tenantId, bucket.name))
    return followVerdict({ site, bucket, present: siteOf(state, bucket), waiting }, now())
  }

  /** Whether the bucket follows now. */
  async #ask(turn: Turn): Promise<boolean> {
    const { propose, random, logger } = this.#parts
    const { site, bucket } = turn
    const { tenantId, revision } = site
    const named = { tenantId, name: bucket.name, bucketId: bucket.id, revision }
    let error: string
    try {
      const reply = await propose({ type: 'followTenant', ...named, ...(await this.#target(turn)) })
      if (reply.ok) return true
      error = reply.message
    } catch (cause) {
      if (cause instanceof Condition) throw cause
      if (this.#stopping.signal.aborted) return false
      if (!(cause instanceof SiteFault)) logger.error({ err: cause }, 'bucket does not follow its tenant')
      error = cause instanceof SiteFault ? cause.message : 'this node could not ask the target'
    }
    const jitter = random() * 2 - 1
    const reply = await propose({ type: 'recordWaitingSite', ...named, error, jitter })
    if (!reply.ok) logger.debug({ reason: reply.message }, 'bucket changed while its target was asked')
    return false
  }

  /** Throws SiteFault. */
  async #target({ site, bucket }: Turn) {
    const { cluster, siteSecrets, openSite } = this.#parts
    const { tenantId, createsBuckets, target: place } = site
    const targetBucket = targetBucketOf(site, bucket)
    if (!isTargetBucket(targetBucket))
      throw new SiteFault('refused', `The target cannot have the name "${targetBucket}": it is too long`)
    const plain = openedSecret(siteSecrets, site)
    const { bucketPrefix: _, ...rest } = place
    const target = { ...rest, bucket: targetBucket, identity: null }
    const remote = openSite({ tenantId, target }, plain, this.#stopping.signal)
    const { clusterId } = cluster
    const made = { objectLock: bucket.objectLockEnabled, source: { clusterId, name: bucket.name } }
    const { identity } = await (createsBuckets ? foundOrMade(remote, made) : remote.probe())
    const there = identity === null ? null : identityText(identity)
    if (there === identityText({ clusterId, bucketId: bucket.id }))
      throw new SiteFault('refused', 'The target is the bucket itself: give the replication a prefix')
    return { targetBucket, identity: there, secret: siteSecrets.seal(bucket.id, plain) }
  }
}

async function foundOrMade(remote: RemoteStore, how: Parameters<RemoteStore['makeBucket']>[0]) {
  try {
    return await remote.probe()
  } catch (error) {
    if (!(error instanceof SiteFault) || error.s3Code !== 'NoSuchBucket') throw error
    await remote.makeBucket(how)
    return remote.probe()
  }
}

/** Throws SiteFault. */
function openedSecret(siteSecrets: SiteSecrets, { tenantId, secret }: TenantSiteRecord): string {
  try {
    return siteSecrets.openOfTenant(tenantId, secret)
  } catch {
    throw new SiteFault('unreachable', 'The secret of the target cannot be opened with the keys of this node')
  }
}
