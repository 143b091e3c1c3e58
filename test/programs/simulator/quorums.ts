/**
 * Quorums, computed from scratch for the checks.
 *
 * Rule: shares no code with cluster/raft, so that a wrong quorum there is detected here.
 */
import type { Configuration, NodeId } from '../../../cluster/raft/types.ts'

/** A majority of the voters, and of the outgoing half when there is one. */
export function isQuorum({ voters, outgoing }: Configuration, members: ReadonlySet<NodeId>): boolean {
  return [voters, outgoing].every((half) => {
    const held = half.filter((id) => members.has(id)).length
    return half.length === 0 || 2 * held > half.length
  })
}

/** One more than a majority of every half, or all of it where there are no more. */
export function isWideQuorum({ voters, outgoing }: Configuration, members: ReadonlySet<NodeId>): boolean {
  return [voters, outgoing].every((half) => {
    const held = half.filter((id) => members.has(id)).length
    return held === half.length || 2 * (held - 1) > half.length
  })
}

export function isEveryVoter({ voters, outgoing }: Configuration, members: ReadonlySet<NodeId>): boolean {
  return [...voters, ...outgoing].every((id) => members.has(id))
}

/** One voter is a majority of one half by itself. */
export function hasAlone({ voters, outgoing }: Configuration): boolean {
  return voters.length === 1 || outgoing.length === 1
}

/** Every quorum of one shares a member with every quorum of the other. By trying all of them: groups are small. */
export function overlap(one: Configuration, other: Configuration): boolean {
  const names = [...new Set([...one.voters, ...one.outgoing, ...other.voters, ...other.outgoing])]
  for (let chosen = 0; chosen < 2 ** names.length; chosen += 1) {
    const here = new Set(names.filter((_, i) => (chosen >> i) % 2 === 1))
    if (!isQuorum(one, here)) continue
    if (isQuorum(other, new Set(names.filter((name) => !here.has(name))))) return false
  }
  return true
}
