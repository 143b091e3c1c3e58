/**
 * Has discarded bodies and parts released, step by step.
 *
 * Owns: the pace, and which parts are named. Knows nothing of: how much one step releases; apply decides that.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { DiscardRecord } from '../state-machine/records.ts'
import type { LevelStateReader } from '../store/level-state-reader.ts'
import type { Propose } from '../store/propose.ts'

const ROWS_PER_ROUND = 16
const PARTS_PER_STEP = 64

export interface DiscardingParts {
  readonly cluster: Pick<Cluster, 'isOnDuty'>
  readonly state: Pick<LevelStateReader, 'discards' | 'parts'>
  readonly propose: Propose
  readonly logger: Logger
}

export class Discarding {
  readonly #parts: DiscardingParts

  constructor(parts: DiscardingParts) {
    this.#parts = parts
  }

  /** One round, a step for each row; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isOnDuty()) return false
    const rows = await state.discards(ROWS_PER_ROUND)
    let released = 0
    for (const row of rows) if (await this.#release(row)) released++
    return released > 0
  }

  async #release({ id, bucketId, what }: DiscardRecord): Promise<boolean> {
    const { state, propose, logger } = this.#parts
    const { parts } =
      what.kind === 'upload' ? await state.parts(bucketId, id, 0, PARTS_PER_STEP) : { parts: [] }
    // Another node has released them since the rows were read.
    if (what.kind === 'upload' && parts.length === 0) return false
    const partNumbers = parts.map(({ partNumber }) => partNumber)
    const reply = await propose({ type: 'releaseDiscarded', id, partNumbers })
    if (!reply.ok) logger.warn({ reason: reply.message }, 'discarded bytes not released')
    else if (reply.value.isDone) logger.debug({ discard: id }, 'discarded bytes released')
    return reply.ok
  }
}
