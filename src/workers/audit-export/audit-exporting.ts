/**
 * Delivers the audit log outside of the cluster, at least once and in the order of the chain.
 *
 * Owns: which batch is next, and when it counts as delivered. Knows nothing of: forms, sockets.
 * Rules: the place is recorded in the log after the receiver has taken a batch, so a crash or another leader repeats at most what was
 * under way; no link is passed over but one that was trimmed before, which is counted; a segment that cannot be read is waited for.
 */
import {
  Condition,
  counter,
  gauge,
  type Cluster,
  type Logger,
  type MetricSample,
} from '../../../cluster/index.ts'
import type { Propose } from '../../commands/propose.ts'
import { type AuditWalkParts, forwards } from '../../operations/audit/audit-walk.ts'
import type { SealedLink } from '../../operations/audit-segments/segment-format.ts'
import { auditHead } from '../../state-machine/audit/append.ts'
import { auditRowKeys } from '../../state-machine/audit/keys.ts'
import { RetryWait } from '../base/retry-wait.ts'
import { type ExportBatch, type ExportedRow, rowsOfLink } from './export-batch.ts'
import { ExportError, type ExportTarget } from './export-target.ts'

/** A batch ends behind the link that reaches one of these. */
const BATCH_ROWS_MIN = 1_000
const BATCH_CHARACTERS_MIN = 512 * 1024
const BATCHES_PER_ROUND = 16

export interface AuditExportingParts extends AuditWalkParts {
  readonly cluster: Pick<Cluster, 'clusterId' | 'isJobRunner'>
  readonly target: ExportTarget
  readonly propose: Propose
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number
  readonly logger: Logger
}

export class AuditExporting {
  readonly #parts: AuditExportingParts
  readonly #retry = new RetryWait()
  #rows = 0
  #refused = 0
  #skipped = 0

  constructor(parts: AuditExportingParts) {
    this.#parts = parts
  }

  /** One round, unless the last failure is too recent; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, monotonic, logger } = this.#parts
    if (!cluster.isJobRunner() || !this.#retry.isDue(monotonic())) return false
    try {
      const isMore = await this.#deliverSome()
      if (this.#retry.ended()) logger.info({}, 'audit log is exported again')
      return isMore
    } catch (err) {
      const reason = err instanceof ExportError ? err.reason : err instanceof Condition ? err.code : 'error'
      const { failures, isNews } = this.#retry.failed(monotonic(), reason)
      if (isNews) logger.warn({ err, failures }, 'audit log cannot be exported')
      if (err instanceof ExportError) return false
      throw err
    }
  }

  close(): Promise<void> {
    return this.#parts.target.close()
  }

  /** Called at every scrape. */
  samples(): readonly MetricSample[] {
    const rows = 'Rows of the audit log that this node has delivered outside.'
    const counters: readonly MetricSample[] = [
      counter('holdfast_audit_export_rows_total', rows, this.#rows),
      counter(
        'holdfast_audit_export_failures_total',
        'Batches of the audit log that a receiver outside has not confirmed.',
        this.#retry.total,
      ),
      counter(
        'holdfast_audit_export_refused_rows_total',
        'Rows that the receiver has refused for good.',
        this.#refused,
      ),
      counter(
        'holdfast_audit_export_skipped_links_total',
        'Links of the audit log that were trimmed before they were delivered.',
        this.#skipped,
      ),
    ]
    return [...this.#lag(), ...counters]
  }

  #lag(): readonly MetricSample[] {
    try {
      const { state, now } = this.#parts
      const { next } = this.#place()
      const waiting = auditHead(state).next - next
      const time = waiting === 0 ? null : this.#timeOf(next)
      return [
        gauge(
          'holdfast_audit_export_lag_links',
          'Links of the audit log that were not delivered outside yet.',
          waiting,
        ),
        gauge(
          'holdfast_audit_export_lag_seconds',
          'Age of the oldest of them.',
          time === null ? 0 : Math.max(0, now() - time) / 1000,
        ),
      ]
    } catch (cause) {
      // The state is being replaced.
      if (cause instanceof Condition) return []
      throw cause
    }
  }

  /** In the middle of a segment that of the last delivery. */
  #timeOf(next: number): number | null {
    const { state } = this.#parts
    const link = state.get(auditRowKeys.auditLink(next))?.time
    const segment = state.get(auditRowKeys.auditSegment(next))?.firstTime
    return link ?? segment ?? state.get(auditRowKeys.auditExport())?.time ?? null
  }

  /** The first link that was not delivered, or the oldest that is kept. */
  #place(): { readonly next: number; readonly hash: string } {
    const { state } = this.#parts
    const known = state.get(auditRowKeys.auditExport())
    const { first, anchor } = auditHead(state)
    return known !== undefined && known.next >= first ? known : { next: first, hash: anchor }
  }

  async #deliverSome(): Promise<boolean> {
    const { state, cluster } = this.#parts
    const { next, hash } = this.#place()
    const end = auditHead(state).next
    const batch = new Gathering(cluster.clusterId, next, hash)
    let sent = 0
    for await (const step of forwards(this.#parts, next, end)) {
      if (step.kind === 'segment') continue
      if (step.kind === 'gap') {
        await this.#deliver(batch)
        throw new Condition('not_enough_replicas', `Cannot export the audit log: ${step.fault}`)
      }
      // Links were trimmed while they were read: the next round begins at those that are kept.
      if (!batch.take(step.link)) break
      if (!batch.isFull) continue
      await this.#deliver(batch)
      sent++
      if (sent === BATCHES_PER_ROUND || !cluster.isJobRunner()) return cluster.isJobRunner()
    }
    await this.#deliver(batch)
    return false
  }

  async #deliver(gathered: Gathering): Promise<void> {
    const batch = gathered.end()
    if (batch === null) return
    const { target, propose, state, logger } = this.#parts
    const refused = await target.send(batch)
    const skipped = batch.first - (state.get(auditRowKeys.auditExport())?.next ?? batch.first)
    const { next, hash, first, rows } = batch
    const reply = await propose({ type: 'recordAuditExport', next, hash })
    if (!reply.ok) throw new Condition('slow_down', reply.message)
    this.#rows += rows.length
    this.#refused += refused
    if (refused > 0) logger.error({ first, next, refused }, 'receiver refused audit rows')
    if (skipped <= 0) return
    this.#skipped += skipped
    logger.error({ first, skipped }, 'audit links were trimmed before they were exported')
  }
}

/** The batch that is being made. */
class Gathering {
  readonly #clusterId: string
  #first: number
  #before: string
  #next: number
  #hash: string
  #time = 0
  #rows: ExportedRow[] = []
  #characters = 0

  constructor(clusterId: string, next: number, hash: string) {
    this.#clusterId = clusterId
    this.#first = next
    this.#before = hash
    this.#next = next
    this.#hash = hash
  }

  get isFull(): boolean {
    return this.#rows.length >= BATCH_ROWS_MIN || this.#characters >= BATCH_CHARACTERS_MIN
  }

  /** False: it does not follow. */
  take(link: SealedLink): boolean {
    if (link.sequence !== this.#next) return false
    const rows = rowsOfLink(link)
    this.#rows.push(...rows)
    this.#characters += rows.reduce((sum, { json }) => sum + json.length, 0)
    this.#next = link.sequence + 1
    this.#hash = link.hash
    this.#time = link.time
    return true
  }

  /** Null: nothing was gathered. The next batch continues behind this one. */
  end(): ExportBatch | null {
    if (this.#next === this.#first) return null
    const batch = {
      clusterId: this.#clusterId,
      first: this.#first,
      next: this.#next,
      before: this.#before,
      hash: this.#hash,
      time: this.#time,
      rows: this.#rows,
    }
    this.#first = this.#next
    this.#before = this.#hash
    this.#rows = []
    this.#characters = 0
    return batch
  }
}
