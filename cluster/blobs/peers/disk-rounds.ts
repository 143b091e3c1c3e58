/**
 * Asks every member, itself included, for the state of its disk, at a fixed interval.
 *
 * Owns: the interval, and at most one open question per member. Knows nothing of: what follows from an answer.
 * Rule: a missing answer proves nothing; the member is asked again in the next round. Other components determine whether a node
 * is reachable, and a node of an older version does not know the question.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { Logger, NodeId } from '../../base/types.ts'
import type { DiskView } from '../../base/disk-level.ts'
import type { DiskViews } from './disk-views.ts'

export interface DiskRoundsOptions {
  /** Called in each round. */
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

  /** Once, when members can be reached. The first round starts at once. */
  start(): void {
    if (!this.#isStopped) this.#round()
  }

  /** Answers to questions in flight may still be noted. */
  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #round(): void {
    const { clock, everyMs, members } = this.#options
    this.#timer = clock.after(everyMs, () => this.#round(), true)
    for (const member of members()) this.#ask(member)
  }

  #ask(member: NodeId): void {
    if (this.#asked.has(member)) return
    this.#asked.add(member)
    const { ask, views, logger } = this.#options
    ask(member)
      .then((view) => views.note(member, view))
      .catch((err: unknown) => logger.debug({ peer: member, err }, 'disk of a member unknown'))
      .finally(() => this.#asked.delete(member))
  }
}
