/**
 * The part of a process that manages members, beside its node: the real directory, port, workers and operations.
 *
 * Owns: the wiring, the pace, a maker of copies that moves names of chunks instead of bytes. Knows nothing of: the requests.
 * Rule: durable data goes to the host and only after a flush; everything else ends with the process.
 */
import { directoryAtStart } from '../../../cluster/directory/open-directory.ts'
import { Directory, type Membership } from '../../../cluster/directory/directory.ts'
import { DirectoryService } from '../../../cluster/directory/membership-port.ts'
import { placeReplicas } from '../../../cluster/placement/rendezvous.ts'
import type { Configuration } from '../../../cluster/raft/types.ts'
import type { PeerClaims, PeerObjection } from '../../../cluster/transport/peer-identity.ts'
import { Condition } from '../../../cluster/base/types.ts'
import type { Services } from '../../../src/operations/base/services.ts'
import { createPropose, type Propose } from '../../../src/commands/propose.ts'
import type { StateReader } from '../../../src/store/reads/state-reader.ts'
import { Evacuating } from '../../../src/workers/evacuating.ts'
import { followMembers, type FollowingParts } from '../../../src/workers/following-members.ts'
import { MembershipWorker } from '../../../src/workers/membership.ts'
import { MemberReader } from './member-reader.ts'
import { foundersOf, placeOf } from './member-places.ts'
import type { SimProcess } from './sim-process.ts'
import type { ServiceParts, SimService } from './sim-setup.ts'
import { chunkRanges } from '../../../src/state-machine/chunks/keys.ts'

export const COPIES_WANTED = 2
/** As the service has them. [decisions 12: join] */
const WORK_EVERY_MS = 1_000
const READY_MS = 10_000
const VERSION = '1.0.0'

export class MemberService implements SimService {
  readonly #parts: ServiceParts
  readonly directory: Directory
  readonly first: Configuration
  readonly reader: MemberReader
  #proposals = 0
  #process: SimProcess | null = null
  #room: DirectoryService | null = null
  #propose: Propose | null = null

  constructor(parts: ServiceParts) {
    this.#parts = parts
    const { host } = parts
    const beginner = { nodeId: host.id, members: host.configured, isJoining: host.joins }
    this.directory = new Directory(host.id, directoryAtStart(beginner, host.membership))
    this.first = this.directory.first
    this.reader = new MemberReader(() => host.state.rows)
  }

  get addresses(): ReadonlyMap<string, string> {
    return this.directory.addresses
  }

  get room(): DirectoryService {
    if (this.#room === null) throw new Error('the room is made with the process')
    return this.#room
  }

  get propose(): Propose {
    if (this.#propose === null) throw new Error('proposals are made through the process')
    return this.#propose
  }

  /** As far as operations on members go. */
  get services(): Services {
    const { host, world } = this.#parts
    const cluster: Partial<Services['cluster']> = { nodeId: host.id, clusterId: 'sim', membership: this.room }
    const state: Partial<StateReader> = this.reader
    world.scheduler.note(() => `${host.id} is asked about members`)
    const config = { cluster: { promoteAfterMs: READY_MS } } as Services['config']
    return { config, cluster, state, propose: this.propose } as Services
  }

  knows(peer: string): boolean {
    const isKnown = this.directory.knows(peer)
    if (!isKnown) this.room.onUnknownPeer()
    return isKnown
  }

  objectionTo(claims: PeerClaims): PeerObjection | null {
    return this.directory.objectionTo(claims)
  }

  /** A node that left is refused, and so is another directory than the registered one. */
  answer({ nodeId, incarnation, boot, before = null }: PeerClaims): void {
    const { world, host } = this.#parts
    const registered = this.#process?.node.registered(nodeId) ?? null
    if (registered !== null && registered.incarnation !== incarnation)
      world.scheduler.violate(`${host.id} accepts ${incarnation}, registered is ${registered.incarnation}`)
    if (registered !== null && isOldCopy(boot, before, registered.boot))
      world.scheduler.violate(`${host.id} accepts an old copy of ${nodeId}`)
    if (this.directory.present.departed.includes(nodeId))
      world.scheduler.violate(`${host.id} accepts ${nodeId}, which has left forever`)
  }

  attach(process: SimProcess): void {
    const { host, clock, logger, world } = this.#parts
    const { node, transport } = process
    this.#process = process
    const file = { write: (membership: Membership) => this.#write(membership) }
    this.#room = new DirectoryService({
      node,
      transport,
      listen: host.id,
      directory: this.directory,
      file,
      incarnation: host.incarnation,
      version: VERSION,
      heartbeatMs: world.plan.heartbeatMs,
      hasTls: true,
      clock,
      logger,
    })
    this.#propose = createPropose({
      propose: (command) => {
        this.#proposals += 1
        const id = `${host.incarnation}.${host.boot}.${this.#proposals}`
        return node.propose(Buffer.concat([Buffer.from(`${id} `, 'latin1'), command]))
      },
    })
  }

  async open(): Promise<void> {
    await this.#write(this.directory.present)
  }

  begin(): void {
    const { host, clock, logger, world } = this.#parts
    const process = this.#process
    if (process === null || process.isDead) return
    const { node } = process
    const placement = (id: string): readonly string[] =>
      placeReplicas({ blobId: id, members: this.directory.members, copies: COPIES_WANTED })
    const evacuating = new Evacuating({
      cluster: { placement },
      state: this.reader,
      propose: this.propose,
      membership: this.room,
    })
    const { dataAddress, adminAddress } = placeOf(host.id)
    const following: FollowingParts = {
      nodeId: host.id,
      membership: this.room,
      isJobRunner: () => node.isJobRunner(),
      state: this.reader,
      propose: this.propose,
      founders: foundersOf(world.voters),
      self: { version: VERSION, dataAddress, adminAddress },
    }
    const worker = new MembershipWorker({
      ...following,
      state: this.reader,
      evacuating,
      readBarrier: () => node.readBarrier(),
      now: () => clock.now(),
      readyMs: READY_MS,
      logger,
    })
    this.#repeat('members', () => followMembers(following))
    this.#repeat('membership', () => worker.round())
    this.#repeat('copies', () => this.#copy())
  }

  /** One task in a round; a copy exists before it is reported. */
  async #copy(): Promise<boolean> {
    const { host, world } = this.#parts
    const tasks = this.reader.tasksOf(host.id)
    const task = tasks[0]
    if (task === undefined) return false
    const { tenantId, chunkId, birth, permit } = task
    const { items } = await this.reader.page(chunkRanges.chunks(), { limit: Number.MAX_SAFE_INTEGER })
    const holders = items.find(({ id }) => id === chunkId)?.replicas ?? []
    const hasSource = world.hosts.some(
      ({ id, process, copies }) => holders.includes(id) && process !== null && copies.has(birth),
    )
    if (!hasSource && !host.copies.has(birth)) return false
    await this.#flushed('copy kept')
    host.copies.add(birth)
    await this.propose({ type: 'addReplica', tenantId, chunkId, birth, node: host.id, permit })
    return tasks.length > 1
  }

  #repeat(name: string, work: () => Promise<boolean>): void {
    const { clock, world, host } = this.#parts
    const round = (): void => {
      work().then(
        (isMore) => void clock.after(isMore ? 1 : WORK_EVERY_MS, round),
        (error: unknown) => {
          if (!(error instanceof Condition))
            world.scheduler.violate(
              `worker '${name}' of ${host.id} ends in ${String((error as Error).stack)}`,
            )
          clock.after(WORK_EVERY_MS, round)
        },
      )
    }
    clock.after(world.random.nodes.below(WORK_EVERY_MS), round)
  }

  async #write(membership: Membership): Promise<void> {
    await this.#flushed('members kept')
    this.#parts.host.membership = membership
  }

  #flushed(kind: string): Promise<void> {
    const { world, host, owner } = this.#parts
    return new Promise((resolve) => {
      world.scheduler.after(world.flushMs(host, world.plan.flushMs), kind, { owner }, resolve)
    })
  }
}

/** It does not know of the registered process, which came after those that it knows of. */
function isOldCopy(boot: number, before: readonly number[] | null, registered: number): boolean {
  if (before === null) return registered > boot
  return registered > (before[0] ?? boot) && registered !== boot && !before.includes(registered)
}
