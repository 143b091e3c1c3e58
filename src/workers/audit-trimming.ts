/**
 * Has the audit log trimmed to what the configuration keeps.
 *
 * Owns: when. Knows nothing of: clocks; which links go is decided by apply, by their times.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'
import type { Propose } from '../commands/propose.ts'

export interface AuditTrimmingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: { readonly audit: Pick<LevelStateReader['audit'], 'oldestTime'> }
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
    const oldest = state.audit.oldestTime()
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
