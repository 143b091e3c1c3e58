/** How long a member waits before it campaigns. */
import t from 'tap'
import { Single, sentOf } from './single.ts'
import type { RequestVote } from '../../cluster/raft/types.ts'

/** Ticks until the next campaign begins. */
function ticksToCampaign(single: Single): number {
  let ticks = 1
  while (sentOf(single.step({ type: 'tick' }), 'RequestVote').length === 0) ticks += 1
  return ticks
}
function range(waits: readonly number[]): readonly number[] {
  return [Math.min(...waits), Math.max(...waits), new Set(waits).size]
}

t.test('[thesis 3.4] a campaign', async (t) => {
  t.test(
    'draws a new time-out between one and two election times after every word of a leader',
    async (t) => {
      const single = new Single()
      const waits = Array.from({ length: 300 }, () => {
        single.append({ term: 1 })
        return ticksToCampaign(single)
      })
      t.strictSame(range(waits), [10, 19, 10], 'every length occurs')
    },
  )

  t.test(
    'tries again half an election time-out sooner when the votes do not come: no member leads then',
    async (t) => {
      const single = new Single()
      ticksToCampaign(single)
      const waits = Array.from({ length: 300 }, () => ticksToCampaign(single))
      t.strictSame(range(waits), [5, 14, 10], 'the range is as wide')
    },
  )

  t.test('starts sooner when the connection to a silent leader has broken', async (t) => {
    const waits = Array.from({ length: 300 }, (_, seed) => {
      const single = new Single({ seed })
      single.append({ term: 1 })
      single.step({ type: 'peerUnreachable', peer: 'b' })
      return ticksToCampaign(single)
    })
    t.ok(Math.min(...waits) === 2 && Math.max(...waits) <= 7, `between ${range(waits).join(' and ')}`)
    const single = new Single()
    single.append({ term: 1 })
    single.step({ type: 'peerUnreachable', peer: 'c' })
    t.ok(ticksToCampaign(single) >= 10, 'the connection to another follower does not matter')
    single.append({ term: 1 })
    single.step({ type: 'peerUnreachable', peer: 'b' })
    single.append({ term: 1 })
    t.ok(ticksToCampaign(single) >= 10, 'a leader whose messages arrive again is trusted again')
  })

  t.test('starts at once at a member that refuses a shorter log and receives from no leader', async (t) => {
    const single = new Single({ terms: [1, 1] })
    single.append({ term: 1, prevLogIndex: 2, prevLogTerm: 1 })
    for (let i = 0; i < 9; i += 1) single.step({ type: 'tick' })
    const ask: RequestVote = {
      type: 'RequestVote',
      from: 'c',
      to: 'a',
      term: 2,
      preVote: true,
      transfer: false,
      lastLogIndex: 1,
      lastLogTerm: 1,
    }
    single.receive(ask)
    t.ok(single.status.leaderId === 'b', 'not while the leader may live')
    single.step({ type: 'tick' })
    single.receive(ask)
    t.equal(ticksToCampaign(single), 1)
  })
})
