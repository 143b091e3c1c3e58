/** Which members count: thesis chapter 4, learners and joint halves. */
import t from 'tap'
import {
  ConfigurationHistory,
  decodeConfiguration,
  encodeConfiguration,
  noteOf,
} from '../../cluster/raft/configuration.ts'
import { hasQuorum, quorumIndex } from '../../cluster/raft/quorum.ts'
import { TestNetwork, configurationOf, logOfTerms } from './network.ts'
import { Single, sentOf } from './single.ts'
import type { Configuration, Entry } from '../../cluster/raft/types.ts'

const JOINT: Configuration = { voters: ['a', 'b', 'c'], learners: [], outgoing: ['a', 'd', 'e'] }

function configurationEntry(index: number, term: number, configuration: Configuration): Entry {
  return { index, term, kind: 'configuration', data: encodeConfiguration(configuration) }
}

t.test('configuration bytes', async (t) => {
  t.test('decode to the same configuration, with any names', async (t) => {
    const configurations = [
      configurationOf('a'),
      JOINT,
      { voters: ['köln-1', '東京', '😀', 'x'.repeat(300)], learners: ['', 'l'], outgoing: ['o'] },
    ]
    for (const configuration of configurations) {
      t.strictSame(decodeConfiguration(encodeConfiguration(configuration)), configuration)
    }
  })

  t.test('are refused when cut short, too long or of another version', async (t) => {
    const bytes = encodeConfiguration(JOINT)
    for (let length = 0; length < bytes.length; length += 1)
      t.throws(() => decodeConfiguration(bytes.subarray(0, length)))
    t.throws(() => decodeConfiguration(Uint8Array.of(...bytes, 0)))
    t.throws(() => decodeConfiguration(Uint8Array.of(3, ...bytes.subarray(1))))
  })

  t.test('carry a note for the state machine that applies them, or none', async (t) => {
    const note = Uint8Array.of(7, 0, 9)
    const noted = encodeConfiguration(JOINT, note)
    t.strictSame(decodeConfiguration(noted), JOINT)
    t.strictSame(noteOf(noted), note)
    t.equal(noteOf(encodeConfiguration(JOINT)), null)
    t.strictSame(
      noteOf(encodeConfiguration(JOINT, new Uint8Array())),
      new Uint8Array(),
      'an empty one is one',
    )
  })
})

t.test('[thesis 4.3] a quorum', async (t) => {
  t.test('is a majority of every half', async (t) => {
    const cases = [
      { agreeing: 'abc', expected: false },
      { agreeing: 'ade', expected: false },
      { agreeing: 'abd', expected: true },
      { agreeing: 'bcde', expected: true },
      { agreeing: 'bd', expected: false },
    ]
    for (const { agreeing, expected } of cases) {
      t.equal(
        hasQuorum(JOINT, (nodeId) => agreeing.includes(nodeId)),
        expected,
        agreeing,
      )
    }
  })

  t.test('of an even number needs more than half', async (t) => {
    const four = configurationOf('a', 'b', 'c', 'd')
    t.notOk(hasQuorum(four, (nodeId) => 'ab'.includes(nodeId)))
    t.ok(hasQuorum(four, (nodeId) => 'abc'.includes(nodeId)))
    const reached = new Map(Object.entries({ a: 9, b: 8, c: 3, d: 2 }))
    t.equal(
      quorumIndex(four, (nodeId) => reached.get(nodeId) ?? 0),
      3,
    )
  })

  t.test('reaches as far as the slower half, and learners never count', async (t) => {
    const reached = new Map(Object.entries({ a: 9, b: 8, c: 3, d: 5, e: 1, l: 99 }))
    const index = (configuration: Configuration) =>
      quorumIndex(configuration, (nodeId) => reached.get(nodeId) ?? 0)
    t.equal(index(JOINT), 5)
    t.equal(index({ voters: ['a', 'c', 'd'], learners: ['l'], outgoing: [] }), 5)
    t.equal(index({ voters: ['c', 'e'], learners: ['l'], outgoing: [] }), 1)
  })

  t.test('decides in both halves while the configuration is joint', async (t) => {
    const network = new TestNetwork(configurationOf('a', 'd', 'e'), { spares: ['b', 'c'] })
    network.elect('a')
    for (const id of ['d', 'e']) network.isolate(id)
    network.configure('a', { voters: ['a', 'b', 'c'] })
    network.propose('a')
    network.settle()
    t.match(network.status('a').configuration, { voters: ['a', 'b', 'c'], outgoing: ['a', 'd', 'e'] })
    t.equal(network.checker.committedIndex, 1, 'the outgoing half does not agree')
    network.tickAll(30)
    t.strictSame(network.leaders(), [], 'and no member can lead without it')
  })
})

t.test('[thesis 4.1] a configuration entry', async (t) => {
  const five = configurationOf('a', 'b', 'c', 'd', 'e')

  t.test('is in force when appended and gone when truncated', async (t) => {
    const single = new Single()
    const first = logOfTerms(1)
    single.confirm(single.append({ term: 1, entries: [...first, configurationEntry(2, 1, five)] }))
    t.strictSame(single.status.configuration, five)
    single.append({ term: 2, from: 'c', prevLogIndex: 1, prevLogTerm: 1, entries: logOfTerms(1, 2).slice(1) })
    t.strictSame(single.status.configuration, configurationOf('a', 'b', 'c'))
  })

  t.test('is found again at a restart, committed or not', async (t) => {
    const entries = [...logOfTerms(1), configurationEntry(2, 1, five), configurationEntry(3, 1, JOINT)]
    t.strictSame(new Single({ entries }).status.configuration, JOINT)
    t.strictSame(new Single({ entries: entries.slice(0, 2), appliedIndex: 1 }).status.configuration, five)
  })

  t.test('does not travel in a snapshot before it is applied', async (t) => {
    const entries = [...logOfTerms(1), configurationEntry(2, 1, five)]
    const single = new Single({ entries, appliedIndex: 1 })
    single.step({ type: 'compact', index: 1 })
    single.confirm(single.becomeLeader())
    const effects = single.answer('b', { success: false, index: 2, hintIndex: 0, hintTerm: 0 })
    const [offer] = sentOf(effects, 'InstallSnapshot')
    t.strictSame(offer?.configuration, configurationOf('a', 'b', 'c'))
  })

  t.test('counts votes by the new members as soon as it is in the log', async (t) => {
    const entries = [...logOfTerms(1), configurationEntry(2, 1, five)]
    const single = new Single({ entries })
    while (single.status.role === 'follower') single.step({ type: 'tick' })
    const vote = { type: 'RequestVoteResponse', to: 'a', term: 2, preVote: true, granted: true } as const
    single.receive({ ...vote, from: 'b' })
    t.equal(single.status.role, 'preCandidate', 'two of five')
    single.receive({ ...vote, from: 'e' })
    t.equal(single.status.role, 'candidate')
  })

  t.test('becomes the oldest in the history once it is applied', async (t) => {
    const history = new ConfigurationHistory(0, configurationOf('a'))
    history.appended([configurationEntry(3, 1, five), configurationEntry(6, 1, JOINT)])
    history.appliedTo(5)
    t.strictSame([history.applied, history.current], [five, JOINT])
    history.truncatedFrom(6)
    t.strictSame(history.current, five)
    t.throws(() => history.truncatedFrom(3), { name: 'InvariantError' })
  })
})

t.test('[thesis 4.2.1] a learner', async (t) => {
  const withLearner: Configuration = { voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] }

  t.test('receives the log and applies it', async (t) => {
    const network = new TestNetwork(withLearner)
    network.elect('a')
    network.propose('a')
    network.settle()
    t.match(network.status('l'), { role: 'follower', leaderId: 'a', appliedIndex: 2 })
  })

  t.test('counts neither for a commit nor for the authority of the leader', async (t) => {
    const network = new TestNetwork(withLearner)
    network.elect('a')
    network.isolate('b')
    network.isolate('c')
    network.propose('a')
    network.tickAll(5)
    t.equal(network.checker.committedIndex, 1)
    t.equal(network.node('l').log.lastIndex, 2)
    network.tickAll(10)
    t.strictSame(network.leaders(), [])
  })

  t.test('never campaigns, by itself or when ordered to', async (t) => {
    const single = new Single({ configuration: { voters: ['b', 'c'], learners: ['a'], outgoing: [] } })
    for (let i = 0; i < 100; i += 1) single.step({ type: 'tick' })
    single.confirm(single.append({ term: 1 }))
    single.receive({ type: 'TimeoutNow', from: 'b', to: 'a', term: 1 })
    t.match(single.status, { role: 'follower', term: 1 })
  })

  t.test('grants its vote, because it may have been promoted without knowing', async (t) => {
    const single = new Single({ configuration: { voters: ['b', 'c'], learners: ['a'], outgoing: [] } })
    const effects = single.receive({
      type: 'RequestVote',
      from: 'b',
      to: 'a',
      term: 1,
      preVote: false,
      transfer: false,
      lastLogIndex: 0,
      lastLogTerm: 0,
    })
    t.match(sentOf(single.confirm(effects), 'RequestVoteResponse'), [{ granted: true }])
  })
})
