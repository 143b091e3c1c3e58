/**
 * Has the audit log trimmed to what the configuration keeps.
 *
 * Owns: when. Knows nothing of: which links go; apply decides by their times.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { LevelStateReader } from '../store/level-state-reader.ts'
import type { Propose } from '../store/propose.ts'

export interface AuditTrimmingParts {
  readonly cluster: Pick<Cluster, 'isOnDuty'>
  readonly state: Pick<LevelStateReader, 'oldestAuditTime'>
  readonly propose: Propose
  readonly keepMs: number
  /** Milliseconds since 1970 by this node's clock, which stamps the log while it leads. */
  readonly now: () => number
  readonly logger: Logger
}

export class AuditTrimming {
  readonly #parts: AuditTrimmingParts

  constructor(parts: AuditTrimmingParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state, propose, keepMs, now, logger } = this.#parts
    if (!cluster.isOnDuty()) return false
    const before = now() - keepMs
    const oldest = state.oldestAuditTime()
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
