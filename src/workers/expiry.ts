/**
 * Ends items that have expired: kept answers, and uploads that were not completed.
 *
 * Owns: when expiry is proposed, and for how many items at once. Knows nothing of: clocks; apply decides by the confirmed time of the log.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { RowReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { objectRanges } from '../state-machine/objects/keys.ts'

/** The parts of an upload are not released in the entry that ends it, so an item is a few rows. */
const ITEMS_PER_ROUND = 128

export interface ExpiryParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: Pick<RowReader, 'page'>
  readonly propose: Propose
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  readonly logger: Logger
}

export class Expiry {
  readonly #parts: ExpiryParts

  constructor(parts: ExpiryParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state, propose, confirmedTime, logger } = this.#parts
    if (!cluster.isJobRunner()) return false
    const due = (await state.page(objectRanges.expiries(confirmedTime()), { limit: ITEMS_PER_ROUND })).items
    if (due.length === 0) return false
    const reply = await propose({ type: 'expire', items: due.map(({ at, id }) => ({ at, id })) })
    if (!reply.ok) {
      logger.warn({ reason: reply.message }, 'nothing expired')
      return false
    }
    logger.debug({ items: reply.value.expired }, 'expired')
    // Fewer, when the log is behind this clock: a later round proposes the rest.
    return reply.value.expired === ITEMS_PER_ROUND
  }
}
