/**
 * Releases discarded bodies and parts, step by step.
 *
 * Owns: the pace, the delay, and which bodies and parts are named. Knows nothing of: how much one step releases; apply decides that.
 * Rule: the body of a version waits as long as a condemned chunk does, because a download of it may be under way; a body that was never
 * part of an object does not wait.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import { ITEMS_PER_COMMAND_MAX } from '../state-machine/base/batch-bound.ts'
import type { DiscardRecord } from '../state-machine/bodies/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { DelayMarks } from './delay-marks.ts'
import { bodyRanges } from '../state-machine/bodies/keys.ts'
import { lastRow } from '../store/reads/row-page.ts'
import { pageOfParts } from '../store/reads/part-listing.ts'

const ROWS_PER_ROUND = 16
const PARTS_PER_STEP = 64

export interface DiscardingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: Pick<StateReader, 'page' | 'lease'>
  readonly propose: Propose
  readonly delayMs: number
  /** Of this process; only differences count. ms */
  readonly now: () => number
  readonly logger: Logger
}

export class Discarding {
  readonly #parts: DiscardingParts
  readonly #marks: DelayMarks

  constructor(parts: DiscardingParts) {
    this.#parts = parts
    this.#marks = new DelayMarks(parts)
  }

  /** One round: a step for each row, and one for the bodies that are due. Resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isJobRunner()) {
      this.#marks.clear()
      return false
    }
    const rows = (await state.page(bodyRanges.discards(), { limit: ROWS_PER_ROUND })).items
    let released = 0
    for (const row of rows) if (await this.#release(row)) released++
    return (await this.#releaseDue()) || released > 0
  }

  async #releaseDue(): Promise<boolean> {
    const { state, propose, logger } = this.#parts
    const upTo = this.#marks.dueUpTo((await lastRow(state, bodyRanges.discarded()))?.discardedAt ?? null)
    if (upTo < 0) return false
    const bodies = (await state.page(bodyRanges.discarded(), { limit: ITEMS_PER_COMMAND_MAX })).items
    const items = bodies
      .filter(({ discardedAt }) => discardedAt <= upTo)
      .map(({ discardedAt, id }) => ({ discardedAt, id }))
    if (items.length === 0) return false
    const reply = await propose({ type: 'releaseDue', upTo, items })
    if (!reply.ok) logger.warn({ reason: reply.message }, 'discarded bodies not released')
    else logger.debug({ bodies: reply.value.released }, 'discarded bodies released')
    return reply.ok && reply.value.released > 0
  }

  async #release({ id, bucketId, what }: DiscardRecord): Promise<boolean> {
    const { state, propose, logger } = this.#parts
    const { parts } =
      what.kind === 'upload'
        ? await pageOfParts(state, { bucketId, uploadId: id }, { after: 0, limit: PARTS_PER_STEP })
        : { parts: [] }
    // Another node has released them since the rows were read.
    if (what.kind === 'upload' && parts.length === 0) return false
    const partNumbers = parts.map(({ partNumber }) => partNumber)
    const reply = await propose({ type: 'releaseDiscarded', id, partNumbers })
    if (!reply.ok) logger.warn({ reason: reply.message }, 'discarded bytes not released')
    else if (reply.value.isDone) logger.debug({ discard: id }, 'discarded bytes released')
    return reply.ok
  }
}
