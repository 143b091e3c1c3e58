/**
 * Recounts the rows now and then, and when somebody asks for it; the collection of garbage stops when the count is wrong.
 *
 * Owns: when. Knows nothing of: how it is counted, what follows from a difference.
 * Rules: a difference is never corrected in silence; a recount that was asked for is done by whoever is on duty, from the
 * beginning if another node had begun it, and given up when it is cancelled.
 */
import type { Cluster, Logger, MetricSample } from '../../cluster/index.ts'
import type { OperationRecord } from '../state-machine/operations/records.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'
import type { Propose } from '../commands/propose.ts'

export interface RecountingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'nodeId'>
  readonly state: Pick<
    LevelStateReader,
    'recount' | 'isCollectionHalted' | 'unfinishedOperations' | 'operation'
  >
  readonly propose: Propose
  readonly everyMs: number
  /** Of this process; only differences count. */
  readonly now: () => number
  readonly logger: Logger
}

const TELL_EVERY_MS = 10_000

export class Recounting {
  readonly #parts: RecountingParts
  #dueAt: number
  #toldAt = 0
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
    const asked = this.#asked()
    if (asked === undefined && now() < this.#dueAt) return false
    if (asked !== undefined) await this.#begin(asked)
    await this.recount(asked?.operationId ?? null)
    this.#dueAt = now() + everyMs
    return false
  }

  /** What is wrong; collection is halted by then. */
  async recount(operationId: string | null): Promise<readonly string[]> {
    const { state, propose, logger, cluster } = this.#parts
    const found = await state.recount((rows) => operationId === null || this.#isWanted(operationId, rows))
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
      {
        name: 'holdfast_recounts_total',
        help: 'Times this node counted all references and usage anew.',
        kind: 'counter',
        value: this.#recounts,
      },
      {
        name: 'holdfast_recount_differences',
        help: 'Differences that the last recount of this node found. Anything but 0 halts the collection of garbage.',
        kind: 'gauge',
        value: this.#differences,
      },
      {
        name: 'holdfast_collection_halted',
        help: '1 while the collection of garbage is halted for the whole cluster.',
        kind: 'gauge',
        value: this.#parts.state.isCollectionHalted() ? 1 : 0,
      },
    ]
  }

  #asked(): OperationRecord | undefined {
    return this.#parts.state.unfinishedOperations().find((one) => one.kind === 'recount' && isWorkable(one))
  }

  /** Says on the way how far it is; whether anybody hears that changes nothing. */
  #isWanted(operationId: string, rows: number): boolean {
    const { state, now } = this.#parts
    const operation = state.operation(operationId)
    if (operation === undefined || !isWorkable(operation)) return false
    if (now() - this.#toldAt >= TELL_EVERY_MS) {
      this.#toldAt = now()
      this.#tell(operation, `, ${rows} so far`).catch(() => undefined)
    }
    return true
  }

  /** Shows that it has begun. Refused is as good: somebody else said so, or it is over. */
  async #begin(operation: OperationRecord): Promise<void> {
    this.#toldAt = this.#parts.now()
    await this.#tell(operation, '')
  }

  async #tell({ operationId, cursor: from }: OperationRecord, more: string): Promise<void> {
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

function isWorkable(operation: OperationRecord | undefined): boolean {
  return operation?.status === 'queued' || operation?.status === 'running'
}
