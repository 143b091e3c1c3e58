/**
 * Decides whether enough voters agree, although one of them may have forgotten what it promised.
 *
 * Owns: the rule for members whose disk is not proved current (docs/adr/0029-disks-that-go-back.md). Knows nothing of: what is agreed on.
 * Rule: a majority of members that are proved current decides. Without one, a majority and one more decides, in every configuration
 * since the commit index: with at most one voter that has forgotten, such a quorum meets every earlier one in a voter that remembers.
 * A voter that is known to have forgotten counts only where every voter agrees.
 */
import { isVoter, membersOf } from './configuration.ts'
import type { Core } from './core.ts'
import { everyVoter, hasQuorum, hasWideQuorum, leastIndex, quorumIndex, wideQuorumIndex } from './quorum.ts'
import type { LogIndex, NodeId } from './types.ts'

/** `agreed`: the answer of any voter. `proved`: the answer of a voter whose disk is proved current. */
interface Answers<T> {
  readonly agreed: (nodeId: NodeId) => T
  readonly proved: (nodeId: NodeId) => T
  readonly isRolledBack: (nodeId: NodeId) => boolean
}

export function hasAgreement(
  { configurations, commitIndex }: Core,
  { agreed, proved, isRolledBack }: Answers<boolean>,
): boolean {
  if (hasQuorum(configurations.current, proved)) return true
  const counts = (nodeId: NodeId): boolean => agreed(nodeId) && !isRolledBack(nodeId)
  return configurations
    .since(commitIndex)
    .every((one) => hasWideQuorum(one, counts) || everyVoter(one, agreed))
}

/** The voters whose agreement may be needed now. */
export function votersNeeded({ configurations, commitIndex, asksWidely }: Core): readonly NodeId[] {
  const all = asksWidely ? configurations.since(commitIndex) : [configurations.current]
  return [...new Set(all.flatMap((one) => membersOf(one).filter((nodeId) => isVoter(one, nodeId))))]
}

/** The highest index that enough voters have reached. */
export function agreedIndex(
  { configurations, commitIndex }: Core,
  { agreed, proved, isRolledBack }: Answers<LogIndex>,
): LogIndex {
  const counts = (nodeId: NodeId): LogIndex => (isRolledBack(nodeId) ? 0 : agreed(nodeId))
  const wide = configurations
    .since(commitIndex)
    .map((one) => Math.max(wideQuorumIndex(one, counts), leastIndex(one, agreed)))
  return Math.max(quorumIndex(configurations.current, proved), Math.min(...wide))
}
