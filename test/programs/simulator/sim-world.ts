/**
 * A group of whole nodes in a world that follows from a seed.
 *
 * Owns: the seats and what may happen to them. Knows nothing of: when to do what; faults.ts and run-seed.ts do.
 * Rule: real code, simulated time, network, disks and processes; nothing here reads a real clock or draws real chance.
 */
import { StartError } from '../../../cluster/base/types.ts'
import type { Owner } from './event-queue.ts'
import { Random } from './random.ts'
import { SimChecks } from './sim-checks.ts'
import { SimDisks } from './sim-disks.ts'
import { SimClients } from './sim-clients.ts'
import { SimNetwork } from './sim-network.ts'
import { type OracleParts, SimOracle } from './sim-oracle.ts'
import { SimPaths } from './sim-paths.ts'
import { SimProcess } from './sim-process.ts'
import { SimSeat } from './sim-seat.ts'
import { Stage } from './stage.ts'
import { type Subject, subjectOf } from './subject.ts'
import type { Plan } from './swarm.ts'
import { SimWallClocks } from './sim-wall-clocks.ts'
import { windowExcess } from './window-rule.ts'

/** A world that is made wrong on purpose, to show that the checks see it. */
export type Canary = 'earlyAck' | 'lyingDisk' | 'staleRead' | 'doubleApply'

/**
 * Whoever finds a tear in its last write asks the others what was committed there. Alone there is nobody to ask, and of two
 * voters neither can tell without the other.
 */
export const TEARS_VOTERS_MIN = 3

export interface WorldOptions {
  readonly canary: Canary | null
  readonly traceLines: number
}

export class SimWorld {
  readonly plan: Plan
  readonly options: WorldOptions
  readonly stage: Stage
  readonly random: { readonly [part in 'nodes' | 'network' | 'disk' | 'clients' | 'faults']: Random }
  readonly voters: readonly string[]
  readonly seats: readonly SimSeat[]
  readonly subject: Subject
  readonly network: SimNetwork
  readonly checks: SimChecks
  readonly oracle: SimOracle
  readonly clients: SimClients
  /** ms since 1970 at the beginning; whoever lets time go by raises it. */
  epochMs = 1_767_225_600_000
  readonly wallClocks: SimWallClocks
  readonly counts = { crashes: 0, snapshots: 0, starts: 0, mended: 0, rebuilt: 0, reused: 0 }
  readonly disks: SimDisks
  /** Faults are over: disks and processes behave. */
  isCalm = false

  constructor(plan: Plan, options: WorldOptions) {
    this.plan = plan
    this.options = options
    this.stage = new Stage({ afterEvent: (owner) => this.#settled(owner), traceLines: options.traceLines })
    const { stage } = this
    const part = (stream: string): Random => new Random(plan.seed, stream)
    this.random = {
      nodes: part('nodes'),
      network: part('network'),
      disk: part('disk'),
      clients: part('clients'),
      faults: part('faults'),
    }
    this.voters = Array.from({ length: plan.nodes }, (_, i) => `n${i + 1}`)
    const isLying = options.canary === 'lyingDisk'
    const tearsAnywhere = plan.tearsAnywhere && plan.nodes >= TEARS_VOTERS_MIN
    const disk = { ...plan, random: this.random.disk, isLying, tearsAnywhere }
    const names = Array.from({ length: plan.nodes + plan.spares }, (_, i) => `n${i + 1}`)
    this.seats = names.map((id, place) => new SimSeat(id, place, disk))
    this.wallClocks = new SimWallClocks({
      names,
      random: part('clocks'),
      now: () => stage.now,
      violate: (broken) => stage.violate(broken),
    })
    this.disks = new SimDisks(this)
    const seats = new Map(this.seats.map((seat) => [seat.id, seat]))
    const violate = (broken: string): void => stage.violate(broken)
    const paths = new SimPaths(this.seats.length, plan, this.random.network)
    this.network = new SimNetwork({ stage, paths, random: this.random.network }, seats, {
      ...plan,
      stallRate: plan.duplicateRate / 10,
      stallMs: 4 * plan.electionTimeoutMs,
    })
    this.checks = new SimChecks(seats, { voters: this.voters, learners: [], outgoing: [] }, violate)
    const pass = (ms: number): void => {
      this.epochMs += ms
    }
    this.subject = subjectOf(plan, { random: this.random.clients, violate, pass, world: this })
    const { rules, witness, workload } = this.subject
    const committedIndex = (): number => this.checks.committedIndex
    const beganElsewhere = (nodeId: string, index: number): boolean =>
      !this.voters.includes(nodeId) &&
      index < (this.checks.committedConfigurations[1]?.index ?? Number.POSITIVE_INFINITY)
    const judgeTime: OracleParts['judgeTime'] = (entry) =>
      this.wallClocks.check({ ...entry, trueTime: this.trueTime })
    const judging = { committedIndex, witness, violate, beganElsewhere, judgeTime }
    this.oracle = new SimOracle({ ...judging, idOf: rules.idOf })
    this.clients = new SimClients(
      { stage, random: this.random.clients, oracle: this.oracle, workload },
      { ...plan, perNode: plan.clientsPerNode, readsAtOnce: options.canary === 'staleRead' },
    )
  }

  /** ms since 1970, as no clock of the world shows it. */
  get trueTime(): number {
    return this.epochMs + this.stage.now
  }

  get running(): readonly SimSeat[] {
    return this.seats.filter(({ process }) => process !== null)
  }

  /** The one that leads in the highest term, as far as it knows itself. */
  get leader(): SimSeat | null {
    let leader: SimSeat | null = null
    let highest = -1
    for (const seat of this.seats) {
      const status = seat.process?.status() ?? null
      if (status?.role !== 'leader' || status.term <= highest) continue
      leader = seat
      highest = status.term
    }
    return leader
  }

  start(seat: SimSeat): void {
    if (seat.process !== null || !seat.isInstalled) return
    if (seat.before !== null && seat.nextBoot === null) seat.before = [...seat.before, seat.boot]
    seat.boot = seat.nextBoot ?? seat.boot + 1
    seat.nextBoot = null
    this.counts.starts += 1
    this.stage.note(() => `${seat.id} starts, boot ${seat.boot}`)
    seat.process = new SimProcess(this, seat)
    seat.process.start()
  }

  startLater(seat: SimSeat, ms: number): void {
    seat.downUntil = this.stage.now + ms
    this.stage.after(ms, 'start', {}, () => {
      if (this.stage.now >= seat.downUntil) this.start(seat)
    })
  }

  /** The process ends at once; the machine, with its page cache, runs on. */
  kill(seat: SimSeat): void {
    this.#end(seat, () => seat.files.processEnded())
  }

  /** The machine loses power. */
  cutPower(seat: SimSeat): void {
    seat.evidence.hostLost()
    if (seat.process === null) seat.files.powerCut()
    else this.#end(seat, () => seat.files.powerCut())
  }

  /** The process finds its own end in the middle of its work, and comes back later. */
  dies(seat: SimSeat, why: string): void {
    this.stage.note(() => `${seat.id} dies ${why}`)
    if (this.random.faults.chance(0.5)) this.kill(seat)
    else this.cutPower(seat)
    this.startLater(seat, this.downMs())
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  stop(seat: SimSeat): void {
    const { process } = seat
    if (process === null || process.isStopping || !process.isOpen) return
    process.isStopping = true
    process.isOpen = false
    const gone = (): void => {
      if (process.isDead) return
      this.kill(seat)
      this.startLater(seat, this.downMs())
    }
    void process.node.stop().then(gone)
    this.stage.after(this.plan.electionTimeoutMs * 10, 'stop by force', { owner: process }, gone)
  }

  pause(seat: SimSeat, ms: number): void {
    const { process } = seat
    if (process === null || process.isPaused) return
    process.isPaused = true
    this.stage.after(ms, 'resume', {}, () => this.resume(process))
  }

  resume(process: SimProcess): void {
    if (process.isDead || !process.isPaused) return
    process.isPaused = false
    this.stage.release(process)
  }

  /** Whatever was damaged is mended. */
  serves(seat: SimSeat, process: SimProcess): void {
    if (process.isDead || !seat.isDamaged) return
    seat.isDamaged = false
    this.counts.mended += 1
    this.stage.note(() => `${seat.id} is mended`)
  }

  nodeFailed(seat: SimSeat, process: SimProcess, error: Error): void {
    if (process.isDead) return
    process.hasFailed = true
    if (!this.#isExcused(seat, process) && !error.message.startsWith('Disk stalled'))
      this.stage.violate(`${seat.id} failed by itself: ${error.stack ?? error.message}`)
    this.stage.note(() => `${seat.id} failed: ${error.message}`)
    // A moment later: those whom the node still has to tell hear of it first.
    this.stage.after(this.random.faults.exponential(5), 'exit', { owner: process }, () => {
      this.kill(seat)
      this.startLater(seat, this.downMs())
    })
  }

  startFailed(seat: SimSeat, process: SimProcess, error: unknown): void {
    if (process.isDead) return
    const isExcused = this.#isExcused(seat, process)
    if (!isExcused)
      this.stage.violate(
        `${seat.id} cannot start: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      )
    this.stage.note(() => `${seat.id} cannot start: ${String(error)}`)
    this.kill(seat)
    // Damage stays; whatever else was wrong is tried again.
    if (error instanceof StartError && seat.isDamaged) seat.isLost = true
    else this.startLater(seat, this.downMs())
  }

  /** How long the next flush takes. ms */
  flushMs(seat: SimSeat, meanMs: number): number {
    const { disk } = this.random
    const { spikeRate, spikeMs } = this.plan
    const usual = disk.exponential(meanMs)
    if (this.isCalm) return usual
    const isSpike = spikeRate > 0 && disk.chance(spikeRate)
    return (
      usual + (isSpike ? disk.between(0, spikeMs) : 0) + (seat.slowMs > 0 ? disk.exponential(seat.slowMs) : 0)
    )
  }

  downMs(): number {
    return this.random.faults.exponential(this.plan.faultLastsMs)
  }

  #end(seat: SimSeat, ended: () => void): void {
    const { process } = seat
    if (process === null || process.isDead) return
    this.counts.crashes += 1
    // It may die in the middle of a step: what that step decided counts as decided.
    this.checks.moved(seat, process)
    process.die()
    seat.process = null
    ended()
    process.transport.flush()
    this.checks.ended(process)
    this.network.closeStreamsOf(process)
    this.clients.abandon(process)
  }

  #isExcused(seat: SimSeat, process: SimProcess): boolean {
    return process.hasMetFault || seat.isDamaged || seat.isStateDamaged
  }

  #settled(owner: Owner | null): void {
    const seat = owner === null ? undefined : this.seats[owner.place]
    const process = seat?.process
    if (seat === undefined || !process || process !== owner) return
    process.transport.flush()
    this.checks.moved(seat, process)
    const excess = windowExcess(seat, process, this.plan.windowEntries)
    if (excess !== null) this.stage.violate(excess)
  }
}
