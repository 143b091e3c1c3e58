/**
 * Collects chunks whose condemnation is older than a delay, and closes the sessions of nodes that are no longer members.
 *
 * Owns: which chunks are proposed, and when. Knows nothing of: whether that is safe; apply decides it again.
 * Rule: the delay only spares reads of an object that is deleted meanwhile; no safety depends on it, and it may be 0.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import { ITEMS_PER_COMMAND_MAX } from '../state-machine/base/batch-bound.ts'
import type { CondemnedRecord } from '../state-machine/chunks/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { DelayMarks } from './delay-marks.ts'
import { chunkRanges } from '../state-machine/chunks/keys.ts'
import { lastRow } from '../store/reads/row-page.ts'
import { openUploadSessions } from '../store/reads/chunk-reads.ts'
import { heldAfter } from '../state-machine/long-operations/backups.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import { settingsOf } from '../state-machine/chunks/collection.ts'

export interface CollectionParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: StateReader
  readonly propose: Propose
  readonly members: () => readonly string[]
  readonly delayMs: number
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  /** Of this process; only differences count. */
  readonly now: () => number
  readonly logger: Logger
}

export class Collection {
  readonly #parts: CollectionParts
  readonly #marks: DelayMarks

  constructor(parts: CollectionParts) {
    this.#parts = parts
    this.#marks = new DelayMarks(parts)
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    if (!cluster.isJobRunner()) {
      this.#marks.clear()
      return false
    }
    await this.#closeUnknown()
    if (settingsOf(state).collectionHalted !== null) return false
    const due = this.#marks.dueUpTo((await lastRow(state, chunkRanges.condemned()))?.condemnedAt ?? null)
    const keptAfter = heldAfter(unfinishedOperations(state), this.#parts.confirmedTime())
    const queue = (await state.page(chunkRanges.condemned(), { limit: ITEMS_PER_COMMAND_MAX })).items
    const chunks = queue.filter(({ condemnedAt }) => condemnedAt <= due && condemnedAt <= keptAfter)
    if (chunks.length === 0) return false
    const collected = await this.#collect(chunks)
    return collected === ITEMS_PER_COMMAND_MAX
  }

  async #collect(chunks: readonly CondemnedRecord[]): Promise<number> {
    const { propose, logger } = this.#parts
    const reply = await propose({ type: 'collectChunks', chunks })
    if (!reply.ok) {
      logger.warn({ reason: reply.message }, 'chunks not collected')
      return 0
    }
    logger.debug({ chunks: reply.value.collected }, 'chunks collected')
    return reply.value.collected
  }

  /** A node that left uploads nothing more: the chunks that its sessions hold back may be collected. */
  async #closeUnknown(): Promise<void> {
    const { state, members, propose } = this.#parts
    for (const { node, session } of await openUploadSessions(state))
      if (!members().includes(node)) await propose({ type: 'closeSession', session })
  }
}
