/**
 * A group of whole nodes in a world that follows from a seed.
 *
 * Owns: the hosts and their events. Knows nothing of: the schedule; sim-faults.ts and run-seed.ts own it.
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
import { SimHost } from './sim-host.ts'
import { SimScheduler } from './sim-scheduler.ts'
import { type SimSetup, setupOf } from './sim-setup.ts'
import type { Plan } from './swarm.ts'
import { SimWallClocks } from './sim-wall-clocks.ts'
import { windowExcess } from './window-rule.ts'

/** A deliberate bug of the world, to show that the checks detect it. */
export type Canary = 'earlyAck' | 'lyingDisk' | 'staleRead' | 'doubleApply'

/**
 * A node that finds a tear in its last write asks the others what was committed there. A single node has no peer, and of two
 * voters neither can decide without the other.
 */
export const TEARS_VOTERS_MIN = 3

export interface WorldOptions {
  readonly canary: Canary | null
  readonly traceLines: number
}

export class SimWorld {
  readonly plan: Plan
  readonly options: WorldOptions
  readonly scheduler: SimScheduler
  readonly random: { readonly [part in 'nodes' | 'network' | 'disk' | 'clients' | 'faults']: Random }
  readonly voters: readonly string[]
  readonly hosts: readonly SimHost[]
  readonly setup: SimSetup
  readonly network: SimNetwork
  readonly checks: SimChecks
  readonly oracle: SimOracle
  readonly clients: SimClients
  /** ms since 1970 at the start; advancing all clocks raises it. */
  epochMs = 1_767_225_600_000
  readonly wallClocks: SimWallClocks
  readonly counts = { crashes: 0, snapshots: 0, starts: 0, repaired: 0, rebuilt: 0, reused: 0 }
  readonly disks: SimDisks
  /** Faults are over: disks and processes behave. */
  isCalm = false

  constructor(plan: Plan, options: WorldOptions) {
    this.plan = plan
    this.options = options
    this.scheduler = new SimScheduler({
      afterEvent: (owner) => this.#settled(owner),
      traceLines: options.traceLines,
    })
    const { scheduler } = this
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
    this.hosts = names.map((id, place) => new SimHost(id, place, disk))
    this.wallClocks = new SimWallClocks({
      names,
      random: part('clocks'),
      now: () => scheduler.now,
      violate: (broken) => scheduler.violate(broken),
    })
    this.disks = new SimDisks(this)
    const hosts = new Map(this.hosts.map((host) => [host.id, host]))
    const violate = (broken: string): void => scheduler.violate(broken)
    const paths = new SimPaths(this.hosts.length, plan, this.random.network)
    this.network = new SimNetwork({ scheduler, paths, random: this.random.network }, hosts, {
      ...plan,
      stallRate: plan.duplicateRate / 10,
      stallMs: 4 * plan.electionTimeoutMs,
    })
    this.checks = new SimChecks(hosts, { voters: this.voters, learners: [], outgoing: [] }, violate)
    const pass = (ms: number): void => {
      this.epochMs += ms
    }
    this.setup = setupOf(plan, { random: this.random.clients, violate, pass, world: this })
    const { rules, observer, workload } = this.setup
    const committedIndex = (): number => this.checks.committedIndex
    // A node that joins begins with the members that it was given, also a founder whose disk was emptied.
    const beganElsewhere = (nodeId: string, index: number): boolean =>
      (!this.voters.includes(nodeId) || hosts.get(nodeId)?.joins === true) &&
      index < (this.checks.committedConfigurations[1]?.index ?? Number.POSITIVE_INFINITY)
    let judged = 0
    const judgeTime: OracleParts['judgeTime'] = ({ configuration, ...entry }) => {
      const since = this.checks.committedConfigurations.filter(
        ({ index }) => index > judged && index <= entry.index,
      )
      judged = entry.index
      const configurations = [configuration, ...since.map((one) => one.configuration)]
      this.wallClocks.check({ ...entry, configurations, trueTime: this.trueTime })
    }
    const judging = { committedIndex, observer, violate, beganElsewhere, judgeTime }
    this.oracle = new SimOracle({ ...judging, idOf: rules.idOf })
    this.clients = new SimClients(
      { scheduler, random: this.random.clients, oracle: this.oracle, workload },
      { ...plan, perNode: plan.clientsPerNode, readsAtOnce: options.canary === 'staleRead' },
    )
  }

  /** ms since 1970, as no clock of the world shows it. */
  get trueTime(): number {
    return this.epochMs + this.scheduler.now
  }

  get running(): readonly SimHost[] {
    return this.hosts.filter(({ process }) => process !== null)
  }

  /** The one that leads in the highest term, as far as it knows. */
  get leader(): SimHost | null {
    let leader: SimHost | null = null
    let highest = -1
    for (const host of this.hosts) {
      const status = host.process?.status() ?? null
      if (status?.role !== 'leader' || status.term <= highest) continue
      leader = host
      highest = status.term
    }
    return leader
  }

  start(host: SimHost): void {
    if (host.process !== null || !host.isInstalled) return
    if (host.before !== null && host.nextBoot === null) host.before = [...host.before, host.boot]
    host.boot = host.nextBoot ?? host.boot + 1
    host.nextBoot = null
    this.counts.starts += 1
    this.scheduler.note(() => `${host.id} starts, boot ${host.boot}`)
    host.process = new SimProcess(this, host)
    host.process.start()
  }

  startLater(host: SimHost, ms: number): void {
    host.downUntil = this.scheduler.now + ms
    this.scheduler.after(ms, 'start', {}, () => {
      if (this.scheduler.now >= host.downUntil) this.start(host)
    })
  }

  /** The process ends at once; the machine, with its page cache, runs on. */
  kill(host: SimHost): void {
    this.#end(host, () => host.files.processEnded())
  }

  /** The machine loses power. */
  cutPower(host: SimHost): void {
    host.evidence.hostLost()
    const lose = (): void => host.losePower((bound) => this.random.disk.below(bound))
    if (host.process === null) lose()
    else this.#end(host, lose)
  }

  /** The process finds its own end in the middle of its work, and comes back later. */
  dies(host: SimHost, why: string): void {
    this.scheduler.note(() => `${host.id} dies ${why}`)
    if (this.random.faults.chance(0.5)) this.kill(host)
    else this.cutPower(host)
    this.startLater(host, this.downMs())
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  stop(host: SimHost): void {
    const { process } = host
    if (process === null || process.isStopping || !process.isOpen) return
    process.isStopping = true
    process.isOpen = false
    const gone = (): void => {
      if (process.isDead) return
      this.kill(host)
      this.startLater(host, this.downMs())
    }
    void process.node.stop().then(gone)
    this.scheduler.after(this.plan.electionTimeoutMs * 10, 'stop by force', { owner: process }, gone)
  }

  pause(host: SimHost, ms: number): void {
    const { process } = host
    if (process === null || process.isPaused) return
    process.isPaused = true
    this.scheduler.after(ms, 'resume', {}, () => this.resume(process))
  }

  resume(process: SimProcess): void {
    if (process.isDead || !process.isPaused) return
    process.isPaused = false
    this.scheduler.release(process)
  }

  /** Repairs the damaged disk. */
  serves(host: SimHost, process: SimProcess): void {
    if (process.isDead || !host.isDamaged) return
    host.isDamaged = false
    this.counts.repaired += 1
    this.scheduler.note(() => `${host.id} is repaired`)
  }

  nodeFailed(host: SimHost, process: SimProcess, error: Error): void {
    if (process.isDead) return
    process.hasFailed = true
    if (!this.#isExcused(host, process) && !error.message.startsWith('Disk stalled'))
      this.scheduler.violate(`${host.id} failed by itself: ${error.stack ?? error.message}`)
    this.scheduler.note(() => `${host.id} failed: ${error.message}`)
    // A moment later: callers of the node get their answers first.
    this.scheduler.after(this.random.faults.exponential(5), 'exit', { owner: process }, () => {
      this.kill(host)
      this.startLater(host, this.downMs())
    })
  }

  startFailed(host: SimHost, process: SimProcess, error: unknown): void {
    if (process.isDead) return
    const isExcused = this.#isExcused(host, process)
    if (!isExcused)
      this.scheduler.violate(
        `${host.id} cannot start: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      )
    this.scheduler.note(() => `${host.id} cannot start: ${String(error)}`)
    this.kill(host)
    // Damage stays; any other fault is retried.
    if (error instanceof StartError && host.isDamaged) host.isLost = true
    else this.startLater(host, this.downMs())
  }

  /** How long the next flush takes. ms */
  flushMs(host: SimHost, meanMs: number): number {
    const { disk } = this.random
    const { spikeRate, spikeMs } = this.plan
    const usual = disk.exponential(meanMs)
    if (this.isCalm) return usual
    const isSpike = spikeRate > 0 && disk.chance(spikeRate)
    return (
      usual + (isSpike ? disk.between(0, spikeMs) : 0) + (host.slowMs > 0 ? disk.exponential(host.slowMs) : 0)
    )
  }

  downMs(): number {
    return this.random.faults.exponential(this.plan.faultLastsMs)
  }

  #end(host: SimHost, ended: () => void): void {
    const { process } = host
    if (process === null || process.isDead) return
    this.counts.crashes += 1
    // It may die in the middle of a step: the decisions of that step count.
    this.checks.moved(host, process)
    process.die()
    host.process = null
    ended()
    process.transport.flush()
    this.checks.ended(process)
    this.network.closeStreamsOf(process)
    this.clients.abandon(process)
  }

  #isExcused(host: SimHost, process: SimProcess): boolean {
    return process.hasMetFault || host.isDamaged || host.isStateDamaged
  }

  #settled(owner: Owner | null): void {
    const host = owner === null ? undefined : this.hosts[owner.place]
    const process = host?.process
    if (host === undefined || !process || process !== owner) return
    process.transport.flush()
    this.checks.moved(host, process)
    const excess = windowExcess(host, process, this.plan.windowEntries)
    if (excess !== null) this.scheduler.violate(excess)
  }
}
