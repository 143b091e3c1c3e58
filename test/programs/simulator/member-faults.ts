/**
 * What happens to machines in a walk of membership: long outages, an empty disk under an old name, an old copy of a disk.
 *
 * Owns: whose promises may be forgotten. Rule: whoever has no vote may lose everything at any time; a voter only while nobody changes
 * votes, everybody who counts knows its directory, and the others can decide without all that are spoiled. Old copies are held to what
 * record 29 promises (sim-disks.ts).
 */
import type { MemberOperators } from './member-operators.ts'
import type { MemberOracle } from './member-oracle.ts'
import { asConfigured } from './member-places.ts'
import { isQuorum } from './quorums.ts'
import { Random } from './random.ts'
import type { DiskImage, SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'

/** Mean times. ms */
const OUTAGE_EVERY_MS = 25_000
const OUTAGE_MS = 40_000
const SPOIL_EVERY_MS = 20_000
/** Twice as long as a voter counts as heard just now. [src/workers/readiness.ts] */
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
    this.#world.stage.after(this.#random.exponential(ms), 'machine', {}, () => {
      if (this.isOver) return
      happen()
      this.#every(ms, happen)
    })
  }

  #outage(): void {
    const running = this.#world.seats.filter(({ process }) => process !== null)
    if (running.length === 0) return
    const seat = this.#random.pick(running)
    this.counts.outages += 1
    this.#world.cutPower(seat)
    const image = this.#world.disks.copyOf(seat)
    if (image !== null && this.#random.chance(0.7)) this.#images.set(seat.id, image)
    this.#world.startLater(seat, this.#random.exponential(OUTAGE_MS))
  }

  #spoil(): void {
    const there = this.#world.seats.filter((seat) => seat.isInstalled && !seat.isLost)
    const back = there.filter((seat) => this.#mayGoBack(seat))
    if (back.length > 0 && this.#random.chance(0.6)) return this.#restore(this.#random.pick(back))
    const able = there.filter((seat) => this.#mayForget(seat))
    if (able.length > 0) this.#empty(this.#random.pick(able))
  }

  /** Of a member as far as the rule for disks that go back promises; of whoever has no vote and is on no way to one, any time. */
  #mayGoBack(seat: SimSeat): boolean {
    const image = this.#images.get(seat.id)
    if (image === undefined) return false
    if (!this.#isNamed(seat.id)) return !this.#couldDecideAlone(seat)
    // A copy from before the process that is registered is never heard again: as good as an empty disk.
    const isHeard = image.boot === seat.boot
    return this.#world.disks.mayGoBack(seat, image) && (isHeard || this.#mayForget(seat))
  }

  #empty(seat: SimSeat): void {
    this.#world.kill(seat)
    this.counts.emptied += 1
    const counts = this.#counts(seat)
    if (this.#isNamed(seat.id)) this.#letOthersNotice()
    seat.wipe()
    seat.isLost = counts
    this.#images.delete(seat.id)
    const { voters } = this.#world
    const others = this.#oracle.members.members.map(({ nodeId }) => nodeId).filter((name) => name !== seat.id)
    // Only whom the configuration names can start without joining.
    seat.joins = !voters.includes(seat.id) || this.#random.chance(0.5)
    seat.configured = asConfigured(seat.joins && others.length > 0 ? others : voters)
    this.#world.stage.note(() => `${seat.id} starts with an empty disk${seat.joins ? ' and waits' : ''}`)
    this.#world.startLater(seat, this.#random.exponential(5_000))
  }

  #restore(seat: SimSeat): void {
    const image = this.#images.get(seat.id)
    if (image === undefined) return
    this.counts.restored += 1
    const downMs = this.#random.exponential(5_000)
    const { disks, stage } = this.#world
    if (this.#isNamed(seat.id)) {
      if (image.boot !== seat.boot) this.#letOthersNotice()
      return disks.goBack(seat, image, downMs)
    }
    const counts = this.#counts(seat)
    this.#world.kill(seat)
    seat.restore(image, disks.nextBoot())
    seat.isLost = counts
    stage.note(() => `${seat.id} starts from an old copy of its disk`)
    this.#world.startLater(seat, downMs)
  }

  /** Until a leader knows that a voter is silent it may move votes to where that one is needed: a loss on top, which no group of two survives. */
  #letOthersNotice(): void {
    this.#operators.restFor(NOTICE_MS)
  }

  #mayForget(seat: SimSeat): boolean {
    if (this.#couldDecideAlone(seat)) return false
    if (!this.#isNamed(seat.id)) return true
    const { seats, checks } = this.#world
    const isCalm = this.#oracle.isQuiet && this.#operators.open === 0
    if (!isCalm || !this.#counting().every(({ process }) => process?.knows(seat.id) === true)) return false
    const whole = new Set(
      seats.filter((one) => !one.isLost && !one.isForgetful && one !== seat).map(({ id }) => id),
    )
    return checks.configurationsInForce.every((configuration) => isQuorum(configuration, whole))
  }

  /**
   * Whether those who know nothing of the configuration that followed one are enough to decide under it, once this one forgets: then
   * they could go on as if it were still in force, and nobody who knows better would have to be asked.
   */
  #couldDecideAlone(seat: SimSeat): boolean {
    const { seats, checks } = this.#world
    const committed = checks.committedConfigurations
    return committed.some(({ configuration }, at) => {
      const followedAt = committed[at + 1]?.index
      if (followedAt === undefined) return false
      const forgetful = seats.filter(
        (one) => one === seat || one.isLost || Math.max(one.durable.lastIndex, one.stateIndex) < followedAt,
      )
      return isQuorum(configuration, new Set(forgetful.map(({ id }) => id)))
    })
  }

  /** It has a vote, is a learner, or is on the way. */
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

  /** Somebody has heard of the disk that is gone: its name is spent. */
  #counts({ id }: SimSeat): boolean {
    return (
      this.#isNamed(id) ||
      this.#hasLeft(id) ||
      this.#world.seats.some(({ process }) => process?.knows(id) === true)
    )
  }

  #hasLeft(id: string): boolean {
    return this.#oracle.members.departed.some(({ nodeId }) => nodeId === id)
  }

  #counting(): readonly SimSeat[] {
    return this.#world.seats.filter((seat) => !seat.isLost && this.#isNamed(seat.id))
  }
}
