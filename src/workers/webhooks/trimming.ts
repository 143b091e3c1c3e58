/**
 * Keeps the log of deliveries bounded, and removes the deliveries of a removed hook.
 *
 * Owns: how long settled deliveries are kept. Knows nothing of: whether a row may be removed; apply refuses to remove one that is still owed.
 */
import type { Cluster, Logger } from '../../../cluster/index.ts'
import type { DeliveryRecord, HookRecord } from '../../state-machine/events/records.ts'
import type { RowReader } from '../../store/reads/state-reader.ts'
import type { Propose } from '../../commands/propose.ts'
import { eventRanges } from '../../state-machine/events/keys.ts'
import { dueDeliveries, settledDeliveries } from '../../store/reads/outbox-reads.ts'

const DAY_MS = 86_400_000
/** For each hook: this many, and none that was settled longer ago. */
export const KEPT = {
  delivered: { rows: 1000, ms: 7 * DAY_MS },
  dead: { rows: 10_000, ms: 30 * DAY_MS },
} as const
const HOOKS_PER_ROUND = 64
const ROWS_PER_COMMAND = 256
/** Of one hook, before the next one has its turn. */
const COMMANDS_PER_TURN = 16
const END_OF_TIME = 8_640_000_000_000_000

export interface TrimmingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: RowReader
  readonly propose: Propose
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  readonly logger: Logger
}

export class Trimming {
  readonly #parts: TrimmingParts
  #after = ''

  constructor(parts: TrimmingParts) {
    this.#parts = parts
  }

  /** Some hooks; resolves with true when there are more. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isJobRunner()) {
      this.#after = ''
      return false
    }
    const { items, next } = await state.page(eventRanges.hooks(), {
      after: this.#after,
      limit: HOOKS_PER_ROUND,
    })
    let isLeft = false
    for (const hook of items) isLeft = (await this.#trim(hook)) || isLeft
    if (isLeft) return true
    this.#after = next ?? ''
    return next !== null
  }

  /** True: more deliveries can be removed. */
  async #trim(hook: HookRecord): Promise<boolean> {
    const left = { delivered: hook.delivered, dead: hook.dead }
    for (let turn = 0; turn < COMMANDS_PER_TURN; turn++) {
      const rows = hook.state === 'removed' ? await this.#remains(hook) : await this.#old(hook, left)
      if (rows.length === 0) return false
      const eventIds = rows.map(({ eventId }) => eventId)
      const { bucketId, hookId } = hook
      const reply = await this.#parts.propose({ type: 'forgetDeliveries', bucketId, hookId, eventIds })
      if (!reply.ok) {
        this.#parts.logger.error({ reason: reply.message }, 'deliveries not forgotten')
        return false
      }
      for (const { status } of rows) if (status !== 'pending') left[status]--
    }
    return true
  }

  async #remains(hook: HookRecord): Promise<readonly DeliveryRecord[]> {
    const { state } = this.#parts
    const waiting = await dueDeliveries(state, hook, END_OF_TIME, ROWS_PER_COMMAND)
    if (waiting.length > 0) return waiting
    const dead = await settledDeliveries(state, hook, 'dead', ROWS_PER_COMMAND)
    return dead.length > 0 ? dead : settledDeliveries(state, hook, 'delivered', ROWS_PER_COMMAND)
  }

  /** Deliveries beyond the number or age kept. `left`: their number by status. */
  async #old(
    hook: HookRecord,
    left: Readonly<Record<keyof typeof KEPT, number>>,
  ): Promise<readonly DeliveryRecord[]> {
    const { state, confirmedTime } = this.#parts
    for (const status of ['delivered', 'dead'] as const) {
      if (left[status] === 0) continue
      const { rows, ms } = KEPT[status]
      const oldest = await settledDeliveries(state, hook, status, ROWS_PER_COMMAND)
      const over = left[status] - rows
      const end = confirmedTime() - ms
      const going = oldest.filter(({ settledAt }, n) => n < over || (settledAt ?? 0) < end)
      if (going.length > 0) return going
    }
    return []
  }
}
