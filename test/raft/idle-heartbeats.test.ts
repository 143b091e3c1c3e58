/** Heartbeats of a leader with nothing to say: fewer of them, and in every other case one with each tick. */
import t from 'tap'
import type { AppendEntriesResponse, Effect } from '../../cluster/raft/types.ts'
import { Single, sentOf } from './single.ts'

const IDLE_TICKS = 3
const ELECTION_TICKS = 10

/** Leads term 1; b and c hold everything and know that it is committed. */
function idleLeader(): Single {
  const single = new Single({ idleHeartbeatTicks: IDLE_TICKS })
  single.confirm(single.becomeLeader())
  for (const peer of ['b', 'c']) single.answer(peer, { index: 1 })
  return single
}

const asked = (effects: readonly Effect[]): string =>
  sentOf(effects, 'AppendEntries')
    .map(({ to }) => to)
    .join('')

/** The members that are sent a heartbeat with each of some ticks; those in `answering` answer each. */
function ticks(
  single: Single,
  count: number,
  answering: Record<string, Partial<AppendEntriesResponse>>,
): string[] {
  return Array.from({ length: count }, () => {
    const effects = single.step({ type: 'tick' })
    for (const { to } of sentOf(effects, 'AppendEntries')) {
      if (to in answering) single.answer(to, { index: 1, ...answering[to] })
    }
    return asked(effects)
  })
}

const BOTH = { b: {}, c: {} }

t.test('heartbeats while nothing is open', async (t) => {
  t.test('go out with every third tick, well within an election time-out', async (t) => {
    const single = idleLeader()
    t.strictSame(ticks(single, 9, BOTH), ['', '', 'bc', '', '', 'bc', '', '', 'bc'])
    t.ok(2 * IDLE_TICKS < ELECTION_TICKS)
  })

  t.test('go out with every tick to a member that did not answer the last one', async (t) => {
    const single = idleLeader()
    t.strictSame(ticks(single, 8, { b: {} }), ['', '', 'bc', 'c', 'c', 'bc', 'c', 'c'])
  })

  t.test(
    'do not keep a leader without a majority: it steps down after one election time-out of silence',
    async (t) => {
      const single = idleLeader()
      ticks(single, ELECTION_TICKS - 1, {})
      t.equal(single.status.role, 'leader')
      ticks(single, 1, {})
      t.equal(single.status.role, 'follower')
    },
  )

  t.test('go out with every tick after the connection to a member broke', async (t) => {
    const single = idleLeader()
    single.step({ type: 'peerUnreachable', peer: 'b' })
    t.equal(asked(single.step({ type: 'tick' })), 'b')
  })

  t.test('go out with every tick to a member that misses an entry', async (t) => {
    const single = idleLeader()
    single.confirm(single.step({ type: 'propose', proposalId: 1, data: new Uint8Array(1) }))
    single.answer('b', { index: 2 })
    t.strictSame(ticks(single, 2, { b: { index: 2 } }), ['c', 'c'])
  })

  t.test('go out with every tick while a read waits for its answers', async (t) => {
    const single = idleLeader()
    t.equal(asked(single.step({ type: 'read', readId: 1 })), 'bc')
    t.strictSame(ticks(single, 2, {}), ['bc', 'bc'])
    single.answer('b', { index: 1, readToken: 1 })
    t.strictSame(ticks(single, 1, {}), ['c'], 'which one answer ends')
  })

  t.test('go out with every tick to a member whose disk is in doubt', async (t) => {
    const single = idleLeader()
    t.strictSame(ticks(single, 5, { b: {}, c: { doubt: 'suspect' } }), ['', '', 'bc', 'c', 'c'])
  })

  t.test('go out with every tick while the lead is handed over', async (t) => {
    const single = idleLeader()
    single.step({ type: 'transferLeadership', target: 'b' })
    t.equal(asked(single.step({ type: 'tick' })), 'bc')
  })

  t.test('must fit into an election time-out three times', async (t) => {
    t.throws(() => new Single({ idleHeartbeatTicks: 4 }), /at least three idle heartbeats/)
  })
})
