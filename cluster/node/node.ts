/**
 * One member of the group, from start to stop.
 *
 * Owns: the lifecycle: reading the disk, log repair, taking part, failure, orderly stop. The work in between is the driver's.
 * Knows nothing of: blobs, HTTP, where its ports come from. Rule: after a failure the node is mute permanently; only a new process,
 * which reads the real content of the disk again, may speak in its name. Until its log is repaired it is mute as well.
 */
import type { LogIndex, NodeId, RaftStatus, TargetConfiguration } from '../raft/types.ts'
import type { PeerClaims, PeerObjection, PeerStatus } from '../transport/peer-identity.ts'
import { type CallHandler, PeerRefusedError, type TransportEvents } from '../transport/transport.ts'
import {
  type ClusterTimePort,
  Condition,
  type MetricSample,
  type ProposeOptions,
  type Readiness,
  type StateDamagedError,
} from '../base/types.ts'
import { unreadableLogError } from '../wal/wal-errors.ts'
import { assert } from '../base/assert.ts'
import { within } from '../base/within.ts'
import type { ChecksumPoint } from './state/checksum-points.ts'
import { CLOCK_SKEW_MAX_MS, ClusterTime } from './time/cluster-time.ts'
import { damageIn, quarantine } from './state/quarantine.ts'
import { Driver } from './driver.ts'
import { DRIVER_METHODS } from './driver-methods.ts'
import { MemoryEpochFloor } from './base/epoch-floor.ts'
import { DEFAULT_NODE_LIMITS, type NodeLimits } from './base/limits.ts'
import { LOG_ENTRIES_METHOD } from './log/log-entries-call.ts'
import { LogRepair } from './lifecycle/log-repair.ts'
import { type Found, missingLogOf, membersIn } from './lifecycle/log-repair-plan.ts'
import { nodeMetrics } from './node-metrics.ts'
import { nodeReadiness, timeStatus } from './node-readiness.ts'
import type { NodeOptions, NodeParts } from './base/options.ts'
import { OwnDisk } from './disk-proof/own-disk.ts'
import { type GateState, PeerGate } from './peers/peer-gate.ts'
import { recover } from './log/log-recovery.ts'
import { endOf } from '../wal/entry-spans.ts'
import { Registration } from './lifecycle/registration.ts'
import type { Registered } from './base/proposal-sessions.ts'

/** No effect of the core has this sequence: it marks the write that realigns the log with the state at start. */
const REALIGN_SEQUENCE = 0

export class Node {
  readonly #options: NodeOptions
  readonly #parts: NodeParts
  readonly #limits: NodeLimits
  readonly #gate: PeerGate
  readonly #time: ClusterTime
  #driver: Driver | null = null
  #repair: LogRepair | null = null
  #repaired: Promise<void> = Promise.resolve()
  #failure: Error | null = null
  #quarantining: Promise<void> | null = null
  readonly #disk: OwnDisk
  #stopped: Promise<void> | null = null
  #reportFailure: (error: Error) => void = () => undefined
  #reportServing: () => void = () => undefined
  /** Resolves with the cause when the node must stop by itself. Never rejects. */
  readonly failed: Promise<Error>
  /** Resolves when the node takes part: at once, or after log repair. Never rejects. */
  readonly serving: Promise<void>

  constructor(options: NodeOptions, parts: NodeParts) {
    this.#options = options
    this.#parts = parts
    this.#limits = { ...DEFAULT_NODE_LIMITS, ...options.limits }
    this.#disk = new OwnDisk(parts.diskProof, parts.logger)
    this.failed = new Promise((resolve) => (this.#reportFailure = resolve))
    this.serving = new Promise((resolve) => (this.#reportServing = resolve))
    const {
      nodeId,
      boot,
      before = null,
      expelled = null,
      clockSkewMaxMs: skewMaxMs = CLOCK_SKEW_MAX_MS,
    } = options
    this.#time = new ClusterTime({ nodeId, clock: parts.clock, skewMaxMs })
    const state = (): GateState | null => this.#driver?.applier ?? null
    this.#gate = new PeerGate({
      nodeId,
      boot,
      featureLevelMax: this.#limits.featureLevelMax,
      before,
      state,
      epochFloor: parts.epochFloor ?? new MemoryEpochFloor(),
      clock: () => this.#time.claim(),
      onClock: (peer, reported) =>
        this.#time.receive(peer, reported, peer === this.#driver?.leaderView.leaderId),
      isBlank: () => this.#driver?.status().lastIndex === 0,
      logger: parts.logger,
      onStale: (error) => this.fail(error),
      expelled,
      onExpelled: (code) => parts.onExpelled?.(code),
    })
  }

  get nodeId(): NodeId {
    return this.#options.nodeId
  }

  /** Durable in the local state. */
  get appliedIndex(): LogIndex {
    return this.#running.applier.appliedIndex
  }

  /** Takes no part yet: it asks others for the data that its disk has lost. */
  get isRepairing(): boolean {
    return this.#repair !== null
  }

  /** Reads the disk and makes one consistent start of it if it can; nothing is sent yet. Throws StartError. */
  async open(): Promise<void> {
    assert(this.#driver === null && this.#repair === null, 'a node is opened once')
    const found = await this.#read()
    if (missingLogOf(found) === null) {
      this.#driver = this.#makeDriver(found)
      return
    }
    const { initialConfiguration, nodeId } = this.#options
    const peers = membersIn(found, initialConfiguration).filter((peer) => peer !== nodeId)
    this.#repair = new LogRepair(found, { ...this.#parts, limits: this.#limits, peers })
  }

  /** Resolves when peers can reach this node; its log may still need repair, a leader may not be known yet. Throws StartError. */
  async start(): Promise<void> {
    const { transport } = this.#parts
    for (const method of DRIVER_METHODS) transport.handle(method, this.#handlerOf(method))
    await transport.start(this.#transportEvents)
    const repair = this.#repair
    if (repair) this.#repaired = this.#runRepair(repair)
    else this.#begin(this.#running)
  }

  /** Resolves with the reply once the command is applied here. Throws Condition. */
  async propose(command: Uint8Array, how: ProposeOptions = {}): Promise<Uint8Array> {
    assert(command.length > 0, 'a command has bytes')
    this.#assertRepaired()
    return this.#running.proposals.propose(command, how)
  }

  /** The time of a majority's clocks. */
  readonly time: ClusterTimePort = {
    now: () => this.#time.now(),
    status: () => timeStatus(this.#time, this.#driver),
  }

  /** After it resolves, the local state holds everything that was acknowledged anywhere before the call. Throws Condition. */
  async readBarrier(): Promise<void> {
    this.#assertRepaired()
    return this.#running.reads.barrier()
  }

  /**
   * Only at the leader. Resolves when the group has the wanted configuration; `expectedIndex` is the `configurationIndex` that the
   * caller has seen, null for any. Throws MembershipRefusedError or Condition.
   */
  async changeConfiguration(target: TargetConfiguration, expectedIndex: LogIndex | null): Promise<void> {
    this.#assertRepaired()
    return this.#running.membership.change(target, expectedIndex)
  }

  /** Resolves when this node does not lead any more, at once if it does not lead. Throws Condition. */
  async transferLeadership(target: NodeId | null): Promise<void> {
    this.#assertRepaired()
    const { electionTimeoutMs } = this.#options
    await within(this.#parts.clock, 2 * electionTimeoutMs, this.#running.handOver(target))
    if (this.#running.leaderView.isLeader)
      throw new Condition(
        'leader_not_ready',
        `Cannot hand over the lead: no voter took it in ${2 * electionTimeoutMs} ms`,
      )
  }

  /** Whether the state here is at this feature level, now or within this time. Throws Condition. */
  async reachesLevel(level: number, withinMs: number): Promise<boolean> {
    this.#assertRepaired()
    return this.#running.levels.reaches(level, withinMs)
  }

  /** `known`: the highest level that the code of this node can apply. `state`: the level that its state requires. */
  get featureLevels(): { readonly known: number; readonly state: number } {
    const { featureLevel: known, stateLevel: state } = this.peerStatus()
    return { known, state }
  }

  /** Of the state, at the last indexes where every node takes one, and at its present index. */
  checksums(): readonly ChecksumPoint[] {
    return this.#running.state.checksums()
  }

  /** Only of a node that takes part. */
  status(): RaftStatus {
    return this.#running.status()
  }

  /** The claims that this node sends with every request. */
  peerStatus(): PeerStatus {
    return this.#gate.peerStatus()
  }

  /** Null: the request is accepted. */
  judge(claims: PeerClaims): PeerObjection | null {
    return this.#gate.judge(claims)
  }

  /** Not null for a node that was left behind by a recovery of the group. */
  staleness(claims: PeerClaims): PeerObjection | null {
    return this.#gate.staleness(claims)
  }

  /** The data directory that owns this name, and its latest process, as far as it is applied here. */
  registered(nodeId: NodeId): Registered | null {
    return this.#driver?.applier.registered(nodeId) ?? null
  }

  /** False for a member that uses another data directory than the one registered under its name. */
  acceptsIncarnation(from: NodeId, incarnation: string): boolean {
    const registered = this.registered(from)
    return registered === null || registered.incarnation === incarnation
  }

  readiness(): Readiness {
    if (this.#failure) return { ready: false, reasons: [`This node has failed: ${this.#failure.message}`] }
    if (this.#stopped) return { ready: false, reasons: ['This node is stopping'] }
    if (this.#repair) return { ready: false, reasons: [this.#repair.waitsFor] }
    if (!this.#driver) return { ready: false, reasons: ['This node is starting'] }
    return nodeReadiness(this.#driver, this.#options, this.#limits)
  }

  /** A peer has refused a call of this node with this code. */
  onRefused(peer: NodeId, code: string): void {
    this.#gate.onRefused(peer, code)
  }

  /** This node leads and serves. A hint: another node may get the same answer at the same time. */
  isJobRunner(): boolean {
    return this.#driver !== null && this.#driver.leaderView.isLeader && this.readiness().ready
  }

  metrics(): readonly MetricSample[] {
    return this.#driver ? nodeMetrics(this.#driver) : []
  }

  /** Makes the node mute permanently. Also called by a part that found its data directory to be unreliable. Idempotent. */
  fail(error: Error): void {
    const damage = damageIn(error)
    if (damage) this.#quarantining ??= this.#quarantine(damage)
    if (this.#failure) return
    this.#failure = error
    this.#parts.logger.fatal({ err: error }, 'node failed')
    this.#repair?.close()
    this.#driver?.mute(new Condition('shutting_down', 'This node has failed and stops', { cause: error }))
    void (this.#quarantining ?? Promise.resolve()).then(() => this.#reportFailure(error))
  }

  /** Hands leadership over, finishes the proposals under way, closes the ports. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #quarantine(damage: StateDamagedError): Promise<void> {
    await quarantine(this.#parts.stateMachine, damage, this.#parts.logger)
  }

  /** Regardless of which part found it: a node that takes part replaces its state and continues. */
  #onStateDamaged(damage: StateDamagedError): void {
    const isRunning = this.#driver !== null && !this.#failure && !this.#stopped
    if (isRunning) this.#driver?.state.onDamaged(damage)
    else this.fail(damage)
  }

  get #running(): Driver {
    assert(this.#driver !== null, 'a node serves after it was opened and its log repaired')
    return this.#driver
  }

  #assertRepaired(): void {
    if (this.#stopped) throw new Condition('shutting_down', 'This node is stopping')
    if (this.#failure) throw new Condition('shutting_down', 'This node has failed and stops')
    if (this.#repair)
      throw new Condition('leader_not_ready', `This node repairs its log: ${this.#repair.waitsFor}`)
  }

  async #read(): Promise<Found> {
    const { wal, stateMachine } = this.#parts
    const state = await stateMachine.open((damage) => this.#onStateDamaged(damage))
    const { record, fault } = state
    const log = await wal.open({
      onDurable: (sequence) => {
        if (sequence !== REALIGN_SEQUENCE) this.#running.onDurable(sequence)
      },
      onFatal: (cause) => this.fail(unreadableLogError(cause)),
      onDiskFull: () => this.#driver?.disk.onFull(),
    })
    await this.#disk.judge(log, state)
    return { log, record, fault }
  }

  /** Throws StartError. */
  #makeDriver({ log, record }: Found): Driver {
    const { wal, logger } = this.#parts
    const { featureLevelMax } = this.#limits
    const start = recover(log, record, this.#options.initialConfiguration, featureLevelMax)
    const trust = this.#disk.trustAt(start.record)
    const recovered = { ...start, restored: { ...start.restored, trust } }
    const { rewrite, restored } = recovered
    if (rewrite) {
      logger.warn({ base: rewrite.base, term: rewrite.hardState.currentTerm }, 'log realigned with the state')
      wal.append({ sequence: REALIGN_SEQUENCE, ...rewrite, entries: [] })
    }
    const { appliedIndex, base } = restored
    logger.info({ appliedIndex, base: base.index, last: endOf(restored).index, trust }, 'node recovered')
    const onFatal = (error: Error): void => this.fail(error)
    const [gate, time] = [this.#gate, this.#time]
    return new Driver(this.#options, { ...this.#parts, limits: this.#limits, recovered, gate, time, onFatal })
  }

  async #runRepair(repair: LogRepair): Promise<void> {
    try {
      const found = await repair.run()
      if (found === null || this.#stopped || this.#failure) return
      this.#driver = this.#makeDriver(found)
      this.#repair = null
      this.#parts.logger.warn({}, 'log of the node is repaired, it takes part again')
      this.#begin(this.#driver)
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #begin(driver: Driver): void {
    driver.start()
    this.#reportServing()
    const isOver = (): boolean => this.#stopped !== null || this.#failure !== null
    const { applier, proposals } = driver
    void new Registration(this.#options, {
      ...this.#parts,
      applier,
      proposals,
      limits: this.#limits,
      isOver,
      onRegistered: () => this.#onRegistered(driver),
    }).run()
  }

  /** The state holds an entry that was made after this start, and committed without depending on this disk (docs/adr/0029). */
  #onRegistered(driver: Driver): void {
    driver.diskProved()
    this.#disk.confirm()
    this.#parts.onRegistered?.()
  }

  #handlerOf(method: string): CallHandler {
    return async (call) => {
      if (this.#driver) return this.#driver.answer(method, call)
      if (this.#repair && method === LOG_ENTRIES_METHOD) return this.#repair.answerEntries(call)
      throw new PeerRefusedError('mending', `Node ${this.nodeId} repairs its log and answers nothing yet`)
    }
  }

  readonly #transportEvents: TransportEvents = {
    onMessages: (messages) => this.#driver?.transportEvents.onMessages(messages),
    onUnreachable: (peer) => this.#driver?.transportEvents.onUnreachable(peer),
    onRefused: (peer, code) => this.onRefused(peer, code),
  }

  async #stop(): Promise<void> {
    const { transport, wal, stateMachine, logger } = this.#parts
    this.#repair?.close()
    await this.#repaired
    const driver = this.#driver
    if (driver) await this.#leave(driver)
    else if (this.#repair) await transport.stop()
    await this.#quarantining
    await wal.close()
    await stateMachine.close()
    await this.#disk.stopped(this.#failure === null)
    logger.info({}, 'node stopped')
  }

  async #leave(driver: Driver): Promise<void> {
    const { clock } = this.#parts
    const { electionTimeoutMs } = this.#options
    const why = new Condition('shutting_down', 'This node is stopping')
    driver.proposals.own.refuse(why)
    if (!this.#failure) {
      await within(clock, electionTimeoutMs, driver.handOver())
      await within(clock, electionTimeoutMs, driver.proposals.own.idle())
    }
    driver.mute(why)
    await driver.state.close()
    await this.#parts.transport.stop()
    await driver.applier.close()
  }
}
