/**
 * Sends the changes of replicated buckets to their other sites, and commits what became of them. [docs/adr/0090-replication-to-a-second-site.md]
 *
 * Owns: which change is tried now, and that none is tried twice at a time here. Knows nothing of: schedules; apply decides from a result when the
 * next attempt is due. Rules: what is sent was in the queue behind a read barrier; a row leaves the queue only by a committed result, so the next job runner continues; of one key at most one change
 * is under way, the first that waits; a change that waits for its next attempt holds back those of its key and no others.
 */
import { Condition, type Cluster, type Logger } from '../../../cluster/index.ts'
import type { Propose } from '../../commands/propose.ts'
import { SiteFault } from '../../operations/base/remote-store.ts'
import type { SendResult, SendVerdict } from '../../state-machine/sites/commands.ts'
import { siteKeys, siteRanges } from '../../state-machine/sites/keys.ts'
import type { SiteChangeRecord, SiteRecord, SiteStateRecord } from '../../state-machine/sites/records.ts'
import { sendIsDue } from '../../state-machine/sites/sending-schedule.ts'
import { activeTenant } from '../../state-machine/tenants/tenants.ts'
import type { StateReader } from '../../store/reads/state-reader.ts'
import { CommittedResults } from '../base/committed-results.ts'
import type { Outcome } from './send-change.ts'

const SITES_PER_ROUND = 64
/** Under way at a time: of one bucket, of all. */
const SITE_FLIGHTS_MAX = 8
const FLIGHTS_MAX = 32
const PAGE_ROWS = 128
/** Rows of one bucket that are looked at for one that may be sent. */
const ROWS_LOOKED_MAX = 2048

/** Sends one change; aborted by the signal. Throws SiteFault, and what reading the version throws. */
export type SendChange = (site: SiteRecord, change: SiteChangeRecord, signal: AbortSignal) => Promise<Outcome>

export interface SendingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'readBarrier'>
  readonly state: StateReader
  readonly propose: Propose
  readonly send: SendChange
  /** The clock that due times are compared with, ms since 1970. */
  readonly now: () => number
  /** [0, 1) */
  readonly random: () => number
  readonly logger: Logger
}

interface Flight {
  readonly site: SiteRecord
  readonly change: SiteChangeRecord
}

export class Sending {
  readonly #parts: SendingParts
  /** Bucket and key of each change that was sent and whose result is not committed yet. */
  readonly #flying = new Map<string, string>()
  readonly #flightsOf = new Map<string, number>()
  readonly #results: CommittedResults<Flight, SendResult>
  #duty = new AbortController()
  #after = ''
  readonly #verdicts: Record<SendVerdict, number> = {
    sent: 0,
    skipped: 0,
    conflict: 0,
    failed: 0,
    refused: 0,
    unreachable: 0,
  }
  #bytes = 0

  constructor(parts: SendingParts) {
    this.#parts = parts
    this.#results = new CommittedResults({
      propose: (results) => this.#propose(results),
      land: (flight) => this.#land(flight),
      sendMore: (flights) => this.#sendMore(flights.map(({ site }) => site.bucketId)),
    })
  }

  /** Starts what may be sent now; resolves with true when there are more buckets to look at. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    this.#results.retry()
    if (!cluster.isJobRunner()) {
      this.#leaveDuty()
      return false
    }
    const { items, next } = await state.page(siteRanges.busySites(), {
      after: this.#after,
      limit: SITES_PER_ROUND,
    })
    this.#after = next ?? ''
    // A node that has just taken over may not have applied what was sent before: to send it again brings back what was deleted since.
    if (items.length > 0) await cluster.readBarrier()
    for (const { bucketId } of items) if (cluster.isJobRunner()) await this.#fill(bucketId)
    return next !== null
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.#results.idle()
  }

  /** Aborts attempts under way: the next job runner tries them again. */
  async close(): Promise<void> {
    this.#results.close()
    this.#duty.abort()
    await this.idle()
  }

  get counts(): { readonly verdicts: Readonly<Record<SendVerdict, number>>; readonly bytes: number } {
    return { verdicts: this.#verdicts, bytes: this.#bytes }
  }

  /** Another node sends now: what is under way here must not arrive behind it. */
  #leaveDuty(): void {
    this.#after = ''
    if (this.#flying.size === 0) return
    this.#duty.abort()
    this.#duty = new AbortController()
  }

  /** As many changes as this bucket may have under way. */
  async #fill(bucketId: string): Promise<void> {
    const { state, now } = this.#parts
    const site = state.get(siteKeys.site(bucketId))
    const counts = state.get(siteKeys.siteState(bucketId))
    if (site === undefined || counts === undefined || counts.pending === 0) return
    if (!sendIsDue(counts.notBefore, now()) || !activeTenant(state, site.tenantId).ok) return
    const limit = counts.failures > 0 ? 1 : SITE_FLIGHTS_MAX
    const held = new Set<string>()
    let after = ''
    for (let looked = 0; looked < ROWS_LOOKED_MAX && this.#hasSlot(bucketId, limit); looked += PAGE_ROWS) {
      const { items, next } = await state.page(siteRanges.siteChanges(bucketId), { after, limit: PAGE_ROWS })
      for (const change of items) {
        const isFirst = !held.has(change.key)
        held.add(change.key)
        if (!this.#hasSlot(bucketId, limit)) return
        if (isFirst && sendIsDue(change.dueAt, now())) this.#begin({ site, change })
      }
      if (next === null) return
      after = next
    }
  }

  #hasSlot(bucketId: string, limit: number): boolean {
    return this.#flying.size < FLIGHTS_MAX && (this.#flightsOf.get(bucketId) ?? 0) < limit
  }

  #begin(flight: Flight): void {
    const { site, change } = flight
    const name = nameOf(flight)
    if (this.#results.isClosed || this.#flying.has(name)) return
    // The page may be older than a result that was committed meanwhile.
    const present = this.#parts.state.get(siteKeys.siteChange(site.bucketId, change.changeId))
    if (present?.attempts !== change.attempts) return
    this.#flying.set(name, change.changeId)
    this.#flightsOf.set(site.bucketId, (this.#flightsOf.get(site.bucketId) ?? 0) + 1)
    this.#results.run(this.#fly(flight, this.#duty.signal))
  }

  async #fly(flight: Flight, duty: AbortSignal): Promise<void> {
    const { site, change } = flight
    const outcome = await this.#attempt(flight, duty)
    if (this.#results.isClosed || duty.aborted || outcome === null) return this.#land(flight)
    this.#verdicts[outcome.verdict]++
    if (outcome.verdict === 'sent') this.#bytes += change.bytes
    const { changeId, attempts } = change
    const jitter = this.#parts.random() * 2 - 1
    const result = { bucketId: site.bucketId, changeId, attempts, jitter, ...outcome }
    await this.#results.take(flight, result)
  }

  /** Null: this node could not read what is to be sent; the next round tries again. */
  async #attempt(
    { site, change }: Flight,
    duty: AbortSignal,
  ): Promise<Pick<SendResult, 'verdict' | 'error' | 'retryAfterMs'> | null> {
    const { send, logger } = this.#parts
    try {
      return { verdict: await send(site, change, duty), error: null, retryAfterMs: null }
    } catch (error) {
      if (error instanceof SiteFault) {
        const { kind: verdict, message, retryAfterMs } = error
        return { verdict, error: message, retryAfterMs }
      }
      if (duty.aborted) return null
      if (error instanceof Condition) return null
      logger.error({ err: error, bucket: site.bucket }, 'change not sent to the other site')
      return { verdict: 'failed', error: 'this cluster could not read the version', retryAfterMs: null }
    }
  }

  /** False: it failed; the next round tries again. */
  async #propose(results: readonly SendResult[]): Promise<boolean> {
    const { propose, logger } = this.#parts
    try {
      const reply = await propose({ type: 'recordSends', results })
      if (!reply.ok) logger.error({ reason: reply.message }, 'results of replication not taken')
      return true
    } catch (err) {
      if (err instanceof Condition) logger.debug({ err }, 'results of replication wait')
      else logger.error({ err }, 'results of replication cannot be committed')
      return false
    }
  }

  #land(flight: Flight): void {
    this.#flying.delete(nameOf(flight))
    const { bucketId } = flight.site
    const left = (this.#flightsOf.get(bucketId) ?? 1) - 1
    if (left === 0) this.#flightsOf.delete(bucketId)
    else this.#flightsOf.set(bucketId, left)
  }

  /** Without waiting for the next round, as long as there is more. */
  async #sendMore(bucketIds: readonly string[]): Promise<void> {
    const { cluster, logger } = this.#parts
    try {
      for (const bucketId of new Set(bucketIds)) if (cluster.isJobRunner()) await this.#fill(bucketId)
    } catch (err) {
      // The next round meets the error again, and logs it.
      logger.debug({ err }, 'replication waits for the next round')
    }
  }
}

function nameOf({ site: { bucketId }, change: { key } }: Flight): string {
  return `${bucketId} ${key}`
}

/** The age of the oldest change that waits. ms; 0: none waits. */
export function lagOf(state: SiteStateRecord, first: SiteChangeRecord | undefined, now: number): number {
  return state.pending === 0 || first === undefined ? 0 : Math.max(0, now - first.time)
}
