/** Which members keep entries of the log of a leader, and from which index on. */
import t from 'tap'
import { logPins } from '../../cluster/node/log/log-pins.ts'
import type { RaftStatus } from '../../cluster/raft/types.ts'

type Peer = RaftStatus['peers'][number]

const peer = (nodeId: string, change: Partial<Peer>): Peer => ({
  nodeId,
  matchIndex: 0,
  state: 'replicate',
  hasForgotten: false,
  doubt: null,
  silentTicks: 0,
  offeredIndex: null,
  lagEntries: 0,
  lagBytes: 0,
  ...change,
})
const RULES = { silentTicksMax: 10, isDiskFull: false, cuts: [] }

t.test(
  'a member pins what comes after its last entry, or after the snapshot that it was offered',
  async (t) => {
    const peers = [
      peer('follows', { matchIndex: 40 }),
      peer('installs', { state: 'snapshot', offeredIndex: 30 }),
      peer('was sent further', { matchIndex: 35, offeredIndex: 30 }),
    ]
    t.same(logPins({ peers }, { ...RULES, cuts: [{ nodeId: 'reads', index: 20 }] }), [
      { nodeId: 'follows', index: 40 },
      { nodeId: 'installs', index: 30 },
      { nodeId: 'was sent further', index: 35 },
      { nodeId: 'reads', index: 20 },
    ])
  },
)

t.test('a silent member pins nothing, and on a full disk none does', async (t) => {
  const peers = [peer('silent', { silentTicks: 11 }), peer('slow', { silentTicks: 10, matchIndex: 3 })]
  t.same(logPins({ peers }, RULES), [{ nodeId: 'slow', index: 3 }])
  t.same(logPins({ peers }, { ...RULES, isDiskFull: true, cuts: [{ nodeId: 'reads', index: 20 }] }), [])
})
