/**
 * Recounts the rows at intervals and on request; the collection of garbage stops when the count is wrong.
 *
 * Owns: when rows are counted. Knows nothing of: how, what follows from a difference.
 * Rules: a difference is never corrected in silence; the current job runner does a requested recount, from the
 * beginning if another node had started it, and gives it up when it is cancelled.
 */
import { counter, gauge, type Cluster, type Logger, type MetricSample } from '../../cluster/index.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import { settingsOf } from '../state-machine/chunks/collection.ts'
import { recountState } from '../store/reads/recount-state.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'

export interface RecountingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'nodeId'>
  readonly state: StateReader
  readonly propose: Propose
  readonly everyMs: number
  /** Of this process; only differences count. */
  readonly now: () => number
  readonly logger: Logger
}

const REPORT_EVERY_MS = 10_000

export class Recounting {
  readonly #parts: RecountingParts
  #dueAt: number
  #reportedAt = 0
  #recounts = 0
  #differences = 0

  constructor(parts: RecountingParts) {
    this.#parts = parts
    this.#dueAt = parts.now() + parts.everyMs
  }

  /** One round of a worker; there is never more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, now, everyMs } = this.#parts
    if (!cluster.isJobRunner()) return false
    const requested = this.#requested()
    if (requested === undefined && now() < this.#dueAt) return false
    if (requested !== undefined) await this.#begin(requested)
    await this.recount(requested?.operationId ?? null)
    this.#dueAt = now() + everyMs
    return false
  }

  /** Returns the differences; collection is halted by then. */
  async recount(operationId: string | null): Promise<readonly string[]> {
    const { state, propose, logger, cluster } = this.#parts
    const found = await recountState(
      state,
      (rows) => operationId === null || this.#isWanted(operationId, rows),
    )
    if (found === null) return []
    const { rows, differences } = found
    this.#recounts++
    this.#differences = differences.length
    if (differences.length === 0) logger.info({ rows }, 'rows recounted, nothing differs')
    else logger.error({ rows, differences }, 'recount differs, collection is halted')
    const finding = { rows, differences: differences.length, first: differences[0] ?? null }
    await propose({ type: 'finishRecount', operationId, node: cluster.nodeId, ...finding })
    return differences
  }

  metrics(): readonly MetricSample[] {
    return [
      counter(
        'holdfast_recounts_total',
        'Times this node counted all references and usage again.',
        this.#recounts,
      ),
      gauge(
        'holdfast_recount_differences',
        'Differences that the last recount of this node found. Anything but 0 halts the collection of garbage.',
        this.#differences,
      ),
      gauge(
        'holdfast_collection_halted',
        '1 while the collection of garbage is halted for the whole cluster.',
        this.#isCollectionHalted() ? 1 : 0,
      ),
    ]
  }

  /** False while nothing may be read. */
  #isCollectionHalted(): boolean {
    const { state } = this.#parts
    return state.usable !== null && settingsOf(state).collectionHalted !== null
  }

  #requested(): LongOperation | undefined {
    return unfinishedOperations(this.#parts.state).find((one) => one.kind === 'recount' && isWorkable(one))
  }

  /** Reports progress on the way; a lost report changes nothing. */
  #isWanted(operationId: string, rows: number): boolean {
    const { state, now } = this.#parts
    const operation = state.get(longOperationKeys.operation(operationId))
    if (operation === undefined || !isWorkable(operation)) return false
    if (now() - this.#reportedAt >= REPORT_EVERY_MS) {
      this.#reportedAt = now()
      this.#report(operation, `, ${rows} so far`).catch(() => undefined)
    }
    return true
  }

  /** Reports that it has started. A refusal is fine: another node has reported it, or the operation is over. */
  async #begin(operation: LongOperation): Promise<void> {
    this.#reportedAt = this.#parts.now()
    await this.#report(operation, '')
  }

  async #report({ operationId, cursor: from }: LongOperation, more: string): Promise<void> {
    const phase = `counting rows on ${this.#parts.cluster.nodeId}${more}`
    await this.#parts.propose({
      type: 'advanceOperation',
      operationId,
      from,
      cursor: from,
      phase,
      counted: {},
    })
  }
}

function isWorkable(operation: LongOperation | undefined): boolean {
  return operation?.status === 'queued' || operation?.status === 'running'
}
