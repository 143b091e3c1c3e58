/**
 * Faults of machines in a walk of membership: long outages, an empty disk under an old name, an old copy of a disk.
 *
 * Owns: which disks may lose promises. Rule: a node without a vote may lose everything at any time; a voter only while no change of
 * votes runs, every counting node knows its directory, and the others have a quorum without all spoiled ones. Old copies obey
 * record 29 promises (sim-disks.ts).
 */
import type { MemberOperators } from './member-operators.ts'
import type { MemberOracle } from './member-oracle.ts'
import { asConfigured } from './member-places.ts'
import { isQuorum } from './quorums.ts'
import { Random } from './random.ts'
import type { DiskImage, SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

/** Mean times. ms */
const OUTAGE_EVERY_MS = 25_000
const OUTAGE_MS = 40_000
const SPOIL_EVERY_MS = 20_000
/** Twice the time for which a voter counts as in contact. [src/workers/readiness.ts] */
const NOTICE_MS = 2_000

export class MemberFaults {
  readonly #world: SimWorld
  readonly #oracle: MemberOracle
  readonly #operators: MemberOperators
  readonly #random: Random
  readonly #images = new Map<string, DiskImage>()
  readonly counts = { outages: 0, emptied: 0, restored: 0 }
  isOver = false

  constructor(world: SimWorld, oracle: MemberOracle, operators: MemberOperators) {
    this.#world = world
    this.#oracle = oracle
    this.#operators = operators
    this.#random = new Random(world.plan.seed, 'machines')
  }

  start(): void {
    this.#every(OUTAGE_EVERY_MS, () => this.#outage())
    this.#every(SPOIL_EVERY_MS, () => this.#spoil())
  }

  #every(ms: number, happen: () => void): void {
    this.#world.scheduler.after(this.#random.exponential(ms), 'machine', {}, () => {
      if (this.isOver) return
      happen()
      this.#every(ms, happen)
    })
  }

  #outage(): void {
    const running = this.#world.hosts.filter(({ process }) => process !== null)
    if (running.length === 0) return
    const host = this.#random.pick(running)
    this.counts.outages += 1
    this.#world.cutPower(host)
    const image = this.#world.disks.copyOf(host)
    if (image !== null && this.#random.chance(0.7)) this.#images.set(host.id, image)
    this.#world.startLater(host, this.#random.exponential(OUTAGE_MS))
  }

  #spoil(): void {
    const there = this.#world.hosts.filter((host) => host.isInstalled && !host.isLost)
    const back = there.filter((host) => this.#mayGoBack(host))
    if (back.length > 0 && this.#random.chance(0.6)) return this.#restore(this.#random.pick(back))
    const able = there.filter((host) => this.#mayForget(host))
    if (able.length > 0) this.#empty(this.#random.pick(able))
  }

  /** A member only within the rule for disks that go back; a node without a vote that is not joining, at any time. */
  #mayGoBack(host: SimHost): boolean {
    const image = this.#images.get(host.id)
    if (image === undefined) return false
    if (!this.#isNamed(host.id)) return !this.#couldDecideAlone(host)
    // A copy older than the registered process is never accepted again: it is equivalent to an empty disk.
    const isActive = image.boot === host.boot
    return this.#world.disks.mayGoBack(host, image) && (isActive || this.#mayForget(host))
  }

  #empty(host: SimHost): void {
    this.#world.kill(host)
    this.counts.emptied += 1
    const counts = this.#counts(host)
    if (this.#isNamed(host.id)) this.#letOthersNotice()
    host.wipe()
    host.isLost = counts
    this.#images.delete(host.id)
    const { voters } = this.#world
    const others = this.#oracle.members.members.map(({ nodeId }) => nodeId).filter((name) => name !== host.id)
    // Only a node named by the configuration can start without joining.
    host.joins = !voters.includes(host.id) || this.#random.chance(0.5)
    host.configured = asConfigured(host.joins && others.length > 0 ? others : voters)
    this.#world.scheduler.note(() => `${host.id} starts with an empty disk${host.joins ? ' and waits' : ''}`)
    this.#world.startLater(host, this.#random.exponential(5_000))
  }

  #restore(host: SimHost): void {
    const image = this.#images.get(host.id)
    if (image === undefined) return
    this.counts.restored += 1
    const downMs = this.#random.exponential(5_000)
    const { disks, scheduler } = this.#world
    if (this.#isNamed(host.id)) {
      if (image.boot !== host.boot) this.#letOthersNotice()
      return disks.goBack(host, image, downMs)
    }
    const counts = this.#counts(host)
    this.#world.kill(host)
    host.restore(image, disks.nextBoot())
    host.isLost = counts
    scheduler.note(() => `${host.id} starts from an old copy of its disk`)
    this.#world.startLater(host, downMs)
  }

  /** Until a leader knows that a voter is silent it may move votes to where that one is needed: a loss on top, which no group of two survives. */
  #letOthersNotice(): void {
    this.#operators.restFor(NOTICE_MS)
  }

  #mayForget(host: SimHost): boolean {
    if (this.#couldDecideAlone(host)) return false
    if (!this.#isNamed(host.id)) return true
    const { hosts, checks } = this.#world
    const isCalm = this.#oracle.isQuiet && this.#operators.open === 0
    if (!isCalm || !this.#counting().every(({ process }) => process?.knows(host.id) === true)) return false
    const whole = new Set(
      hosts.filter((one) => !one.isLost && !one.isForgetful && one !== host).map(({ id }) => id),
    )
    return checks.configurationsInForce.every((configuration) => isQuorum(configuration, whole))
  }

  /**
   * Whether the nodes without the configuration that followed one are a quorum under it, once this one forgets: then
   * they could continue as if it were still in force, without any node that knows the later one.
   */
  #couldDecideAlone(host: SimHost): boolean {
    const { hosts, checks } = this.#world
    const committed = checks.committedConfigurations
    return committed.some(({ configuration }, at) => {
      const followedAt = committed[at + 1]?.index
      if (followedAt === undefined) return false
      const forgetful = hosts.filter(
        (one) => one === host || one.isLost || Math.max(one.durable.lastIndex, one.stateIndex) < followedAt,
      )
      return isQuorum(configuration, new Set(forgetful.map(({ id }) => id)))
    })
  }

  /** It has a vote, is a learner, or is joining. */
  #isNamed(id: string): boolean {
    const inForce = this.#world.checks.configurationsInForce
    const isInRows = this.#oracle.members.members.some(
      ({ nodeId, phase }) => nodeId === id && phase !== 'lost',
    )
    return (
      isInRows ||
      inForce.some(({ voters, learners, outgoing }) => [...voters, ...learners, ...outgoing].includes(id))
    )
  }

  /** Another node knows the lost disk: its name cannot be used again. */
  #counts({ id }: SimHost): boolean {
    return (
      this.#isNamed(id) ||
      this.#hasLeft(id) ||
      this.#world.hosts.some(({ process }) => process?.knows(id) === true)
    )
  }

  #hasLeft(id: string): boolean {
    return this.#oracle.members.departed.some(({ nodeId }) => nodeId === id)
  }

  #counting(): readonly SimHost[] {
    return this.#world.hosts.filter((host) => !host.isLost && this.#isNamed(host.id))
  }
}
