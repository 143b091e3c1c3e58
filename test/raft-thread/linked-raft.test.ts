/** The half of Raft as the thread of the state sees it, when the thread of Raft goes away or says nothing. */
import t from 'tap'
import { Condition } from '../../cluster/base/types.ts'
import { LinkedRaft } from '../../cluster/raft-thread/linked-raft.ts'
import type { Published, RaftCalls, StateCalls } from '../../cluster/raft-thread/raft-calls.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MemoryState, MemoryStateMachine, command } from '../helpers/memory-state-machine.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { linkedPair } from './linked-pair.ts'

const ELECTION_TIMEOUT_MS = 300

const PUBLISHED: Published = {
  members: [{ nodeId: 'n1', peerAddress: '127.0.0.1:1', zone: 'z', weight: 1 }],
  readiness: { ready: true, reasons: [] },
  isJobRunner: true,
  timeOffset: 1_000,
  time: { majorityTime: 1_000, offsetMs: 0, offsets: [], logTime: 0, confirmedTime: 0 },
  isJoining: false,
  identity: { nodeId: 'n1', incarnation: 'n1-0', peerAddress: '127.0.0.1:1', fingerprint: null },
  ownPlace: null,
  stateLevel: 3,
  local: null,
  reserve: { bytes: 100, isHeld: false },
}

/** A thread of Raft that takes proposals and answers none. */
async function silentRaft() {
  const { left, right } = linkedPair<StateCalls, RaftCalls>()
  const clock = new VirtualClock()
  const never = () => new Promise<never>(() => undefined)
  const identity = {
    clusterId: 'c1',
    nodeId: 'n1',
    incarnation: 'n1-0',
    fingerprint: '',
    boot: 1,
    before: null,
  }
  const refuse = () => Promise.reject(new Condition('no_leader', 'no leader is known'))
  const others = {
    open: never,
    start: never,
    fail: never,
    reachesLevel: never,
    entryTimes: never,
    forgetFingerprint: never,
  }
  const members = { askMember: never, memberStatuses: never, newcomer: never, change: never, transfer: never }
  right.serve<RaftCalls>({
    ...others,
    ...members,
    setMembers: never,
    peerCall: never,
    publishState: never,
    stateDamaged: never,
    sourceBlock: never,
    stop: never,
    metrics: never,
    assemble: () => ({ identity, published: PUBLISHED }),
    propose: never,
    readBarrier: refuse,
  })
  const member = { nodeId: 'n1', clusterId: 'c1', dataDir: '/data', listen: '127.0.0.1:1', members: [] }
  const pace = { heartbeatMs: 30, electionTimeoutMs: ELECTION_TIMEOUT_MS }
  const log = { logKeepEntries: 1, logKeepBytes: 1, logPinBytes: 1 }
  const raft = await LinkedRaft.open({
    options: { ...member, ...pace, ...log, tls: null, fingerprint: '', shortMethods: [] },
    known: null,
    state: {
      stateMachine: new MemoryStateMachine(new MemoryState()),
      logger: SILENT,
      downloads: () => 0,
      isScarceAt: () => false,
    },
    link: left,
    clock,
    end: async () => undefined,
  })
  const end = (): void => {
    const error = new Error('The thread of Raft ended')
    left.close(new Condition('shutting_down', 'This node stops', { cause: error }))
    raft.onEnd(error)
  }
  return { raft, clock, end }
}

t.test(
  'a proposal without an answer when the thread ends is commit_unknown, and the node has failed',
  async (t) => {
    const { raft, end } = await silentRaft()
    const reply = raft.propose(command('append a'))
    await t.rejects(raft.readBarrier(), { name: 'Condition', code: 'no_leader' }, 'the thread has it by now')
    end()
    await t.rejects(reply, { name: 'Condition', code: 'commit_unknown' })
    t.match(await raft.failed, /thread of Raft ended/)
    t.match(raft.readiness(), { ready: false, reasons: [/has failed/] })
    t.notOk(raft.isJobRunner())
    await t.rejects(
      raft.propose(command('append b')),
      { code: 'shutting_down' },
      'a later one does not start',
    )
    await t.rejects(raft.readBarrier(), { code: 'shutting_down' })
  },
)

t.test('a thread that says nothing for three election time-outs makes the node unready', async (t) => {
  const { raft, clock } = await silentRaft()
  const known = raft.time.now()
  await clock.advance(3 * ELECTION_TIMEOUT_MS)
  t.match(raft.readiness(), { ready: true })
  t.equal(raft.time.now() - known, 3 * ELECTION_TIMEOUT_MS, 'the time of the cluster passes meanwhile')
  await clock.advance(1)
  t.match(raft.readiness(), { ready: false, reasons: [/said nothing for 901 ms/] })
  t.notOk(raft.isJobRunner())
})

t.test('a scrape that the thread does not answer ends', async (t) => {
  const { raft, clock } = await silentRaft()
  const scrape = raft.metrics()
  await clock.advance(2_000)
  t.strictSame(await scrape, [])
})
