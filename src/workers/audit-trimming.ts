/**
 * Trims the audit log to the configured retention time and size.
 *
 * Owns: when. Knows nothing of: clocks; apply decides which links are removed, by their times.
 */
import { gauge, type Cluster, type Logger, type MetricSample } from '../../cluster/index.ts'
import { auditHead } from '../state-machine/audit/append.ts'
import type { View } from '../state-machine/base/view.ts'
import type { Propose } from '../commands/propose.ts'
import { AuditSize } from './audit-size.ts'
import { oldestAuditTime } from '../store/reads/audit-rows.ts'

export interface AuditTrimmingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: View
  readonly propose: Propose
  readonly keepMs: number
  /** Of one copy of the segments; 0: no bound. */
  readonly bytesMax: number
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  readonly logger: Logger
}

export class AuditTrimming {
  readonly #parts: AuditTrimmingParts
  readonly #size = new AuditSize()
  #bytes: number | null = null

  constructor(parts: AuditTrimmingParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state, propose, keepMs, confirmedTime, logger } = this.#parts
    if (!cluster.isJobRunner()) {
      this.#bytes = null
      return false
    }
    if (await this.#trimToSize()) return true
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

  /** Called at every scrape. The node that trims knows the size. */
  samples(): readonly MetricSample[] {
    const bytes: MetricSample = gauge(
      'holdfast_audit_log_bytes',
      'Bytes of the segments of the audit log, one copy of each.',
      this.#bytes ?? 0,
    )
    const most: MetricSample = gauge(
      'holdfast_audit_log_max_bytes',
      'The most of them that are kept; 0: no bound.',
      this.#parts.bytesMax,
    )
    return this.#bytes === null ? [most] : [bytes, most]
  }

  /** True: there is more to do at once. */
  async #trimToSize(): Promise<boolean> {
    const { state, propose, bytesMax, confirmedTime, logger } = this.#parts
    const bytes = this.#size.look(state)
    if (bytes === null) return false
    this.#bytes = bytes
    if (bytesMax === 0 || bytes <= bytesMax) return false
    const excess = this.#size.oldest(state, bytes - bytesMax)
    if (excess === null || excess.lastTime >= confirmedTime()) return false
    const reply = await propose({ type: 'trimAudit', before: excess.lastTime + 1 })
    if (!reply.ok) {
      logger.warn({ reason: reply.message }, 'audit log not trimmed')
      return false
    }
    if (auditHead(state).first === excess.next) this.#size.trimmed(excess)
    logger.warn({ links: reply.value.trimmed, bytes, bytesMax }, 'audit log trimmed to audit.max_bytes')
    return true
  }
}
