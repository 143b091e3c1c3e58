/**
 * Without a leader the status names how many have to come back, and of whom.
 */
import t from 'tap'
import { leaderlessAdvice } from '../../src/cli/admin/leaderless.ts'

type Members = Parameters<typeof leaderlessAdvice>[0]['members']

const member = (nodeId: string, lastContactMs: number | null, role = 'voter') =>
  ({ nodeId, role, reachable: lastContactMs === 0 ? true : null, lastContactMs }) as Members[number]

t.test('no majority: whom to bring back, and that nobody is marked lost', async (t) => {
  const members = [member('a', 0), member('b', 20_000), member('c', null), member('d', 1, 'learner')]
  const said = leaderlessAdvice({ members, quorum: 2 })
  t.match(said, /^1 of 3 voters are heard, and 2 decide: .* Bring back 1 of b, c: /)
  t.match(said, /deploy\/runbooks\/lost-quorum\.md/)
})

t.test('a majority without a leader: look at what lies between them', async (t) => {
  const members = [member('a', 0), member('b', 2_000), member('c', null)]
  t.match(leaderlessAdvice({ members, quorum: 2 }), /^2 of 3 voters are heard.* do not reach each other/)
})
