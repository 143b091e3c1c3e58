/**
 * The faults of a simulated world, and their times.
 *
 * Owns: the choice and injection of faults, and the budget: the hosts that must stay intact so that no committed entry can be lost.
 * Knows nothing of: what is right; the checks do. Rule: at most a minority of the hosts loses what its disk promised.
 */
import type { Random } from './random.ts'
import { changeMembers } from './sim-members.ts'
import type { SimHost } from './sim-host.ts'
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
    for (const host of world.hosts) {
      host.clockRate = 1 + this.#random.between(-skew, skew)
    }
  }

  start(): void {
    if (this.#weightSum > 0) this.#next()
  }

  /** Heals every fault that can be healed. */
  stop(): void {
    this.#isOver = true
    const { network, hosts, scheduler } = this.#world
    this.#world.isCalm = true
    network.isCalm = true
    network.paths.becomeCalm()
    this.#world.wallClocks.setAllRight()
    for (const host of hosts) {
      host.slowMs = 0
      host.clockRate = 1
      host.files.isFull = false
      host.files.failsSync = false
      host.state.failsApply = false
      if (host.process !== null) {
        host.process.dyingIn = -1
        this.#world.resume(host.process)
      }
    }
    scheduler.note(() => 'faults end')
  }

  /**
   * Hosts that may still be emptied or damaged without a majority being in danger. Where writes tear, one more must stay whole:
   * a node that finds a tear needs a majority of others to learn what was committed.
   */
  get budget(): number {
    const { hosts, plan } = this.#world
    const spoiled = hosts.filter(
      (host) => host.isLost || host.isForgetful || host.isDamaged || host.isStateDamaged,
    ).length
    return Math.floor((hosts.length - 1) / 2) - spoiled - (plan.tearsAnywhere ? 1 : 0)
  }

  #next(): void {
    const { scheduler, plan } = this.#world
    scheduler.after(this.#random.exponential(plan.faultEveryMs), 'fault', {}, () => {
      if (this.#isOver) return
      const fault = this.#draw()
      const count = this.counts.get(fault) ?? 0
      this.counts.set(fault, count + 1)
      scheduler.note(() => `fault: ${fault}`)
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
    const host = this.#victim()
    switch (fault) {
      case 'crash':
        return this.#crash(host)
      case 'crashAtEffect':
        return this.#crashSoon(host, 40)
      case 'crashLoop':
        for (let i = 1; i < 6; i += 1)
          this.#later(this.#world.plan.heartbeatMs * i * 3, () => this.#crashSoon(host, 12))
        return
      case 'powerCutAll':
        return this.#cutPowerOfAll()
      case 'stopOrderly':
        return this.#world.stop(host)
      case 'pause':
        return this.#world.pause(host, this.#pauseMs())
      case 'wallJump':
        return this.#world.wallClocks.spoil(host.id)
      case 'slowDisk':
      case 'failSync':
      case 'fullDisk':
      case 'failApply':
        return this.#breakDisk(fault, host)
      case 'wipe':
      case 'rot':
        return this.#spoil(fault, this.#random.pick(this.#world.hosts))
      case 'damageRow':
        return this.#damageRow(this.#victim())
      case 'rollBack':
        return this.#rollBack()
      case 'members':
        return changeMembers(this.#world, this.#random)
      case 'replay':
        return this.#world.network.replay(1 + this.#random.below(20))
      default:
        return this.#breakNetwork(fault, host.place)
    }
  }

  #crash(host: SimHost): void {
    if (host.process === null) return
    if (this.#random.chance(0.5)) this.#world.kill(host)
    else this.#world.cutPower(host)
    this.#world.startLater(host, this.#world.downMs())
  }

  #crashSoon(host: SimHost, effects: number): void {
    if (host.process !== null) host.process.dyingIn = this.#random.below(effects)
  }

  #cutPowerOfAll(): void {
    const { hosts } = this.#world
    for (const host of hosts) {
      this.#world.cutPower(host)
      this.#world.startLater(host, this.#world.downMs())
    }
  }

  #breakDisk(fault: Fault, host: SimHost): void {
    const { files, state } = host
    if (fault === 'failSync') files.failsSync = true
    if (fault === 'failApply') state.failsApply = true
    if (fault === 'slowDisk') {
      host.slowMs = this.#random.pick([20, 200, 2_000])
      this.#later(this.#lastsMs(), () => (host.slowMs = 0))
    }
    if (fault === 'fullDisk') {
      files.isFull = true
      this.#later(this.#lastsMs(), () => (files.isFull = false))
    }
  }

  /** The damage is unknown until a reader finds that row; the process continues. */
  #damageRow(host: SimHost): void {
    const { state, isLost, isDamaged, isStateDamaged } = host
    if (this.budget <= 0 || isLost || isDamaged || isStateDamaged || state.record === null) return
    this.#world.scheduler.note(() => `a row of ${host.id} is damaged`)
    state.isDamaged = true
    state.damages += 1
  }

  /** Irreversible. Only where every node knows the directory, because an unknown one is indistinguishable from the first. */
  #spoil(fault: 'wipe' | 'rot', host: SimHost): void {
    if (this.budget <= 0 || host.isLost || host.isDamaged || !this.#isKnownToAll(host)) return
    if (fault === 'wipe') return this.#wipeBehindABack(host)
    this.#world.cutPower(host)
    const where = host.files.rot()
    if (where !== null) host.isDamaged = true
    this.#world.scheduler.note(() => `${host.id} rots: ${String(where)}`)
    this.#world.startLater(host, this.#world.downMs())
  }

  /**
   * The worst moment for an empty disk: one node has missed what the others committed, and then reaches only the one that
   * has forgotten it. If that one had a vote, the two would decide without the rest.
   */
  #wipeBehindABack(host: SimHost): void {
    const { paths } = this.#world.network
    const others = this.#random.shuffle(this.#others(host.place))
    const behind = others.slice(0, this.#world.hosts.length >> 1)
    const rest = others.slice(behind.length)
    for (const a of behind) for (const b of [host.place, ...rest]) paths.blockBoth(a, b)
    this.#later(this.#lastsMs(), () => {
      paths.heal()
      if (this.budget <= 0 || host.isLost || host.isDamaged || !this.#isKnownToAll(host)) return
      this.#world.scheduler.note(() => `${host.id} is emptied`)
      this.#world.kill(host)
      host.wipe()
      this.#world.startLater(host, 0)
      for (const a of rest) for (const b of [host.place, ...behind]) paths.blockBoth(a, b)
      this.#later(this.#lastsMs() * 3, () => paths.heal())
    })
  }

  /** A voter's disk goes back. Most often another voter has missed the lost entries, and is the only peer that it reaches. */
  #rollBack(): void {
    const { hosts, checks, disks, network } = this.#world
    const { voters = [] } = checks.configurationsInForce.at(-1) ?? {}
    const [host, ...others] = this.#random.shuffle(hosts.filter(({ id }) => voters.includes(id)))
    const image = host === undefined ? null : disks.copyOf(host)
    if (host === undefined || image === null) return
    const places = others.map(({ place }) => place)
    const [behind, rest] = [places.slice(0, voters.length >> 1), places.slice(voters.length >> 1)]
    const isLagging = this.#random.chance(0.7)
    if (isLagging) this.#separate(behind, [host.place, ...rest])
    this.#later(this.#lastsMs(), () => {
      if (isLagging) network.paths.heal()
      if (this.budget <= 0 || !disks.mayGoBack(host, image)) return
      disks.goBack(host, image, this.#random.chance(0.5) ? 0 : this.#world.downMs())
      if (!isLagging) return
      this.#separate(rest, [host.place, ...behind])
      this.#later(this.#lastsMs() * 3, () => network.paths.heal())
    })
  }

  #separate(left: readonly number[], right: readonly number[]): void {
    for (const a of left) for (const b of right) this.#world.network.paths.blockBoth(a, b)
  }

  #isKnownToAll({ id }: SimHost): boolean {
    return this.#world.hosts.every(({ process, isLost }) => isLost || process?.knows(id) === true)
  }

  #breakNetwork(fault: Fault, place: number): void {
    const { scheduler, network, plan } = this.#world
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
          if (this.#random.chance(0.5)) paths.clog(place, other, scheduler.now + this.#lastsMs())
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
    const places = this.#random.shuffle(this.#world.hosts.map((host) => host.place))
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
    const chosen = this.#random.shuffle(this.#world.hosts.map((host) => host.place)).slice(0, 3)
    const all = this.#world.hosts.map((host) => host.place)
    for (const place of chosen) {
      this.#later(this.#lastsMs() / 4, () => {
        const until = this.#world.scheduler.now + this.#lastsMs()
        for (const other of all) paths.clog(place, other, until)
      })
    }
  }

  /** The leader more often than others: most faults matter there. */
  #victim(): SimHost {
    const { leader, hosts } = this.#world
    return leader !== null && this.#random.chance(0.4) ? leader : this.#random.pick(hosts)
  }

  #others(place: number): number[] {
    return this.#world.hosts.map((host) => host.place).filter((other) => other !== place)
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
    this.#world.scheduler.after(ms, 'fault continues', {}, () => {
      if (!this.#isOver) happens()
    })
  }
}
