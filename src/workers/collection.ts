/**
 * Collects what has been condemned for a while, and closes the sessions of nodes that are no members any more.
 *
 * Owns: which chunks are proposed, and when. Knows nothing of: whether that is safe; apply decides it anew.
 * Rule: the delay is a courtesy to those who read an object while it is deleted, no safety depends on it: it may be 0.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import { ITEMS_PER_COMMAND_MAX } from '../state-machine/base/batch-bound.ts'
import type { CondemnedRecord } from '../state-machine/chunks/records.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { DelayMarks } from './delay-marks.ts'

export interface CollectionParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: Pick<LevelStateReader, 'condemned' | 'newestCondemned' | 'settings' | 'openSessions'>
  readonly propose: Propose
  readonly members: () => readonly string[]
  readonly delayMs: number
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
    await this.#closeStrangers()
    if (state.settings().collectionHalted !== null) return false
    const due = this.#marks.dueUpTo((await state.newestCondemned())?.condemnedAt ?? null)
    const queue = await state.condemned(ITEMS_PER_COMMAND_MAX)
    const chunks = queue.filter(({ condemnedAt }) => condemnedAt <= due)
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

  /** Nobody uploads for a node that left: what its sessions hold back may go. */
  async #closeStrangers(): Promise<void> {
    const { state, members, propose } = this.#parts
    for (const { node, session } of await state.openSessions())
      if (!members().includes(node)) await propose({ type: 'closeSession', session })
  }
}
