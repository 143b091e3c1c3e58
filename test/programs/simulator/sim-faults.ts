/**
 * What goes wrong in a simulated world, and when.
 *
 * Owns: the choice and the doing of faults, and the budget: what must stay whole so that nothing committed can be lost.
 * Knows nothing of: what is right; the checks do. Rule: at most a minority of the seats loses what its disk promised.
 */
import type { Random } from './random.ts'
import { changeMembers } from './sim-members.ts'
import type { SimSeat } from './sim-seat.ts'
import type { SimWorld } from './sim-world.ts'
import { FAULTS, type Fault } from './swarm.ts'

export class SimFaults {
  readonly #world: SimWorld
  readonly #random: Random
  readonly #weightSum: number
  #isOver = false
  readonly counts = new Map<Fault, number>()

  constructor(world: SimWorld) {
    this.#world = world
    this.#random = world.random.faults
    this.#weightSum = FAULTS.reduce((sum, fault) => sum + world.plan.weights[fault], 0)
    const { skew } = world.plan
    for (const seat of world.seats) {
      seat.clockRate = 1 + this.#random.between(-skew, skew)
    }
  }

  start(): void {
    if (this.#weightSum > 0) this.#next()
  }

  /** Everything that can be mended is mended. */
  stop(): void {
    this.#isOver = true
    const { network, seats, stage } = this.#world
    this.#world.isCalm = true
    network.isCalm = true
    network.paths.becomeCalm()
    this.#world.wallClocks.setAllRight()
    for (const seat of seats) {
      seat.slowMs = 0
      seat.clockRate = 1
      seat.files.isFull = false
      seat.files.failsSync = false
      seat.state.failsApply = false
      if (seat.process !== null) {
        seat.process.dyingIn = -1
        this.#world.resume(seat.process)
      }
    }
    stage.note(() => 'faults end')
  }

  /**
   * Seats that may still be emptied or damaged without a majority being in danger. Where writes tear, one more must stay whole:
   * whoever finds a tear needs a majority of others to tell it what was committed.
   */
  get budget(): number {
    const { seats, plan } = this.#world
    const spoiled = seats.filter(
      (seat) => seat.isLost || seat.isForgetful || seat.isDamaged || seat.isStateDamaged,
    ).length
    return Math.floor((seats.length - 1) / 2) - spoiled - (plan.tearsAnywhere ? 1 : 0)
  }

  #next(): void {
    const { stage, plan } = this.#world
    stage.after(this.#random.exponential(plan.faultEveryMs), 'fault', {}, () => {
      if (this.#isOver) return
      const fault = this.#draw()
      const count = this.counts.get(fault) ?? 0
      this.counts.set(fault, count + 1)
      stage.note(() => `fault: ${fault}`)
      this.#happen(fault)
      this.#next()
    })
  }

  #draw(): Fault {
    const { weights } = this.#world.plan
    let dice = this.#random.fraction() * this.#weightSum
    for (const fault of FAULTS) {
      dice -= weights[fault]
      if (dice < 0) return fault
    }
    return 'heal'
  }

  #happen(fault: Fault): void {
    const seat = this.#victim()
    switch (fault) {
      case 'crash':
        return this.#crash(seat)
      case 'crashAtEffect':
        return this.#crashSoon(seat, 40)
      case 'crashLoop':
        for (let i = 1; i < 6; i += 1)
          this.#later(this.#world.plan.heartbeatMs * i * 3, () => this.#crashSoon(seat, 12))
        return
      case 'powerCutAll':
        return this.#cutPowerOfAll()
      case 'stopOrderly':
        return this.#world.stop(seat)
      case 'pause':
        return this.#world.pause(seat, this.#pauseMs())
      case 'wallJump':
        return this.#world.wallClocks.spoil(seat.id)
      case 'slowDisk':
      case 'failSync':
      case 'fullDisk':
      case 'failApply':
        return this.#breakDisk(fault, seat)
      case 'wipe':
      case 'rot':
        return this.#spoil(fault, this.#random.pick(this.#world.seats))
      case 'damageRow':
        return this.#damageRow(this.#victim())
      case 'rollBack':
        return this.#rollBack()
      case 'members':
        return changeMembers(this.#world, this.#random)
      case 'replay':
        return this.#world.network.replay(1 + this.#random.below(20))
      default:
        return this.#breakNetwork(fault, seat.place)
    }
  }

  #crash(seat: SimSeat): void {
    if (seat.process === null) return
    if (this.#random.chance(0.5)) this.#world.kill(seat)
    else this.#world.cutPower(seat)
    this.#world.startLater(seat, this.#world.downMs())
  }

  #crashSoon(seat: SimSeat, effects: number): void {
    if (seat.process !== null) seat.process.dyingIn = this.#random.below(effects)
  }

  #cutPowerOfAll(): void {
    const { seats } = this.#world
    for (const seat of seats) {
      this.#world.cutPower(seat)
      this.#world.startLater(seat, this.#world.downMs())
    }
  }

  #breakDisk(fault: Fault, seat: SimSeat): void {
    const { files, state } = seat
    if (fault === 'failSync') files.failsSync = true
    if (fault === 'failApply') state.failsApply = true
    if (fault === 'slowDisk') {
      seat.slowMs = this.#random.pick([20, 200, 2_000])
      this.#later(this.#lastsMs(), () => (seat.slowMs = 0))
    }
    if (fault === 'fullDisk') {
      files.isFull = true
      this.#later(this.#lastsMs(), () => (files.isFull = false))
    }
  }

  /** Nobody knows of it before somebody reads that row; the process goes on. */
  #damageRow(seat: SimSeat): void {
    const { state, isLost, isDamaged, isStateDamaged } = seat
    if (this.budget <= 0 || isLost || isDamaged || isStateDamaged || state.record === null) return
    this.#world.stage.note(() => `a row of ${seat.id} is damaged`)
    state.isDamaged = true
    state.damages += 1
  }

  /** What cannot be undone. Only where everybody knows the directory, because an unknown one cannot be told from the first. */
  #spoil(fault: 'wipe' | 'rot', seat: SimSeat): void {
    if (this.budget <= 0 || seat.isLost || seat.isDamaged || !this.#isKnownToAll(seat)) return
    if (fault === 'wipe') return this.#wipeBehindABack(seat)
    this.#world.cutPower(seat)
    const where = seat.files.rot()
    if (where !== null) seat.isDamaged = true
    this.#world.stage.note(() => `${seat.id} rots: ${String(where)}`)
    this.#world.startLater(seat, this.#world.downMs())
  }

  /**
   * The worst moment for an empty disk: one node has missed what the others committed, and then sees nobody but the one that
   * has forgotten it. If that one had a vote, the two would decide without the rest.
   */
  #wipeBehindABack(seat: SimSeat): void {
    const { paths } = this.#world.network
    const others = this.#random.shuffle(this.#others(seat.place))
    const behind = others.slice(0, this.#world.seats.length >> 1)
    const rest = others.slice(behind.length)
    for (const a of behind) for (const b of [seat.place, ...rest]) paths.blockBoth(a, b)
    this.#later(this.#lastsMs(), () => {
      paths.heal()
      if (this.budget <= 0 || seat.isLost || seat.isDamaged || !this.#isKnownToAll(seat)) return
      this.#world.stage.note(() => `${seat.id} is emptied`)
      this.#world.kill(seat)
      seat.wipe()
      this.#world.startLater(seat, 0)
      for (const a of rest) for (const b of [seat.place, ...behind]) paths.blockBoth(a, b)
      this.#later(this.#lastsMs() * 3, () => paths.heal())
    })
  }

  /** A voter's disk goes back. Most often another voter has missed what is forgotten then, and is all that it sees. */
  #rollBack(): void {
    const { seats, checks, disks, network } = this.#world
    const { voters = [] } = checks.configurationsInForce.at(-1) ?? {}
    const [seat, ...others] = this.#random.shuffle(seats.filter(({ id }) => voters.includes(id)))
    const image = seat === undefined ? null : disks.copyOf(seat)
    if (seat === undefined || image === null) return
    const places = others.map(({ place }) => place)
    const [behind, rest] = [places.slice(0, voters.length >> 1), places.slice(voters.length >> 1)]
    const isLagging = this.#random.chance(0.7)
    if (isLagging) this.#separate(behind, [seat.place, ...rest])
    this.#later(this.#lastsMs(), () => {
      if (isLagging) network.paths.heal()
      if (this.budget <= 0 || !disks.mayGoBack(seat, image)) return
      disks.goBack(seat, image, this.#random.chance(0.5) ? 0 : this.#world.downMs())
      if (!isLagging) return
      this.#separate(rest, [seat.place, ...behind])
      this.#later(this.#lastsMs() * 3, () => network.paths.heal())
    })
  }

  #separate(left: readonly number[], right: readonly number[]): void {
    for (const a of left) for (const b of right) this.#world.network.paths.blockBoth(a, b)
  }

  #isKnownToAll({ id }: SimSeat): boolean {
    return this.#world.seats.every(({ process, isLost }) => isLost || process?.knows(id) === true)
  }

  #breakNetwork(fault: Fault, place: number): void {
    const { stage, network, plan } = this.#world
    const { paths } = network
    const others = this.#others(place)
    switch (fault) {
      case 'isolate':
        for (const other of others) paths.blockBoth(place, other)
        break
      case 'oneWay':
        for (const other of others) {
          const direction = this.#random.below(3)
          if (direction === 0) paths.block(place, other)
          if (direction === 1) paths.block(other, place)
        }
        break
      case 'split':
        this.#split()
        break
      case 'bridge':
        this.#bridge(place)
        break
      case 'clog':
        for (const other of others)
          if (this.#random.chance(0.5)) paths.clog(place, other, stage.now + this.#lastsMs())
        return
      case 'swizzle':
        return this.#swizzle()
      default:
        return paths.heal()
    }
    // Most partitions end by themselves; a new fault may come before.
    if (this.#random.chance(0.7)) this.#later(this.#random.exponential(plan.faultLastsMs), () => paths.heal())
  }

  #split(): void {
    const places = this.#random.shuffle(this.#world.seats.map((seat) => seat.place))
    const left = places.splice(0, 1 + this.#random.below(places.length))
    for (const a of left) for (const b of places) this.#world.network.paths.blockBoth(a, b)
  }

  /** Two halves that see each other through one node alone. */
  #bridge(place: number): void {
    const others = this.#random.shuffle(this.#others(place))
    const left = others.splice(0, others.length >> 1)
    for (const a of left) for (const b of others) this.#world.network.paths.blockBoth(a, b)
  }

  /** Stops the paths of a few nodes one after the other, and lets them go in another order. */
  #swizzle(): void {
    const { paths } = this.#world.network
    const chosen = this.#random.shuffle(this.#world.seats.map((seat) => seat.place)).slice(0, 3)
    const all = this.#world.seats.map((seat) => seat.place)
    for (const place of chosen) {
      this.#later(this.#lastsMs() / 4, () => {
        const until = this.#world.stage.now + this.#lastsMs()
        for (const other of all) paths.clog(place, other, until)
      })
    }
  }

  /** The leader more often than others: most goes wrong around it. */
  #victim(): SimSeat {
    const { leader, seats } = this.#world
    return leader !== null && this.#random.chance(0.4) ? leader : this.#random.pick(seats)
  }

  #others(place: number): number[] {
    return this.#world.seats.map((seat) => seat.place).filter((other) => other !== place)
  }

  #pauseMs(): number {
    const { electionTimeoutMs } = this.#world.plan
    const longest = this.#random.chance(0.1) ? 300_000 : 5 * electionTimeoutMs
    return this.#random.chance(0.5)
      ? this.#random.between(1, electionTimeoutMs)
      : this.#random.between(1, longest)
  }

  #lastsMs(): number {
    return this.#random.exponential(this.#world.plan.faultLastsMs)
  }

  #later(ms: number, happens: () => void): void {
    this.#world.stage.after(ms, 'fault goes on', {}, () => {
      if (!this.#isOver) happens()
    })
  }
}
