/** The driver of membership operations over a real store and a group that follows orders: any leader goes on where the last one was. */
import t from 'tap'
import type { MembershipPort, MemberStatus } from '../../cluster/index.ts'
import { keys } from '../../src/state-machine/keys.ts'
import type { OperationRecord } from '../../src/state-machine/records.ts'
import { Evacuating } from '../../src/workers/evacuating.ts'
import { MembershipWorker } from '../../src/workers/membership.ts'
import { commonChecksum, isCaughtUp } from '../../src/workers/readiness.ts'
import { SILENT } from '../helpers/loggers.ts'
import { loneMembership, loneStatus } from '../helpers/told-membership.ts'
import { firstMember, start } from '../state-machine/member-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

const READY_MS = 10_000

/** A group whose votes move when they are told to. */
class Bench {
  readonly world: StoreWorld
  now = 0
  onDuty = true
  leader = 'n1'
  voters = ['n1', 'n2', 'n3']
  learners: string[] = []
  silent: readonly string[] = []
  /** How far each newcomer is behind. */
  lag = 0
  checksum = 'equal'
  term = 1
  readonly orders: string[] = []
  /** What happens while a newcomer is asked, and while the state is made to hold all that was committed. */
  meanwhile: () => Promise<unknown> = async () => undefined
  behind: () => Promise<unknown> = async () => undefined
  #worker: MembershipWorker

  private constructor(world: StoreWorld) {
    this.world = world
    this.#worker = this.#make()
  }

  static async start(t: Teardown): Promise<Bench> {
    const bench = new Bench(await StoreWorld.withBucket(t))
    const members = bench.voters.map((nodeId) => firstMember(nodeId))
    await bench.world.do({ type: 'foundMembers', members })
    return bench
  }

  /** Another process, or another node, that leads from now on. */
  nextLeader(nodeId = this.leader): void {
    this.leader = nodeId
    this.#worker = this.#make()
  }

  async round(ms = 1_000): Promise<void> {
    while (await this.#worker.round());
    this.now += ms
  }

  operation(id: string): OperationRecord {
    const found = this.world.store.reader.operation(id)
    if (found === undefined) throw new Error(`there is no operation ${id}`)
    return found
  }

  phase(nodeId: string): string | undefined {
    const { members } = this.world.store.reader.view.get(keys.members()) ?? { members: [] }
    return members.find((member) => member.nodeId === nodeId)?.phase
  }

  #make(): MembershipWorker {
    const state = this.world.store.reader
    const propose = this.world.propose
    return new MembershipWorker({
      nodeId: this.leader,
      isOnDuty: () => this.onDuty,
      membership: this.#port(),
      readBarrier: async () => void (await this.behind()),
      state,
      propose,
      evacuating: new Evacuating({ cluster: { placement: () => ['n1', 'n2'] }, state, propose }),
      now: () => this.now,
      readyMs: READY_MS,
      logger: SILENT,
    })
  }

  #status(): MemberStatus {
    const configuration = { voters: this.voters, learners: this.learners, outgoing: [] }
    const peers = [...this.voters, ...this.learners].map((nodeId) => {
      const silentMs = this.silent.includes(nodeId) ? 60_000 : 0
      return { nodeId, matchIndex: 1, silentMs, lagEntries: this.lag, lagBytes: 0 }
    })
    return loneStatus(this.leader, { term: this.term, configuration, peers, checksums: [[7, 'equal']] })
  }

  #port(): MembershipPort {
    return {
      ...loneMembership(this.leader),
      local: () => this.#status(),
      newcomer: async (nodeId) => {
        await this.meanwhile()
        return `${nodeId} does not answer`
      },
      ask: async (nodeId) => loneStatus(nodeId, { checksums: [[7, this.checksum]] }),
      change: async ({ voters, learners }) => {
        this.orders.push(`${voters.join(' ')} | ${learners.join(' ')}`)
        this.voters = [...voters]
        this.learners = [...learners]
      },
      transfer: async () => {
        this.orders.push('transfer')
        this.onDuty = false
      },
    }
  }
}

t.test(
  'a newcomer gets its vote after it has kept up for a while, without a gap [membership.join.ready]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('join', 'n4'))
    bench.lag = 10_000
    for (let n = 0; n < 70; n++) await bench.round()
    t.match(bench.operation('op-join-n4'), { cursor: 'catchUp', phase: 'stalled: it cannot catch up' })
    bench.lag = 3
    for (let n = 0; n < 8; n++) await bench.round()
    bench.lag = 300
    await bench.round()
    bench.lag = 0
    for (let n = 0; n < 10; n++) await bench.round()
    t.same(bench.orders, ['n1 n2 n3 | n4'], 'a gap begins the wait anew')
    await bench.round()
    t.same(bench.orders, ['n1 n2 n3 | n4', 'n1 n2 n3 n4 | '])
    t.match(bench.operation('op-join-n4'), { status: 'succeeded' })
    t.equal(bench.phase('n4'), 'active')
  },
)

t.test('state_checksum_mismatch: a state that differs never gets a vote', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.checksum = 'another'
  for (let n = 0; n < 30; n++) await bench.round()
  t.match(bench.operation('op-join-n4'), { cursor: 'catchUp', phase: 'stalled: state_checksum_mismatch' })
  t.same(bench.voters, ['n1', 'n2', 'n3'])
})

t.test('a cancelled newcomer leaves the configuration before its row goes', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  await bench.round()
  t.same(bench.learners, ['n4'])
  const cancel = {
    type: 'setOperationStatus',
    operationId: 'op-join-n4',
    action: 'cancel',
    error: null,
  } as const
  await bench.world.do(cancel)
  await bench.round()
  t.same([bench.learners, bench.phase('n4')], [[], undefined])
})

t.test(
  'a leader that is demoted hands over first, and the next one goes on [membership.demote]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('demote', 'n1'))
    await bench.round()
    t.same(bench.orders, ['transfer'])
    t.match(bench.operation('op-demote-n1'), { cursor: 'demote' })
    bench.onDuty = true
    bench.nextLeader('n2')
    await bench.round()
    t.same([bench.voters, bench.learners], [['n2', 'n3'], ['n1']])
    t.match(bench.operation('op-demote-n1'), { status: 'succeeded' })
    t.equal(bench.phase('n1'), 'drained')
  },
)

t.test(
  'a replacement is one change of votes, and each leader of its way knows what is done already [membership.resume]',
  async (t) => {
    const bench = await Bench.start(t)
    await bench.world.do(start('replace', 'n3', { newcomer: 'n4' }))
    for (let n = 0; n < 40 && bench.operation('op-replace-n3').status === 'running'; n++) {
      bench.nextLeader(n % 2 === 0 ? 'n1' : 'n2')
      for (let rounds = 0; rounds < 12; rounds++) await bench.round()
    }
    t.same(bench.orders, ['n1 n2 n3 | n4', 'n1 n2 n4 | n3', 'n1 n2 n4 | '])
    t.match(bench.operation('op-replace-n3'), { status: 'succeeded' })
    t.equal(bench.phase('n3'), undefined)
  },
)

t.test('lost: the configuration goes on without it, and its name never comes back', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('lost', 'n3'))
  await bench.round()
  t.same(bench.orders, ['n1 n2 | '])
  t.match(bench.operation('op-lost-n3'), { status: 'succeeded' })
  await bench.world.do(start('remove', 'n3'))
  await bench.round()
  t.equal(bench.phase('n3'), undefined)
  t.same(bench.orders, ['n1 n2 | '], 'it was outside already')
})

t.test('a new leader drives nothing before it holds what was committed before it', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.behind = async () => {
    const given = { operationId: 'op-join-n4', error: null } as const
    await bench.world.apply([
      { type: 'setOperationStatus', action: 'cancel', ...given },
      { type: 'undoMembership', operationId: 'op-join-n4' },
    ])
  }
  await bench.round()
  t.same(bench.orders, [], 'nobody takes in who was sent away')
})

t.test('what is given up, or driven by somebody else meanwhile, changes no configuration', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.meanwhile = async () => bench.term++
  await bench.round()
  t.same(bench.orders, [], 'another leader has led in between')
  bench.meanwhile = () =>
    bench.world.do({ type: 'setOperationStatus', operationId: 'op-join-n4', action: 'cancel', error: null })
  await bench.round()
  await bench.round()
  t.same([bench.orders, bench.phase('n4')], [[], undefined], 'it goes without having come')
})

t.test('votes wait for those without whom nobody could decide, and may be left where they are', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('demote', 'n3'))
  bench.silent = ['n2']
  for (let n = 0; n < 3; n++) await bench.round()
  t.match(bench.operation('op-demote-n3'), { status: 'running', phase: /waiting: without n2/ })
  await bench.world.do({
    type: 'setOperationStatus',
    operationId: 'op-demote-n3',
    action: 'cancel',
    error: null,
  })
  await bench.round()
  t.match(bench.operation('op-demote-n3'), { status: 'cancelled' })
  t.same([bench.orders, bench.phase('n3')], [[], 'active'])
})

t.test('nobody but the leader drives', async (t) => {
  const bench = await Bench.start(t)
  await bench.world.do(start('join', 'n4'))
  bench.onDuty = false
  await bench.round()
  t.same(bench.orders, [])
})

t.test('readiness', (t) => {
  const peer = { nodeId: 'n4', matchIndex: 5, silentMs: 0, lagEntries: 256, lagBytes: 1_048_576 }
  const ready = (change: Partial<typeof peer>): boolean =>
    isCaughtUp({ peers: [{ ...peer, ...change }] }, 'n4')
  t.ok(ready({}))
  for (const change of [{ lagEntries: 257 }, { lagBytes: 1_048_577 }, { silentMs: 1_001 }, { matchIndex: 0 }])
    t.notOk(ready(change), JSON.stringify(change))
  t.notOk(isCaughtUp({ peers: [] }, 'n4'))
  const sums = (...checksums: [number, string][]) => ({ checksums })
  t.equal(commonChecksum(sums([1, 'a'], [2, 'b']), sums([2, 'b'])), 'equal')
  t.equal(commonChecksum(sums([1, 'a']), sums([1, 'b'])), 'different')
  t.equal(commonChecksum(sums([1, 'a']), sums([2, 'a'])), 'unknown')
  t.end()
})
