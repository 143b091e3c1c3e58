/**
 * Recounts the rows now and then, and stops the collection of garbage when the count is wrong.
 *
 * Owns: when, and what follows. Knows nothing of: how it is counted.
 * Rule: a difference is never corrected in silence. Until somebody has looked, nothing that is counted wrongly may be
 * taken for unreferenced.
 */
import type { Cluster, Logger, MetricSample } from '../../cluster/index.ts'
import type { LevelStateReader } from '../store/level-state-reader.ts'
import type { Propose } from '../store/propose.ts'

export interface RecountingParts {
  readonly cluster: Pick<Cluster, 'isOnDuty'>
  readonly state: Pick<LevelStateReader, 'recount' | 'isCollectionHalted'>
  readonly propose: Propose
  readonly everyMs: number
  /** Of this process; only differences count. */
  readonly now: () => number
  readonly logger: Logger
}

export class Recounting {
  readonly #parts: RecountingParts
  #dueAt: number
  #recounts = 0
  #differences = 0

  constructor(parts: RecountingParts) {
    this.#parts = parts
    this.#dueAt = parts.now() + parts.everyMs
  }

  /** One round of a worker; there is never more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, now, everyMs } = this.#parts
    if (!cluster.isOnDuty() || now() < this.#dueAt) return false
    await this.recount()
    this.#dueAt = now() + everyMs
    return false
  }

  /** What is wrong; collection is halted by then. */
  async recount(): Promise<readonly string[]> {
    const { state, propose, logger } = this.#parts
    const differences = await state.recount()
    if (differences === null) return []
    this.#recounts++
    this.#differences = differences.length
    if (differences.length === 0) {
      logger.info({}, 'rows recounted, nothing differs')
      return differences
    }
    logger.error({ differences }, 'recount differs, collection is halted')
    await propose({ type: 'haltCollection', reason: `recount: ${differences[0] ?? ''}` })
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
}
