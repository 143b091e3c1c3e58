/**
 * What a process of the service does about its members, beside its node: the real directory, port, workers and operations.
 *
 * Owns: the wiring, the pace, a maker of copies that moves names of chunks instead of bytes. Knows nothing of: who asks for what.
 * Rule: what is durable goes to the seat and only after a flush; everything else ends with the process.
 */
import { beginningOf } from '../../../cluster/membership/beginning.ts'
import { Directory, type Membership } from '../../../cluster/membership/directory.ts'
import { MembershipRoom } from '../../../cluster/membership/membership-port.ts'
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
import type { ServiceParts, SimService } from './subject.ts'

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
  #room: MembershipRoom | null = null
  #propose: Propose | null = null

  constructor(parts: ServiceParts) {
    this.#parts = parts
    const { seat } = parts
    const beginner = { nodeId: seat.id, members: seat.configured, isJoining: seat.joins }
    this.directory = new Directory(seat.id, beginningOf(beginner, seat.membership))
    this.first = this.directory.first
    this.reader = new MemberReader(() => seat.state.rows)
  }

  get addresses(): ReadonlyMap<string, string> {
    return this.directory.addresses
  }

  get room(): MembershipRoom {
    if (this.#room === null) throw new Error('the room is made with the process')
    return this.#room
  }

  get propose(): Propose {
    if (this.#propose === null) throw new Error('proposals are made through the process')
    return this.#propose
  }

  /** As far as operations on members go. */
  get services(): Services {
    const { seat, world } = this.#parts
    const cluster: Partial<Services['cluster']> = { nodeId: seat.id, clusterId: 'sim', membership: this.room }
    const state: Partial<StateReader> = this.reader
    world.stage.note(() => `${seat.id} is asked about members`)
    const config = { cluster: { promoteAfterMs: READY_MS } } as Services['config']
    return { config, cluster, state, propose: this.propose } as Services
  }

  knows(peer: string): boolean {
    const isKnown = this.directory.knows(peer)
    if (!isKnown) this.room.onStranger()
    return isKnown
  }

  objectionTo(claims: PeerClaims): PeerObjection | null {
    return this.directory.objectionTo(claims)
  }

  /** Nobody who left is heard, nor another directory than the one that has the name. */
  heard({ nodeId, incarnation, boot, before = null }: PeerClaims): void {
    const { world, seat } = this.#parts
    const registered = this.#process?.node.registered(nodeId) ?? null
    if (registered !== null && registered.incarnation !== incarnation)
      world.stage.violate(`${seat.id} hears ${incarnation}, registered is ${registered.incarnation}`)
    if (registered !== null && isOldCopy(boot, before, registered.boot))
      world.stage.violate(`${seat.id} hears an old copy of ${nodeId}`)
    if (this.directory.present.departed.includes(nodeId))
      world.stage.violate(`${seat.id} hears ${nodeId}, which has left for ever`)
  }

  attach(process: SimProcess): void {
    const { seat, clock, logger, world } = this.#parts
    const { node, transport } = process
    this.#process = process
    const file = { write: (membership: Membership) => this.#write(membership) }
    this.#room = new MembershipRoom({
      node,
      transport,
      listen: seat.id,
      directory: this.directory,
      file,
      incarnation: seat.incarnation,
      version: VERSION,
      heartbeatMs: world.plan.heartbeatMs,
      hasTls: true,
      clock,
      logger,
    })
    this.#propose = createPropose({
      propose: (command) => {
        this.#proposals += 1
        const id = `${seat.incarnation}.${seat.boot}.${this.#proposals}`
        return node.propose(Buffer.concat([Buffer.from(`${id} `, 'latin1'), command]))
      },
    })
  }

  async open(): Promise<void> {
    await this.#write(this.directory.present)
  }

  begin(): void {
    const { seat, clock, logger, world } = this.#parts
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
    const { dataAddress, adminAddress } = placeOf(seat.id)
    const following: FollowingParts = {
      nodeId: seat.id,
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

  /** One task in a round; a copy is there before it is told. */
  async #copy(): Promise<boolean> {
    const { seat, world } = this.#parts
    const tasks = this.reader.tasksOf(seat.id)
    const task = tasks[0]
    if (task === undefined) return false
    const { tenantId, chunkId, birth, permit } = task
    const { items } = await this.reader.chunks('', Number.MAX_SAFE_INTEGER)
    const holders = items.find(({ id }) => id === chunkId)?.replicas ?? []
    const hasSource = world.seats.some(
      ({ id, process, copies }) => holders.includes(id) && process !== null && copies.has(birth),
    )
    if (!hasSource && !seat.copies.has(birth)) return false
    await this.#flushed('copy kept')
    seat.copies.add(birth)
    await this.propose({ type: 'addReplica', tenantId, chunkId, birth, node: seat.id, permit })
    return tasks.length > 1
  }

  #repeat(name: string, work: () => Promise<boolean>): void {
    const { clock, world, seat } = this.#parts
    const round = (): void => {
      work().then(
        (isMore) => void clock.after(isMore ? 1 : WORK_EVERY_MS, round),
        (error: unknown) => {
          if (!(error instanceof Condition))
            world.stage.violate(`worker '${name}' of ${seat.id} ends in ${String((error as Error).stack)}`)
          clock.after(WORK_EVERY_MS, round)
        },
      )
    }
    clock.after(world.random.nodes.below(WORK_EVERY_MS), round)
  }

  async #write(membership: Membership): Promise<void> {
    await this.#flushed('members kept')
    this.#parts.seat.membership = membership
  }

  #flushed(kind: string): Promise<void> {
    const { world, seat, owner } = this.#parts
    return new Promise((resolve) => {
      world.stage.after(world.flushMs(seat, world.plan.flushMs), kind, { owner }, resolve)
    })
  }
}

/** It does not know of the registered process, which came after those that it knows of. */
function isOldCopy(boot: number, before: readonly number[] | null, registered: number): boolean {
  if (before === null) return registered > boot
  return registered > (before[0] ?? boot) && registered !== boot && !before.includes(registered)
}
