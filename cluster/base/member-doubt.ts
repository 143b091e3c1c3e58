/**
 * What is wrong with the data directory of a member, as somebody found it.
 *
 * Owns: the words for it between nodes. Knows nothing of: who found it, what people are told.
 */
import type { NodeId } from '../raft/types.ts'

export interface MemberDoubt {
  readonly nodeId: NodeId
  /**
   * `suspect`: not proved current. `rolledBack`: it holds less than it acknowledged, and is heard with that reservation. The others: it
   * is not heard at all, and says so itself.
   */
  readonly what: 'suspect' | 'rolledBack' | 'member_removed' | 'member_tombstoned' | 'member_rolled_back'
}
