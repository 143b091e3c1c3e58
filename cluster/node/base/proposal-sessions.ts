/**
 * Which proposals of each process have taken effect: the table that makes a retry harmless. [thesis 6.3]
 *
 * Owns: one row per node, part of the replicated record; also the registry "this name belongs to this data directory".
 * Knows nothing of: commands, leaders, time. Rule: a deterministic function of the log, because every node computes it by itself.
 */
import { assert } from '../../base/assert.ts'
import type { NodeId } from '../../raft/types.ts'
import type { Proposal, ProposalSessionId } from './log-entry.ts'

/** Sequences below `ackedBelow` and those inside a range of `applied` have taken effect or never will. */
export interface ProposalSessionRow extends ProposalSessionId {
  readonly ackedBelow: number
  /** [first, last, first, last, ...] inclusive, ascending, with gaps between. */
  readonly applied: readonly number[]
}

/** `duplicate`: took effect before. `stale`: of a process that is gone. `foreign`: of another data directory under a known name. */
export type Admission = 'fresh' | 'duplicate' | 'stale' | 'foreign'

/** The owner of a name. */
export interface Registered {
  readonly incarnation: string
  readonly boot: number
}

interface Session {
  incarnation: string
  boot: number
  ackedBelow: number
  applied: number[]
}

export class ProposalSessions {
  readonly #byNode = new Map<NodeId, Session>()
  #registrations = 0

  constructor(rows: readonly ProposalSessionRow[] = []) {
    for (const { nodeId, incarnation, boot, ackedBelow, applied } of rows) {
      this.#byNode.set(nodeId, { incarnation, boot, ackedBelow, applied: [...applied] })
    }
  }

  /** Decides whether a proposal takes effect here and now, and remembers it. The first directory that uses a name owns it. */
  admit(proposal: Proposal): Admission {
    const { nodeId, incarnation, boot, sequence, ackedBelow } = proposal
    let session = this.#byNode.get(nodeId)
    if (session && session.incarnation !== incarnation) return 'foreign'
    if (session && session.boot > boot) return 'stale'
    if (!session || session.boot < boot) {
      session = { incarnation, boot, ackedBelow: 0, applied: [] }
      this.#byNode.set(nodeId, session)
      this.#registrations += 1
    }
    if (has(session, sequence)) return 'duplicate'
    insert(session.applied, sequence)
    if (ackedBelow > session.ackedBelow) forget(session, ackedBelow)
    return 'fresh'
  }

  /** True when the sequence of exactly this process has taken effect. */
  holds(id: ProposalSessionId, sequence: number): boolean {
    const session = this.#byNode.get(id.nodeId)
    return session?.incarnation === id.incarnation && session.boot === id.boot && has(session, sequence)
  }

  /** The data directory that owns this name, and its latest process; null while no node of that name has committed anything. */
  registered(nodeId: NodeId): Registered | null {
    return this.#byNode.get(nodeId) ?? null
  }

  /** How often a process took over a name, since this table was made. */
  get registrations(): number {
    return this.#registrations
  }

  /** In the order in which the names first appeared in the log: equal on every node. */
  rows(): readonly ProposalSessionRow[] {
    return [...this.#byNode].map(([nodeId, session]) => ({
      nodeId,
      ...session,
      applied: [...session.applied],
    }))
  }
}

function has(session: Session, sequence: number): boolean {
  if (sequence < session.ackedBelow) return true
  for (let i = 0; i < session.applied.length; i += 2) {
    if (sequence < at(session.applied, i)) return false
    if (sequence <= at(session.applied, i + 1)) return true
  }
  return false
}

/** Adds a number that is in no range yet and joins it with adjacent ranges. */
function insert(ranges: number[], sequence: number): void {
  let i = ranges.length
  while (i > 0 && at(ranges, i - 2) > sequence) i -= 2
  const joinsLeft = i > 0 && at(ranges, i - 1) === sequence - 1
  const joinsRight = i < ranges.length && at(ranges, i) === sequence + 1
  if (joinsLeft && joinsRight) ranges.splice(i - 1, 2)
  else if (joinsLeft) ranges[i - 1] = sequence
  else if (joinsRight) ranges[i] = sequence
  else ranges.splice(i, 0, sequence, sequence)
}

function forget(session: Session, ackedBelow: number): void {
  session.ackedBelow = ackedBelow
  let drop = 0
  while (drop < session.applied.length && at(session.applied, drop + 1) < ackedBelow) drop += 2
  session.applied.splice(0, drop)
  if (session.applied.length > 0 && at(session.applied, 0) < ackedBelow) session.applied[0] = ackedBelow
}

function at(ranges: readonly number[], i: number): number {
  const value = ranges[i]
  assert(value !== undefined, 'ranges come in pairs')
  return value
}
