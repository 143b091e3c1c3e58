/** What the living say before a change of the members. */
import t from 'tap'
import {
  requireQuorumOfOthers,
  type MemberStatuses,
} from '../../src/operations/membership/member-statuses.ts'
import { loneStatus } from '../helpers/told-membership.ts'

t.test('a member is called lost only where the others decide as long as its vote counts', async (t) => {
  const heard = (...names: readonly string[]): MemberStatuses =>
    new Map(names.map((nodeId) => [nodeId, loneStatus(nodeId, { isReady: true })]))
  const what = 'call "n9" lost'
  for (const [answering, others] of [
    [['n1', 'n2'], 2],
    [['n1', 'n2', 'n3'], 3],
    [['n1', 'n2', 'n3'], 4],
  ] as const)
    t.doesNotThrow(() => requireQuorumOfOthers(heard(...answering), namesOf(others), what))
  for (const [answering, others, said] of [
    [['n1'], 1, '2 of 2 voters decide; join another voter first, or bring it back'],
    [['n1', 'n2'], 3, '3 of 4 voters decide; of the voters left, n3 do not answer or take no part;'],
    [['n1', 'n2'], 4, '3 of 5 voters decide; of the voters left, n3, n4 do not answer or take no part;'],
  ] as const)
    t.throws(() => requireQuorumOfOthers(heard(...answering), namesOf(others), what), {
      code: 'precondition_failed',
      message: new RegExp(`n9" lost: until its vote is gone ${said}`),
    })
})

function namesOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `n${n + 1}`)
}
