/**
 * What happens to machines in a walk of membership: long outages, an empty disk under an old name, an old copy of a disk.
 *
 * Owns: whose promises may be forgotten. Rule: whoever has no vote may lose everything at any time; a voter only while nobody changes
 * votes, everybody who counts knows its directory, and the others can decide without all that are spoiled.
 */
import type { MemberOperators } from './member-operators.ts'
import type { MemberOracle } from './member-oracle.ts'
import { asConfigured } from './member-places.ts'
import { isQuorum } from './quorums.ts'
import { Random } from './random.ts'
import type { DiskImage, SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'

/** Between the first processes of two copies that are put back. */
const RESTORED_BOOTS = 1_000_000
/** Mean times. ms */
const OUTAGE_EVERY_MS = 25_000
const OUTAGE_MS = 40_000
const SPOIL_EVERY_MS = 20_000

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
    if (this.#random.chance(0.7)) this.#images.set(seat.id, seat.image())
    this.#world.startLater(seat, this.#random.exponential(OUTAGE_MS))
  }

  #spoil(): void {
    const { seats } = this.#world
    const able = seats.filter((seat) => seat.isInstalled && !seat.isLost && this.#mayForget(seat))
    if (able.length === 0) return
    const seat = this.#random.pick(able)
    const image = this.#images.get(seat.id)
    const bootMax = image === undefined ? 0 : this.#bootMax(seat, image)
    this.#world.kill(seat)
    if (image !== undefined && bootMax > image.boot && this.#random.chance(0.6)) this.#restore(seat, image)
    else this.#empty(seat)
    this.#world.startLater(seat, this.#random.exponential(5_000))
  }

  #empty(seat: SimSeat): void {
    this.counts.emptied += 1
    const counts = this.#counts(seat)
    seat.wipe()
    seat.isLost = counts
    this.#images.delete(seat.id)
    const { voters } = this.#world
    const others = this.#oracle.members.members.map(({ nodeId }) => nodeId).filter((name) => name !== seat.id)
    // Only whom the configuration names can start without joining.
    seat.joins = !voters.includes(seat.id) || this.#random.chance(0.5)
    seat.configured = asConfigured(seat.joins && others.length > 0 ? others : voters)
    this.#world.stage.note(() => `${seat.id} starts with an empty disk${seat.joins ? ' and waits' : ''}`)
  }

  #restore(seat: SimSeat, image: DiskImage): void {
    this.counts.restored += 1
    const counts = this.#counts(seat)
    seat.restore(image, this.counts.restored * RESTORED_BOOTS)
    seat.isLost = counts
    this.#world.stage.note(() => `${seat.id} starts from an old copy of its disk`)
  }

  /** A copy that was started as often as the original counts as it. Of those who left no process counts. */
  #bootMax({ id }: SimSeat, { boot }: DiskImage): number {
    if (!this.#isNamed(id)) return Number.POSITIVE_INFINITY
    const known = this.#counting().map(({ process }) => process?.node.registered(id)?.boot ?? 0)
    const least = Math.min(...known) - 1
    return known.length > 0 && least > boot ? least : 0
  }

  #mayForget(seat: SimSeat): boolean {
    if (this.#couldDecideAlone(seat)) return false
    if (!this.#isNamed(seat.id)) return true
    const { seats, checks } = this.#world
    const isCalm = this.#oracle.isQuiet && this.#operators.open === 0
    if (!isCalm || !this.#counting().every(({ process }) => process?.knows(seat.id) === true)) return false
    const whole = new Set(seats.filter((one) => !one.isLost && one !== seat).map(({ id }) => id))
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
