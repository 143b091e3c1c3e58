/**
 * Raises the feature level of the state, at the leader, once every member knows a higher one.
 *
 * Owns: the decision, and the callers that wait for a level. Knows nothing of: the content of a level, how members report theirs.
 * Rule: no member is left behind: this leader has a report of every voter and learner in its term, and the level rises no higher
 * than the lowest that they reported. A state never goes back, so an unreachable member blocks the raise; but not a member that has
 * never registered, which has nothing of this state yet and might never come.
 */
import type { NodeId, Term } from '../../raft/types.ts'
import type { Logger } from '../../base/types.ts'
import type { Applier } from '../state/applier.ts'
import type { ProposalOutcome } from '../proposals/intents.ts'
import type { Clock } from '../../base/clock.ts'
import type { PeerGate } from '../peers/peer-gate.ts'
import type { LeaderView } from '../base/leader-view.ts'

export interface LevelRaiseParts {
  readonly clock: Clock
  /** By the code of this node. */
  readonly known: number
  /** Of the state here. */
  readonly present: () => number
  readonly leaderView: () => LeaderView
  /** The level that each other registered member has reported since this node leads; null: none yet. */
  readonly others: () => readonly (number | null)[]
  /** Of all members, with this one. */
  readonly size: () => number
  /** As an entry of the log. */
  readonly raise: (level: number, settle: (outcome: ProposalOutcome) => void) => void
  readonly logger: Logger
}

/** The level that every member knows, where it is higher than the present one; null: nothing to raise. */
export function levelToRaise({
  known,
  present,
  others,
  size,
}: {
  readonly known: number
  readonly present: number
  readonly others: readonly (number | null)[]
  readonly size: number
}): number | null {
  if (others.length + 1 <= size / 2) return null
  let common = known
  for (const level of others) {
    if (level === null) return null
    common = Math.min(common, level)
  }
  return common > present ? common : null
}

interface Waiter {
  readonly level: number
  readonly deadline: number
  readonly resolve: (isReached: boolean) => void
}

export class LevelRaise {
  readonly #parts: LevelRaiseParts
  /** The last raise that the log took; in another term it may be gone with its leader. */
  #asked: { readonly term: Term; readonly level: number } | null = null
  /** Bounded by the callers: owners, each for a moment. */
  readonly #waiting = new Set<Waiter>()
  #isClosed = false

  constructor(parts: LevelRaiseParts) {
    this.#parts = parts
  }

  /** Resolves with true as soon as the state here is at this level, with false when the time has passed. */
  reaches(level: number, withinMs: number): Promise<boolean> {
    const isAt = this.#isAt(level)
    if (isAt || this.#isClosed || withinMs <= 0) return Promise.resolve(isAt)
    const deadline = this.#parts.clock.now() + withinMs
    return new Promise((resolve) => this.#waiting.add({ level, deadline, resolve }))
  }

  onTick(): void {
    const now = this.#parts.clock.now()
    this.#end(({ deadline }) => deadline <= now)
    this.#raise()
  }

  onApplied(): void {
    this.#end(({ level }) => this.#isAt(level))
  }

  close(): void {
    this.#isClosed = true
    this.#end(() => true)
  }

  #raise(): void {
    const { known, present, leaderView, others, size, raise, logger } = this.#parts
    const { isLeader, term } = leaderView()
    if (!isLeader || this.#isAt(known)) return
    const level = levelToRaise({ known, present: present(), others: others(), size: size() })
    if (level === null || (this.#asked?.term === term && this.#asked.level >= level)) return
    this.#asked = { term, level }
    raise(level, ({ accepted }) => {
      if (accepted) logger.info({ featureLevel: level, term }, 'feature level of the state is raised')
      else this.#asked = null
    })
  }

  #isAt(level: number): boolean {
    return this.#parts.present() >= level
  }

  #end(isOver: (waiter: Waiter) => boolean): void {
    for (const waiter of [...this.#waiting].filter(isOver)) {
      this.#waiting.delete(waiter)
      waiter.resolve(this.#isAt(waiter.level))
    }
  }
}

/** Null: no report lately. A member that never registered does not count. */
export function reportedLevels(
  peers: readonly NodeId[],
  gate: Pick<PeerGate, 'featureLevelOf'>,
  applier: Pick<Applier, 'registered'>,
): readonly (number | null)[] {
  const known = peers.map((peer) => ({ peer, level: gate.featureLevelOf(peer) }))
  return known
    .filter(({ peer, level }) => level !== null || applier.registered(peer) !== null)
    .map(({ level }) => level)
}
