/** The membership worker over a real store, a group whose votes move on request, and a clock that the test moves. */
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import type { MembershipPort, MemberStatus } from '../../cluster/index.ts'
import type { LongOperation } from '../../src/state-machine/long-operations/records.ts'
import { Evacuating } from '../../src/workers/evacuating.ts'
import { MembershipWorker } from '../../src/workers/membership.ts'
import { firstMember } from '../state-machine/member-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { SILENT } from './loggers.ts'
import { singleNodeMembership, singleNodeStatus } from './membership-samples.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'

const READY_MS = 10_000

/** A group whose votes move on request. */
export class Bench {
  readonly world: StoreWorld
  now = 0
  jobRunner = true
  leader = 'n1'
  voters = ['n1', 'n2', 'n3']
  learners: string[] = []
  silent: readonly string[] = []
  /** How far each joining node is behind. */
  lag = 0
  checksum = 'equal'
  /** The incarnation of the process that answers under a joining node's name. */
  life = 'life'
  /** Status of the configuration in force: joint, or written at an index that is not committed. */
  pending: Partial<MemberStatus> & { readonly outgoing?: readonly string[] } = {}
  /** The members that take copies, as far as this node has applied. */
  followed = ['n1', 'n2']
  /** Copies of each chunk. */
  copiesWanted = 9
  /** Joining nodes do not answer status requests. */
  isSilent = false
  term = 1
  /** What each member serves. */
  downloads = 0
  /** Outside of the configuration, and still answered by the leader. */
  lingering: readonly string[] = []
  readonly orders: string[] = []
  /** Runs while a joining node is contacted, and while the read barrier waits for the committed state. */
  meanwhile: () => Promise<unknown> = async () => undefined
  behind: () => Promise<unknown> = async () => undefined
  #worker: MembershipWorker

  private constructor(world: StoreWorld) {
    this.world = world
    this.#worker = this.#make()
  }

  static async start(t: Teardown, voters = ['n1', 'n2', 'n3']): Promise<Bench> {
    const bench = new Bench(await StoreWorld.withBucket(t))
    bench.voters = voters
    const members = bench.voters.map((nodeId) => firstMember(nodeId))
    await bench.world.do({ type: 'foundMembers', members })
    return bench
  }

  /** Another process, or another node, leads from now on. */
  nextLeader(nodeId = this.leader): void {
    this.leader = nodeId
    this.#worker = this.#make()
  }

  async round(ms = 1_000): Promise<void> {
    while (await this.#worker.round());
    this.now += ms
  }

  operation(id: string): LongOperation {
    const found = this.world.store.reader.get(longOperationKeys.operation(id))
    if (found === undefined) throw new Error(`there is no operation ${id}`)
    return found
  }

  phase(nodeId: string): string | undefined {
    const { members } = this.world.store.reader.get(memberKeys.members()) ?? { members: [] }
    return members.find((member) => member.nodeId === nodeId)?.phase
  }

  #make(): MembershipWorker {
    const state = this.world.store.reader
    const propose = this.world.propose
    return new MembershipWorker({
      nodeId: this.leader,
      isJobRunner: () => this.jobRunner,
      membership: this.#port(),
      readBarrier: async () => void (await this.behind()),
      state,
      propose,
      evacuating: new Evacuating({
        cluster: { placement: () => this.followed.slice(0, this.copiesWanted) },
        state,
        propose,
        membership: { local: () => this.#status() },
      }),
      now: () => this.now,
      readyMs: READY_MS,
      logger: SILENT,
    })
  }

  #status(): MemberStatus {
    const { outgoing = [], ...pending } = this.pending
    const configuration = { voters: this.voters, learners: this.learners, outgoing }
    const peers = [...this.voters, ...this.learners, ...this.lingering].map((nodeId) => {
      const silentMs = this.silent.includes(nodeId) ? 60_000 : 0
      return { nodeId, matchIndex: 1, silentMs, lagEntries: this.lag, lagBytes: 0 }
    })
    return singleNodeStatus(this.leader, {
      term: this.term,
      configuration,
      peers,
      checksums: [[7, 'equal']],
      ...pending,
    })
  }

  #port(): MembershipPort {
    return {
      ...singleNodeMembership(this.leader),
      local: () => this.#status(),
      setMembers: async ({ members }) => {
        this.followed = members.filter(({ weight }) => weight > 0).map(({ nodeId }) => nodeId)
      },
      newcomer: async (nodeId) => {
        await this.meanwhile()
        return `${nodeId} does not answer`
      },
      ask: async (nodeId) => {
        if (this.isSilent) return null
        return singleNodeStatus(nodeId, {
          incarnation: `${this.life}-of-${nodeId}`,
          downloads: this.downloads,
          checksums: [[7, this.checksum]],
        })
      },
      change: async ({ voters, learners }) => {
        this.orders.push(`${voters.join(' ')} | ${learners.join(' ')}`)
        this.voters = [...voters]
        this.learners = [...learners]
      },
      transfer: async () => {
        this.orders.push('transfer')
        this.jobRunner = false
      },
    }
  }
}
