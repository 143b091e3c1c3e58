/** The statuses of live members before a change of the members. */
import t from 'tap'
import {
  requireQuorumOfOthers,
  type MemberStatuses,
} from '../../src/operations/membership/member-statuses.ts'
import { singleNodeStatus } from '../helpers/membership-samples.ts'

t.test(
  'a member is declared lost only where the others have a quorum while its vote still counts',
  async (t) => {
    const answer = (...names: readonly string[]): MemberStatuses =>
      new Map(names.map((nodeId) => [nodeId, singleNodeStatus(nodeId, { isReady: true })]))
    const what = 'call "n9" lost'
    for (const [answering, others] of [
      [['n1', 'n2'], 2],
      [['n1', 'n2', 'n3'], 3],
      [['n1', 'n2', 'n3'], 4],
    ] as const)
      t.doesNotThrow(() => requireQuorumOfOthers(answer(...answering), namesOf(others), what))
    for (const [answering, others, explanation] of [
      [['n1'], 1, '2 of 2 voters decide; join another voter first, or bring it back'],
      [['n1', 'n2'], 3, '3 of 4 voters decide; of the voters left, n3 do not answer or take no part;'],
      [['n1', 'n2'], 4, '3 of 5 voters decide; of the voters left, n3, n4 do not answer or take no part;'],
    ] as const)
      t.throws(() => requireQuorumOfOthers(answer(...answering), namesOf(others), what), {
        code: 'precondition_failed',
        message: new RegExp(`n9" lost: until its vote is gone ${explanation}`),
      })
  },
)

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `n${n + 1}`)
}
