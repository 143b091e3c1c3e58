/**
 * Queues what replicated buckets held before, forgets what removed replication has left, and counts what waits.
 *
 * Owns: which bucket is walked now. Knows nothing of: what is named; apply decides that. Rules: one page of each bucket a round; a walk waits while
 * much is queued, so that new changes are not behind all of it; its place is in the rows, so the next job runner continues there.
 */
import { counter, gauge, type Cluster, type Logger, type MetricSample } from '../../../cluster/index.ts'
import type { Propose } from '../../commands/propose.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../state-machine/base/batch-bound.ts'
import { siteKeys, siteRanges } from '../../state-machine/sites/keys.ts'
import { SITE_CHANGES_MAX, type SiteStateRecord } from '../../state-machine/sites/records.ts'
import { activeTenant } from '../../state-machine/tenants/tenants.ts'
import { siteWalkPage } from '../../store/reads/site-walk.ts'
import type { StateReader } from '../../store/reads/state-reader.ts'
import { lagOf, type Sending } from './sending.ts'

const SITES_PER_ROUND = 16
const WALKED_ITEMS = 128
/** A walk waits while so many changes of its bucket do. */
const WALK_PENDING_MAX = 2_000
const COUNT_EVERY_MS = 10_000
const COUNTED_PER_PAGE = 256

interface Totals {
  readonly pending: number
  readonly pendingBytes: number
  readonly failed: number
  readonly conflicts: number
  readonly notReplicable: number
  readonly dropped: number
  readonly lagMs: number
  readonly unreachable: number
}

const NOTHING: Totals = {
  pending: 0,
  pendingBytes: 0,
  failed: 0,
  conflicts: 0,
  notReplicable: 0,
  dropped: 0,
  lagMs: 0,
  unreachable: 0,
}

export interface ResyncingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: StateReader
  readonly propose: Propose
  readonly sending: Pick<Sending, 'counts'>
  /** The clock of the log. ms since 1970 */
  readonly now: () => number
  readonly logger: Logger
}

export class Resyncing {
  readonly #parts: ResyncingParts
  #after = ''
  #totals = NOTHING
  #countedAt = 0

  constructor(parts: ResyncingParts) {
    this.#parts = parts
  }

  /** Resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isJobRunner()) {
      this.#after = ''
      this.#totals = NOTHING
      return false
    }
    await this.#count()
    const { items, next } = await state.page(siteRanges.busySites(), {
      after: this.#after,
      limit: SITES_PER_ROUND,
    })
    this.#after = next ?? ''
    let isMore = next !== null
    for (const { bucketId } of items) {
      const site = state.get(siteKeys.siteState(bucketId))
      if (site !== undefined && (await this.#advance(site))) isMore = true
    }
    return isMore
  }

  metrics(): readonly MetricSample[] {
    const { pending, pendingBytes, failed, conflicts, notReplicable, dropped, lagMs, unreachable } =
      this.#totals
    const { verdicts, bytes } = this.#parts.sending.counts
    const where = 'on the node that sends'
    return [
      gauge(
        'holdfast_replication_pending',
        `Changes that are not at their other site yet; ${where}.`,
        pending,
      ),
      gauge(
        'holdfast_replication_pending_bytes',
        `Bytes of versions that are not there yet; ${where}.`,
        pendingBytes,
      ),
      gauge('holdfast_replication_failed', `Changes that were given up; ${where}.`, failed),
      gauge(
        'holdfast_replication_conflicts',
        `Changes that lost against a later one of the other site; ${where}.`,
        conflicts,
      ),
      gauge(
        'holdfast_replication_not_replicable',
        `Versions that are not sent, because only their clients have their keys; ${where}.`,
        notReplicable,
      ),
      gauge(
        'holdfast_replication_dropped',
        `Changes that no row was made of, until a resync finds them; ${where}.`,
        dropped,
      ),
      gauge(
        'holdfast_replication_lag_seconds',
        `Age of the oldest change that waits, by the time of the cluster; ${where}.`,
        lagMs / 1000,
      ),
      gauge(
        'holdfast_replication_unreachable_buckets',
        `Buckets whose other site does not answer; ${where}.`,
        unreachable,
      ),
      ...Object.entries(verdicts).map(([result, value]) =>
        counter(
          'holdfast_replication_attempts_total',
          'Attempts of this node to send a change, by what came of them.',
          value,
          { result },
        ),
      ),
      counter(
        'holdfast_replication_bytes_total',
        'Bytes of versions that this node has sent to other sites.',
        bytes,
      ),
    ]
  }

  /** True: there is more of this bucket. */
  async #advance(site: SiteStateRecord): Promise<boolean> {
    if (site.isRemoved) return this.#forget(site)
    if (site.resync !== null && site.resync.endedAt === null) return this.#walk(site)
    if (site.dropped > 0 && site.pending < SITE_CHANGES_MAX / 2) await this.#resume(site)
    return false
  }

  async #forget({ bucketId }: SiteStateRecord): Promise<boolean> {
    const { state, propose } = this.#parts
    const limit = ITEMS_PER_COMMAND_MAX
    const waiting = await state.page(siteRanges.siteChanges(bucketId), { limit })
    const { items } =
      waiting.items.length > 0 ? waiting : await state.page(siteRanges.failedSiteChanges(bucketId), { limit })
    if (items.length === 0) return false
    const changeIds = items.map(({ changeId }) => changeId)
    const reply = await propose({ type: 'forgetSiteChanges', bucketId, changeIds })
    return reply.ok && reply.value.forgotten > 0
  }

  async #walk({ bucketId, tenantId, resync, pending }: SiteStateRecord): Promise<boolean> {
    const { state, propose, logger } = this.#parts
    if (resync === null || pending >= WALK_PENDING_MAX || !activeTenant(state, tenantId).ok) return false
    const { id: resyncId, place } = resync
    const page = await siteWalkPage(state, { id: bucketId }, { after: place, itemsMax: WALKED_ITEMS })
    const { items, next } = page
    const reply = await propose({ type: 'queueExisting', bucketId, resyncId, place, next, items })
    if (!reply.ok) logger.warn({ reason: reply.message }, 'resync of a bucket not continued')
    return reply.ok && next !== null
  }

  /** Changes were dropped while too many waited: a walk finds what they were about. */
  async #resume({ tenantId, bucket: name, bucketId }: SiteStateRecord): Promise<void> {
    const { propose, logger, state } = this.#parts
    if (!activeTenant(state, tenantId).ok) return
    const reply = await propose({ type: 'startResync', tenantId, name })
    logger.info({ bucketId, started: reply.ok }, 'resync after dropped changes')
  }

  async #count(): Promise<void> {
    const { state, now } = this.#parts
    const time = now()
    if (Math.abs(time - this.#countedAt) < COUNT_EVERY_MS) return
    this.#countedAt = time
    let totals = NOTHING
    for (let after: string | null = ''; after !== null; ) {
      const page: { items: readonly SiteStateRecord[]; next: string | null } = await state.page(
        siteRanges.siteStates(),
        { after, limit: COUNTED_PER_PAGE },
      )
      for (const one of page.items) totals = await this.#added(totals, one, time)
      after = page.next
    }
    this.#totals = totals
  }

  async #added(totals: Totals, one: SiteStateRecord, time: number): Promise<Totals> {
    if (one.isRemoved) return totals
    const { items } = await this.#parts.state.page(siteRanges.siteChanges(one.bucketId), { limit: 1 })
    return {
      pending: totals.pending + one.pending,
      pendingBytes: totals.pendingBytes + one.pendingBytes,
      failed: totals.failed + one.failed,
      conflicts: totals.conflicts + one.conflicts,
      notReplicable: totals.notReplicable + one.notReplicable,
      dropped: totals.dropped + one.dropped,
      lagMs: Math.max(totals.lagMs, lagOf(one, items[0], time)),
      unreachable: totals.unreachable + Number(one.failures > 0),
    }
  }
}
