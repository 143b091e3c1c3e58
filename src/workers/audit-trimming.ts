/**
 * Trims the audit log to the configured retention time.
 *
 * Owns: when. Knows nothing of: clocks; apply decides which links are removed, by their times.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { View } from '../state-machine/base/view.ts'
import type { Propose } from '../commands/propose.ts'
import { oldestAuditTime } from '../store/reads/audit-rows.ts'

export interface AuditTrimmingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: View
  readonly propose: Propose
  readonly keepMs: number
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  readonly logger: Logger
}

export class AuditTrimming {
  readonly #parts: AuditTrimmingParts

  constructor(parts: AuditTrimmingParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state, propose, keepMs, confirmedTime, logger } = this.#parts
    if (!cluster.isJobRunner()) return false
    const before = confirmedTime() - keepMs
    const oldest = oldestAuditTime(state)
    if (oldest === null || oldest >= before) return false
    const reply = await propose({ type: 'trimAudit', before })
    if (!reply.ok) {
      logger.warn({ reason: reply.message }, 'audit log not trimmed')
      return false
    }
    logger.debug({ links: reply.value.trimmed }, 'audit log trimmed')
    return reply.value.isMore
  }
}
