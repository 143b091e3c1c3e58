/**
 * Without a leader the status says how many voters have to come back, and names the silent ones.
 */
import t from 'tap'
import { leaderlessAdvice } from '../../src/cli/admin/leaderless.ts'

type Members = Parameters<typeof leaderlessAdvice>[0]['members']

const member = (nodeId: string, lastContactMs: number | null, role = 'voter') =>
  ({ nodeId, role, reachable: lastContactMs === 0 ? true : null, lastContactMs }) as Members[number]

t.test('no majority: which voters to bring back, and that no member is marked lost first', async (t) => {
  const members = [member('a', 0), member('b', 20_000), member('c', null), member('d', 1, 'learner')]
  const advice = leaderlessAdvice({ members, quorum: 2 })
  t.match(advice, /^1 of 3 voters are in contact with this node, and 2 are needed: .* Bring back 1 of b, c: /)
  t.match(advice, /deploy\/runbooks\/lost-quorum\.md/)
})

t.test('a majority without a leader: check the network between the voters', async (t) => {
  const members = [member('a', 0), member('b', 2_000), member('c', null)]
  const advice = leaderlessAdvice({ members, quorum: 2 })
  t.match(advice, /^2 of 3 voters are in contact.* do not reach each other/)
})
