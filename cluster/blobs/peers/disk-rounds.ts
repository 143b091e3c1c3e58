/**
 * Asks every member, itself included, how its disk is: again and again, at an even pace.
 *
 * Owns: the pace, and that no member is asked twice at a time. Knows nothing of: what follows from an answer.
 * Rule: a member that does not answer is asked again at the next round and nothing is concluded from it: whether a node
 * can be reached is for others to find out, and one that runs an older version does not know the question.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { Logger, NodeId } from '../../base/types.ts'
import type { DiskView } from '../../base/disk-level.ts'
import type { DiskViews } from './disk-views.ts'

export interface DiskRoundsOptions {
  /** Asked for with each round. */
  readonly members: () => readonly NodeId[]
  readonly views: Pick<DiskViews, 'note'>
  /** Ends by itself within a bounded time. */
  readonly ask: (member: NodeId) => Promise<DiskView>
  readonly clock: Clock
  readonly everyMs: number
  readonly logger: Logger
}

export class DiskRounds {
  readonly #options: DiskRoundsOptions
  readonly #asked = new Set<NodeId>()
  #timer: Timer | null = null
  #isStopped = false

  constructor(options: DiskRoundsOptions) {
    this.#options = options
  }

  /** Once, when members can be reached. The first round begins at once. */
  start(): void {
    if (!this.#isStopped) this.#round()
  }

  /** What is asked already may still be noted. */
  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #round(): void {
    const { clock, everyMs, members } = this.#options
    this.#timer = clock.after(everyMs, () => this.#round())
    for (const member of members()) this.#ask(member)
  }

  #ask(member: NodeId): void {
    if (this.#asked.has(member)) return
    this.#asked.add(member)
    const { ask, views, logger } = this.#options
    ask(member)
      .then((view) => views.note(member, view))
      .catch((err: unknown) => logger.debug({ peer: member, err }, 'disk of a member not told'))
      .finally(() => this.#asked.delete(member))
  }
}
