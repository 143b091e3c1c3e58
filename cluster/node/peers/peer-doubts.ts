/**
 * Faults of peers that this node has found: impossible claims, disks that lost acknowledged entries, a log that contradicts its own.
 *
 * Owns: the log lines with their codes, and counts. Knows nothing of: what the core does about it.
 * Rule: a claim is logged once for each peer and kind in the life of the process, and counted every time.
 */
import { ContradictionError } from '../../raft/assert.ts'
import type { Effect, ImpossibleClaim, LogIndex, NodeId } from '../../raft/types.ts'
import { type Logger, StartError } from '../../base/types.ts'

type Doubt = Extract<Effect, { type: 'peerDoubted' | 'peerForgot' }>

export class PeerDoubts {
  readonly #logger: Logger
  /** Bounded by the members and the kinds of claims. */
  readonly #logged = new Set<string>()
  readonly #counts = new Map<ImpossibleClaim, number>()
  /** How often a peer was found to have lost entries that it had acknowledged. Count. */
  forgotten = 0

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get counts(): ReadonlyMap<ImpossibleClaim, number> {
    return this.#counts
  }

  on(effect: Doubt): void {
    if (effect.type === 'peerForgot') this.#forgot(effect.peer, effect.acknowledged)
    else this.#claimed(effect.peer, effect.claim, effect.what)
  }

  #claimed(peer: NodeId, claim: ImpossibleClaim, what: string): void {
    this.#counts.set(claim, (this.#counts.get(claim) ?? 0) + 1)
    const key = `${peer} ${claim}`
    if (this.#logged.has(key)) return
    this.#logged.add(key)
    this.#logger.error({ peer, code: claim, what, hint: HINT }, 'message with an impossible claim dropped')
  }

  #forgot(peer: NodeId, acknowledged: LogIndex): void {
    this.forgotten += 1
    this.#logger.error(
      { peer, code: 'member_rolled_back', acknowledged, hint: HINT },
      'peer has lost entries that it acknowledged, they are sent again',
    )
  }
}

const HINT = 'See deploy/runbooks/disk-went-back.md'

/** The error that ends the process, so that an operator reads what happened instead of a stack. */
export function fatalOf(nodeId: NodeId, error: Error): Error {
  if (!(error instanceof ContradictionError)) return error
  const message = `Node ${nodeId} stops: ${error.message}, so one of their disks has lost entries that were acknowledged`
  return new StartError('history_contradicted', message, {
    cause: error,
    hint: 'Nothing in this data directory was changed, and it may hold the only copy of what the others lost: keep it, stop all nodes and follow deploy/runbooks/disk-went-back.md.',
  })
}
