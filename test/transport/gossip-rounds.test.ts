/** Reports go to every other member and may be lost; a member that does not answer holds no other up. */
import t from 'tap'
import { GOSSIP_BYTES_MAX, GOSSIP_EVERY_MS } from '../../cluster/base/gossip-channel.ts'
import { GossipRounds } from '../../cluster/gossip-rounds.ts'
import { LoopbackNetwork } from '../../cluster/transport/loopback-transport.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const MEMBERS = ['n1', 'n2', 'n3']

t.test('GossipRounds', async (t) => {
  const clock = new VirtualClock()
  const network = new LoopbackNetwork({ clock, random: () => 0, minDelayMs: 1, maxDelayMs: 1 })
  const received: string[] = []
  let bytes: Uint8Array | null = Buffer.from('use')
  const nodes = MEMBERS.map((nodeId) => {
    const transport = network.transport(nodeId, { incarnation: `life-of-${nodeId}` })
    const rounds = new GossipRounds({ nodeId, transport, clock, logger: SILENT, members: () => MEMBERS })
    return { nodeId, transport, rounds }
  })
  for (const { transport } of nodes)
    await transport.start({ onMessages: () => undefined, onUnreachable: () => undefined })
  for (const { nodeId, rounds } of nodes)
    rounds.open({
      report: () => (nodeId === 'n1' ? bytes : null),
      hear: (from, report) =>
        void received.push(`${nodeId} received ${Buffer.from(report).toString()} of ${from}`),
    })
  const pass = async (ms: number): Promise<void> => {
    let isOver = false
    clock.after(ms, () => (isOver = true))
    await clock.runUntil(() => isOver, { limitMs: ms + 1 })
    await clock.settle()
  }

  t.test('tells every other member, once in each interval', async (t) => {
    await pass(GOSSIP_EVERY_MS * 2 + 50)
    t.same(received.splice(0).toSorted(), [
      'n2 received use of n1',
      'n2 received use of n1',
      'n3 received use of n1',
      'n3 received use of n1',
    ])
  })

  t.test('sends nothing where there is nothing to report', async (t) => {
    bytes = null
    await pass(GOSSIP_EVERY_MS * 2)
    t.same(received.splice(0), [])
  })

  t.test('refuses a report that is too long', async (t) => {
    bytes = Buffer.alloc(GOSSIP_BYTES_MAX + 1)
    await pass(GOSSIP_EVERY_MS * 2)
    t.same(received.splice(0), [])
  })

  t.test('ends when it is stopped', async (t) => {
    bytes = Buffer.from('late')
    for (const { rounds } of nodes) rounds.stop()
    await pass(GOSSIP_EVERY_MS * 4)
    t.same(received.splice(0), [])
  })
})
