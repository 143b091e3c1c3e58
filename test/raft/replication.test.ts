/** The log on several members: thesis chapters 3.5, 3.6 and 10.2, and the windows around it. */
import t from 'tap'
import { TestNetwork, configurationOf, logOfTerms, plantLog } from './network.ts'
import { Single, appliedIndexes, sentOf } from './single.ts'
import type { Effect } from '../../cluster/raft/types.ts'

const THREE = configurationOf('a', 'b', 'c')

function propose(single: Single, bytes: number): readonly Effect[] {
  return single.step({ type: 'propose', proposalId: 1, data: new Uint8Array(bytes) })
}

/** A leader of term 1 that streams to b, its own disk up to date. */
function streamingLeader(limits = {}): Single {
  const single = new Single({ limits })
  single.confirm(single.becomeLeader())
  single.answer('b', { index: 1 })
  return single
}

t.test('[thesis 3.5] log replication', async (t) => {
  t.test('brings every log of figure 3.6 in line with the leader of term 8', async (t) => {
    const ids = ['leader', 'a', 'b', 'c', 'd', 'e', 'f']
    const network = new TestNetwork(configurationOf(...ids))
    const logs = {
      leader: [1, 1, 1, 4, 4, 5, 5, 6, 6, 6],
      a: [1, 1, 1, 4, 4, 5, 5, 6, 6],
      b: [1, 1, 1, 4],
      c: [1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 6],
      d: [1, 1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7],
      e: [1, 1, 1, 4, 4, 4, 4],
      f: [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3],
    }
    for (const [id, terms] of Object.entries(logs)) plantLog(network, id, terms, 7)
    t.equal(network.elect('leader'), 8)
    const wanted = network.node('leader').disk.entries.map((entry) => entry.term)
    t.strictSame(wanted, [...logs.leader, 8])
    for (const id of ids) {
      t.strictSame(
        network.node(id).disk.entries.map((entry) => entry.term),
        wanted,
        id,
      )
      t.equal(network.status(id).commitIndex, 11, 'and every member knows that it is committed')
    }
  })

  t.test('informs every member of a commit without waiting for a heartbeat', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    network.propose('a')
    network.settle()
    for (const id of THREE.voters) t.match(network.status(id), { commitIndex: 2, appliedIndex: 2 })
  })

  t.test('skips whole terms when the logs differ', async (t) => {
    const single = new Single({ terms: [...Array<number>(100).fill(1), ...Array<number>(100).fill(4)] })
    const first = single.becomeLeader()
    t.match(sentOf(first, 'AppendEntries'), [{ prevLogIndex: 200 }, { prevLogIndex: 200 }])
    const next = single.answer('b', { success: false, index: 200, hintIndex: 180, hintTerm: 3 })
    t.match(sentOf(next, 'AppendEntries'), [{ to: 'b', prevLogIndex: 100 }], 'the leader skips its term 4')
    const follower = new Single({ terms: [1, 1, 2, 2, 2, 2, 3, 3] })
    const refused = follower.confirm(follower.append({ term: 9, prevLogIndex: 8, prevLogTerm: 2 }))
    const [answer] = sentOf(refused, 'AppendEntriesResponse')
    t.match(answer, { success: false, index: 8, hintIndex: 6, hintTerm: 2 }, 'the follower skips its term 3')
  })

  t.test('keeps entries that a late or duplicated append does not contain', async (t) => {
    const single = new Single()
    const entries = logOfTerms(1, 1, 1)
    single.confirm(single.append({ term: 1, entries, leaderCommit: 1 }))
    const late = single.append({ term: 1, entries: entries.slice(0, 1) })
    t.equal(single.status.lastIndex, 3)
    t.notOk(late.some((effect) => effect.type === 'appendWal'))
    t.match(sentOf(late, 'AppendEntriesResponse'), [{ success: true, index: 1 }])
  })

  t.test('commits at a follower no further than its log is known to match', async (t) => {
    const single = new Single({ terms: [1, 1, 1] })
    single.append({ term: 2, prevLogIndex: 1, prevLogTerm: 1, leaderCommit: 3 })
    t.equal(single.status.commitIndex, 1)
  })

  t.test('stops the process when a leader contradicts a committed entry', async (t) => {
    const single = new Single({ terms: [1, 1], appliedIndex: 2 })
    t.throws(() => single.append({ term: 2, entries: logOfTerms(2, 2) }), { name: 'ContradictionError' })
  })

  t.test('drops the messages of a second leader of one term', async (t) => {
    const single = new Single()
    single.becomeLeader()
    const received = single.append({ term: 1, entries: logOfTerms(1) })
    t.match(received, [{ type: 'peerDoubted', peer: 'b', claim: 'second_leader' }])
    t.match(single.status, { role: 'leader', lastIndex: 1 })
    const follower = new Single()
    follower.append({ term: 1, from: 'b' })
    t.match(follower.append({ term: 1, from: 'c' }), [{ type: 'peerDoubted', peer: 'c' }])
    t.match(follower.status, { role: 'follower', leaderId: 'b' })
  })
})

t.test('[thesis 3.6.2] commitment', async (t) => {
  t.test(
    'counts only entries of the own term (figure 3.7): a majority for an old entry is not enough',
    async (t) => {
      const single = new Single({ terms: [1, 2], hardState: { currentTerm: 3, votedFor: null } })
      single.confirm(single.becomeLeader())
      t.match(single.status, { term: 4, lastIndex: 3 })
      single.answer('b', { index: 2 })
      single.answer('c', { index: 2 })
      t.equal(single.status.commitIndex, 0)
      single.answer('b', { index: 3 })
      t.equal(single.status.commitIndex, 3, 'with its own entry the older ones are committed')
    },
  )

  t.test('survives the whole story of figure 3.7', async (t) => {
    const network = new TestNetwork(configurationOf('s1', 's2', 's3', 's4', 's5'))
    plantLog(network, 's1', [1, 2], 2)
    plantLog(network, 's2', [1, 2], 2)
    plantLog(network, 's3', [1], 1)
    plantLog(network, 's4', [1], 1)
    plantLog(network, 's5', [1, 3], 3)
    // (c): s1 leads term 4 and spreads index 2, but not its own entry, to a majority; then it dies.
    network.isolate('s5')
    network.node('s3').isDiskSlow = true
    network.elect('s1')
    network.crash('s1')
    network.node('s3').isDiskSlow = false
    network.heal()
    network.tickAll(100)
    network.restart('s1')
    network.tickAll(50)
    network.checker.compareLogs()
    t.equal(new Set([...network.nodes.values()].map((node) => node.machine.keys.join())).size, 1)
  })
})

t.test('the window to one peer', async (t) => {
  t.test('is limited by count, and answers open it again', async (t) => {
    const single = streamingLeader({ inflightMessagesMax: 4 })
    for (let i = 0; i < 3; i += 1) t.equal(sentTo(propose(single, 8), 'b'), 1, `append ${i + 2} is under way`)
    t.equal(sentTo(propose(single, 8), 'b'), 1)
    t.equal(sentTo(propose(single, 8), 'b'), 0, 'the window is full')
    t.equal(sentTo(single.step({ type: 'tick' }), 'b'), 1, 'a heartbeat always leaves')
    const [append] = sentOf(single.answer('b', { index: 2 }), 'AppendEntries').filter(
      ({ entries }) => entries.length > 0,
    )
    t.match(append, { prevLogIndex: 5, entries: [{ index: 6 }] })
  })

  t.test(
    'is not disturbed by heartbeats while answers arrive: they ask where the logs are known to match',
    async (t) => {
      const single = streamingLeader()
      propose(single, 8)
      propose(single, 8)
      const beats = () =>
        sentOf(single.step({ type: 'tick' }), 'AppendEntries').filter(({ to }) => to === 'b')
      t.match(beats(), [{ prevLogIndex: 1, entries: [] }])
      t.match(
        beats(),
        [{ prevLogIndex: 3, entries: [] }],
        'without answers they ask at the end of the stream',
      )
      single.answer('b', { index: 2 })
      t.match(beats(), [{ prevLogIndex: 2, entries: [] }])
    },
  )

  t.test('is limited by bytes', async (t) => {
    const single = streamingLeader({ inflightBytesMax: 100, inflightMessagesMax: 99 })
    t.equal(sentTo(propose(single, 60), 'b'), 1)
    t.equal(sentTo(propose(single, 60), 'b'), 1, 'the last one may pass the limit')
    t.equal(sentTo(propose(single, 60), 'b'), 0)
  })

  t.test('carries as many entries per message as the byte limit allows, and at least one', async (t) => {
    const single = streamingLeader({ inflightMessagesMax: 1, messageBytesMax: 50, entryBytesMax: 80 })
    propose(single, 1)
    for (const bytes of [20, 20, 20, 70, 10]) propose(single, bytes)
    const batches: number[][] = []
    for (let index = 2; index < 7; ) {
      const sent = sentOf(single.answer('b', { index }), 'AppendEntries').filter(
        ({ entries }) => entries.length > 0,
      )
      batches.push(...sent.map(({ entries }) => entries.map((entry) => entry.data.length)))
      index = sent.at(-1)?.entries.at(-1)?.index ?? 7
    }
    t.strictSame(batches, [[20, 20], [20], [70], [10]])
  })

  t.test('recovers when everything in it is lost', async (t) => {
    const network = new TestNetwork(THREE)
    network.elect('a')
    for (let i = 0; i < 6; i += 1) network.propose('a')
    network.messages = []
    network.tickAll(6)
    for (const id of THREE.voters) t.equal(network.status(id).commitIndex, 7)
  })

  t.test('streams again after the transport gave up on a message', async (t) => {
    const single = streamingLeader()
    propose(single, 8)
    const effects = single.step({ type: 'peerUnreachable', peer: 'b' })
    t.match(sentOf(effects, 'AppendEntries'), [{ to: 'b', prevLogIndex: 1, entries: [{ index: 2 }] }])
    t.equal(single.status.peers[0]?.state, 'probe')
    t.equal(sentTo(propose(single, 8), 'b'), 0, 'one probe at a time')
    single.answer('b', { index: 2 })
    t.equal(single.status.peers[0]?.state, 'replicate')
  })

  t.test('is not disturbed by old answers', async (t) => {
    const single = streamingLeader()
    propose(single, 8)
    single.answer('b', { index: 2 })
    const before = single.status
    single.answer('b', { index: 1 })
    single.answer('b', { success: false, index: 1, hintIndex: 0, hintTerm: 0 })
    single.answer('b', { success: false, index: 9, hintIndex: 0, hintTerm: 0 })
    t.strictSame(single.status, before)
  })

  t.test(
    'never probes below an index that the peer has acknowledged, regardless of its answers',
    async (t) => {
      const single = streamingLeader()
      propose(single, 8)
      const effects = single.answer('b', { success: false, index: 2, hintIndex: 0, hintTerm: 0 })
      t.match(sentOf(effects, 'AppendEntries'), [{ to: 'b', prevLogIndex: 1 }])
    },
  )
})

t.test('proposals', async (t) => {
  t.test('are refused with notLeader at a follower and with tooLarge above the limit', async (t) => {
    t.match(propose(new Single(), 1), [{ type: 'proposalRefused', reason: 'notLeader' }])
    t.match(propose(streamingLeader(), 65), [{ type: 'proposalRefused', reason: 'tooLarge' }])
  })

  t.test(
    'are refused with backlogFull while too much is uncommitted, but never when nothing is',
    async (t) => {
      const single = streamingLeader({ uncommittedBytesMax: 40 })
      const isAccepted = (effects: readonly Effect[]) =>
        effects.some((effect) => effect.type === 'proposalAccepted')
      t.ok(isAccepted(propose(single, 60)), 'larger than the limit, but the only one')
      t.match(propose(single, 1), [{ type: 'proposalRefused', reason: 'backlogFull' }])
      single.answer('b', { index: 2 })
      single.answer('c', { index: 2 })
      t.equal(single.status.commitIndex, 2)
      t.ok(isAccepted(propose(single, 20)))
      t.ok(isAccepted(propose(single, 20)))
      t.match(propose(single, 1), [{ type: 'proposalRefused', reason: 'backlogFull' }])
    },
  )

  t.test('do not count compacted entries against the limit', async (t) => {
    const single = streamingLeader({ uncommittedBytesMax: 40 })
    for (const bytes of [30, 10]) single.confirm(propose(single, bytes))
    single.answer('b', { index: 2 })
    single.step({ type: 'applied', index: 2 })
    single.step({ type: 'compact', index: 2 })
    const answer = propose(single, 10).find(({ type }) => type !== 'appendWal')
    t.match(answer, { type: 'proposalAccepted' }, '10 of 40 bytes are waiting')
  })
})

t.test('apply', async (t) => {
  t.test('hands out a long log once, in order, and no further ahead than the window', async (t) => {
    const count = 5000
    const single = new Single({ terms: Array<number>(count).fill(1) })
    let effects = single.append({ term: 1, prevLogIndex: count, prevLogTerm: 1, leaderCommit: count })
    const seen: number[] = []
    while (appliedIndexes(effects).length > 0) {
      const indexes = appliedIndexes(effects)
      seen.push(...indexes)
      for (const effect of effects) if (effect.type === 'apply') t.ok(effect.entries.length <= 512)
      t.ok(seen.length - single.status.appliedIndex <= 2048)
      effects = single.step({ type: 'applied', index: seen.length })
    }
    t.strictSame(
      seen,
      Array.from({ length: count }, (_, i) => i + 1),
    )
  })
})

function sentTo(effects: readonly Effect[], to: string): number {
  return sentOf(effects, 'AppendEntries').filter((message) => message.to === to).length
}
