/** The driver of membership operations on a bench: a real store, a group whose votes move when they are told to, a clock that is turned. */
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import type { MembershipPort, MemberStatus } from '../../cluster/index.ts'
import type { OperationRecord } from '../../src/state-machine/operations/records.ts'
import { Evacuating } from '../../src/workers/evacuating.ts'
import { MembershipWorker } from '../../src/workers/membership.ts'
import { firstMember } from '../state-machine/member-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { SILENT } from './loggers.ts'
import { loneMembership, loneStatus } from './told-membership.ts'

const READY_MS = 10_000

/** A group whose votes move when they are told to. */
export class Bench {
  readonly world: StoreWorld
  now = 0
  jobRunner = true
  leader = 'n1'
  voters = ['n1', 'n2', 'n3']
  learners: string[] = []
  silent: readonly string[] = []
  /** How far each newcomer is behind. */
  lag = 0
  checksum = 'equal'
  /** Of whoever answers under a newcomer's name. */
  life = 'life'
  /** Of the configuration in force: joint, or written at an index that is not committed. */
  pending: Partial<MemberStatus> & { readonly outgoing?: readonly string[] } = {}
  /** Who takes copies, as far as this node has followed. */
  followed = ['n1', 'n2']
  /** Of each chunk. */
  copiesWanted = 9
  /** Newcomers do not say how they stand. */
  isSilent = false
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

  static async start(t: Teardown, voters = ['n1', 'n2', 'n3']): Promise<Bench> {
    const bench = new Bench(await StoreWorld.withBucket(t))
    bench.voters = voters
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
    const { members } = this.world.store.reader.view.get(memberKeys.members()) ?? { members: [] }
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
    const peers = [...this.voters, ...this.learners].map((nodeId) => {
      const silentMs = this.silent.includes(nodeId) ? 60_000 : 0
      return { nodeId, matchIndex: 1, silentMs, lagEntries: this.lag, lagBytes: 0 }
    })
    return loneStatus(this.leader, {
      term: this.term,
      configuration,
      peers,
      checksums: [[7, 'equal']],
      ...pending,
    })
  }

  #port(): MembershipPort {
    return {
      ...loneMembership(this.leader),
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
        return loneStatus(nodeId, {
          incarnation: `${this.life}-of-${nodeId}`,
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
