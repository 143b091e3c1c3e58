/**
 * What is wrong with the data directory of a member, as a node found it.
 *
 * Owns: the words for it between nodes. Knows nothing of: the node that found it, messages to operators.
 */
import type { NodeId } from '../raft/types.ts'

export interface MemberDoubt {
  readonly nodeId: NodeId
  /**
   * `suspect`: not proved current. `rolledBack`: it holds less than it acknowledged, and its messages count with that reservation. The
   * other values: no member accepts its messages, and it reports that itself.
   */
  readonly what: 'suspect' | 'rolledBack' | 'member_removed' | 'member_tombstoned' | 'member_rolled_back'
}
