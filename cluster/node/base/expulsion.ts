/**
 * Why the other members permanently refuse this data directory, and what the operator can do about it.
 *
 * Owns: the codes with which a peer reports it, and their texts for people. Knows nothing of: which peer, files.
 * Rule: a removal notice is never taken back: it holds after every restart, so a directory cannot readmit itself.
 */
import type { NodeId } from '../../raft/types.ts'

const EXPULSIONS = ['member_removed', 'member_tombstoned', 'member_rolled_back'] as const

export type Expulsion = (typeof EXPULSIONS)[number]

/** Null: this code means something else. */
export function expulsionOf(code: unknown): Expulsion | null {
  return EXPULSIONS.find((known) => known === code) ?? null
}

/** Null: the peer refuses it for another reason, or states the reason in the text of another version. */
export function expulsionIn(nodeId: NodeId, text: string): Expulsion | null {
  return EXPULSIONS.find((known) => expulsionText(nodeId, known) === text) ?? null
}

/** One sentence: what happened, and what to do. */
export function expulsionText(nodeId: NodeId, expulsion: Expulsion): string {
  const otherwise = `leave this data directory as it is, and give the machine an empty one, a name that was never used, and --join`
  switch (expulsion) {
    case 'member_removed':
      return `Node ${nodeId} was removed from the cluster, or called lost, permanently: stop it; to use it again ${otherwise}`
    case 'member_tombstoned':
      return `Another data directory is registered as ${nodeId}: start this node with that directory, for the cluster waits for it; if it is gone, ${otherwise}, and replace ${nodeId} by it`
    case 'member_rolled_back':
      return `A later process of ${nodeId} is registered: this data directory is an older copy, or another copy of it runs, and has forgotten what was promised since: start the node with the directory that ran last; if it is gone, ${otherwise}, and replace ${nodeId} by it`
  }
}
