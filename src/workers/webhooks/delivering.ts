/**
 * Sends the pending deliveries of the outbox to their webhooks, and commits the results.
 *
 * Owns: which delivery is tried now, and that none is tried twice at a time here. Knows nothing of: schedules; apply decides
 * from a result when the next attempt is due, or that there is none.
 * Rules: a row leaves the queue only by a committed result, so the next job runner continues; a delivery that was sent without a
 * committed result is sent again, under the same id. While results cannot be committed they are kept, and nothing is sent in their place.
 */
import { eventKeys } from '../../state-machine/events/keys.ts'
import { Condition, type Cluster, type Logger, type MetricSample } from '../../../cluster/index.ts'
import { deliveryId } from '../../operations/notifications/delivery-id.ts'
import type { AttemptResult } from '../../state-machine/events/commands.ts'
import type { DeliveryName, DeliveryRecord, HookRecord } from '../../state-machine/events/records.ts'
import { hasCome } from '../../state-machine/events/delivery-schedule.ts'
import { isBusy, outboxTotal } from '../../state-machine/events/hooks.ts'
import type { RowReader } from '../../store/reads/state-reader.ts'
import type { Propose } from '../../commands/propose.ts'
import { CommittedResults } from '../base/committed-results.ts'
import { DeliverySlots } from './delivery-slots.ts'
import { payloadOf } from './payload.ts'
import { signatureHeaders } from './signature.ts'
import type { Answered, WebhookPost } from './webhook-sender.ts'
import { busyHooks, dueDeliveries } from '../../store/reads/outbox-reads.ts'

const HOOKS_PER_ROUND = 256
/** Later than anything is due. */
const END_OF_TIME = 8_640_000_000_000_000

export interface DeliveringParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: RowReader
  readonly propose: Propose
  readonly sender: { post(post: WebhookPost): Promise<Answered>; close(): Promise<void> }
  /** The secret of a hook; throws when no key of this node opens it. */
  readonly secretOf: (hook: HookRecord) => Uint8Array
  /** The clock that due times are compared with, ms since 1970: it continues from the time of the log, which made them. */
  readonly now: () => number
  /** The hour as the cluster knows it, with which a delivery is signed: receivers compare it with their clocks. ms since 1970 */
  readonly hour: () => number
  /** [0, 1) */
  readonly random: () => number
  readonly logger: Logger
}

interface Flight {
  readonly hook: HookRecord
  readonly delivery: DeliveryRecord
}

export class Delivering {
  readonly #parts: DeliveringParts
  readonly #slots = new DeliverySlots()
  /** Row keys of deliveries that were sent and whose result is not committed yet. */
  readonly #flying = new Set<string>()
  readonly #results: CommittedResults<Flight, AttemptResult>
  #after = ''
  readonly #counts = { taken: 0, failed: 0, gone: 0 }
  /** The time of the oldest event at the head of a queue, for the walk that ended and for the one under way. */
  #oldest: { seen: number | null; walking: number | null } = { seen: null, walking: null }

  constructor(parts: DeliveringParts) {
    this.#parts = parts
    this.#results = new CommittedResults({
      propose: (results) => this.#propose(results),
      land: (flight) => this.#land(flight),
      sendMore: (flights) => this.#sendMore(flights.map(({ hook }) => hook)),
    })
  }

  /** Starts due deliveries within their limits; resolves with true when there are more hooks to look at. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    this.#results.retry()
    if (!cluster.isJobRunner()) {
      this.#after = ''
      this.#oldest = { seen: null, walking: null }
      return false
    }
    const { items, next } = await busyHooks(state, { after: this.#after, limit: HOOKS_PER_ROUND })
    for (const hook of items) await this.#fill(hook)
    this.#after = next ?? ''
    if (next === null) this.#oldest = { seen: this.#oldest.walking, walking: null }
    return next !== null
  }

  /** Aborts attempts under way: the next job runner tries them again. */
  async close(): Promise<void> {
    this.#results.close()
    await this.#parts.sender.close()
    await this.idle()
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.#results.idle()
  }

  samples(): readonly MetricSample[] {
    const help = 'Attempts to deliver a notification, by what came of them.'
    const name = 'holdfast_webhook_deliveries_total'
    const attempts = Object.entries(this.#counts).map(([result, value]) => {
      return { name, help, kind: 'counter', value, labels: { result } } as const
    })
    const { seen } = this.#oldest
    const oldest = {
      name: 'holdfast_webhook_oldest_seconds',
      help: 'Age of the oldest event at the head of a queue that is being delivered; on the node that delivers.',
      kind: 'gauge',
      value: seen === null ? 0 : Math.max(0, (this.#parts.now() - seen) / 1000),
    } as const
    return [...attempts, oldest, ...this.#outboxSamples()]
  }

  #outboxSamples(): readonly MetricSample[] {
    const total = this.#total()
    if (total === null) return []
    const { dropped, ...rows } = total
    const help = 'Notifications by what became of them: waiting, given up, delivered and still in the log.'
    const name = 'holdfast_webhook_outbox_rows'
    const samples = Object.entries(rows).map(([status, value]) => {
      return { name, help, kind: 'gauge', value, labels: { status } } as const
    })
    const dropHelp =
      'Events that no notification was made of, because its config or tenant has too many already.'
    return [
      ...samples,
      { name: 'holdfast_webhook_dropped_total', help: dropHelp, kind: 'counter', value: dropped },
    ]
  }

  /** Null while the state may not be read. */
  #total() {
    try {
      return outboxTotal(this.#parts.state)
    } catch (error) {
      if (error instanceof Condition) return null
      throw error
    }
  }

  /** As many deliveries as this hook may have under way. */
  async #fill(hook: HookRecord): Promise<void> {
    const { state, now } = this.#parts
    const limit = this.#slots.freeFor(hook) + this.#slots.takenBy(hook.hookId)
    const waiting = await dueDeliveries(state, hook, END_OF_TIME, Math.max(1, limit))
    const [head] = waiting
    if (head !== undefined) this.#oldest.walking = Math.min(this.#oldest.walking ?? Infinity, head.time)
    if (!hasCome(hook.notBefore, now())) return
    for (const delivery of waiting) {
      if (this.#slots.freeFor(hook) === 0) return
      // Ordered by due time, but deliveries made due before the time of the log was set back come last.
      if (!hasCome(delivery.dueAt, now())) continue
      this.#begin({ hook, delivery })
    }
  }

  #begin(flight: Flight): void {
    const name = nameOf(flight)
    const key = eventKeys.delivery(name)
    if (this.#results.isClosed || this.#flying.has(key)) return
    // A delivery may have been settled since its index row was read.
    const present = this.#parts.state.get(eventKeys.delivery(name))
    if (present?.status !== 'pending' || present.attempts !== flight.delivery.attempts) return
    this.#slots.take(flight.hook)
    this.#flying.add(key)
    this.#results.run(this.#fly(flight))
  }

  async #fly(flight: Flight): Promise<void> {
    const answered = await this.#attempt(flight)
    if (this.#results.isClosed) return this.#land(flight)
    const verdict = answered.error === null ? 'taken' : answered.status === 410 ? 'gone' : 'failed'
    this.#counts[verdict]++
    const jitter = this.#parts.random() * 2 - 1
    const { attempts } = flight.delivery
    const result: AttemptResult = { ...nameOf(flight), ...answered, attempts, verdict, jitter }
    await this.#results.take(flight, result)
  }

  async #attempt({ hook, delivery }: Flight): Promise<Answered> {
    const { sender, secretOf, hour, logger } = this.#parts
    try {
      const body = payloadOf(hook, delivery)
      const headers = signatureHeaders(secretOf(hook), { id: deliveryId(delivery), time: hour(), body })
      return await sender.post({ tenantId: hook.tenantId, url: hook.url, headers, body })
    } catch (err) {
      logger.error({ err, hook: hook.hookId }, 'notification not sent')
      return { status: null, error: 'the signing secret cannot be opened', retryAfterMs: null, durationMs: 0 }
    }
  }

  /** False: it failed; the next round tries again. */
  async #propose(results: readonly AttemptResult[]): Promise<boolean> {
    const { propose, logger } = this.#parts
    try {
      const reply = await propose({ type: 'recordAttempts', results })
      if (!reply.ok) logger.error({ reason: reply.message }, 'results of notifications not taken')
      return true
    } catch (err) {
      if (err instanceof Condition) logger.debug({ err }, 'results of notifications wait')
      else logger.error({ err }, 'results of notifications cannot be committed')
      return false
    }
  }

  #land(flight: Flight): void {
    this.#flying.delete(eventKeys.delivery(nameOf(flight)))
    this.#slots.release(flight.hook)
  }

  /** Without waiting for the next round, as long as there is more. */
  async #sendMore(hooks: readonly HookRecord[]): Promise<void> {
    const { state, cluster, logger } = this.#parts
    try {
      for (const { bucketId, hookId } of new Map(hooks.map((one) => [one.hookId, one])).values()) {
        const hook = state.get(eventKeys.hook(bucketId, hookId))
        if (hook !== undefined && isBusy(hook) && cluster.isJobRunner()) await this.#fill(hook)
      }
    } catch (err) {
      // The next round meets the error again, and logs it.
      logger.debug({ err }, 'notifications wait for the next round')
    }
  }
}

function nameOf({ hook: { bucketId, hookId }, delivery: { eventId } }: Flight): DeliveryName {
  return { bucketId, hookId, eventId }
}
