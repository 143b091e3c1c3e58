/**
 * One process on a seat, from its start to its end: the real Node over simulated ports.
 *
 * Owns: the wiring, the moment of death. Knows nothing of: other nodes, who kills it. Rule: a dead process has no effects; it
 * may die between any two of them.
 */
import { Node } from '../../../cluster/node/node.ts'
import type { NodeLimits } from '../../../cluster/node/base/limits.ts'
import { DEFAULT_NODE_LIMITS } from '../../../cluster/node/base/limits.ts'
import type { RaftStatus } from '../../../cluster/raft/types.ts'
import type { QueuedEvent, Owner } from './event-queue.ts'
import { LogMirror } from './log-mirror.ts'
import { SimClock } from './sim-clock.ts'
import { SimMachine } from './sim-machine.ts'
import type { SimSeat } from './sim-seat.ts'
import { SimTransport } from './sim-transport.ts'
import { SimWal } from './sim-wal.ts'
import type { SimWorld } from './sim-world.ts'
import { simLogger } from './sim-logger.ts'
import type { SimService } from './subject.ts'

export class SimProcess implements Owner {
  readonly place: number
  readonly held: QueuedEvent[] = []
  readonly memory = new LogMirror()
  readonly node: Node
  readonly machine: SimMachine
  readonly transport: SimTransport
  readonly service: SimService | null
  readonly #wal: SimWal
  readonly #seat: SimSeat
  readonly #world: SimWorld
  isDead = false
  isPaused = false
  /** Serves clients. */
  isOpen = false
  isStopping = false
  hasFailed = false
  /** Faults that its disks had met before it began; one more, and it is right to fail. */
  readonly faultsBefore: number
  /** Effects until it dies; negative: it does not. */
  dyingIn = -1
  #isRecovered = false

  constructor(world: SimWorld, seat: SimSeat) {
    this.#world = world
    this.#seat = seat
    this.place = seat.place
    this.faultsBefore = seat.files.faultsMet + seat.state.faultsMet
    const { stage, plan } = world
    const clock = new SimClock({
      stage,
      owner: this,
      rate: () => seat.clockRate,
      wallTime: () => world.trueTime + world.wallClocks.offsetOf(seat.id),
    })
    const logger = simLogger(world, seat)
    const shared = {
      after: (ms: number, kind: string, run: () => void) => void stage.after(ms, kind, { owner: this }, run),
      isAlive: () => this.#isAlive(),
    }
    this.#wal = this.#makeWal(shared)
    this.machine = new SimMachine({
      ...shared,
      state: seat.state,
      rules: world.subject.rules,
      random: world.random.disk,
      flushMs: () => world.flushMs(seat, plan.applyMs),
      blockBytes: Math.max(plan.blockBytes, world.subject.rules.blockBytesMin),
      doesTwice: world.options.canary === 'doubleApply' && seat.place === 0,
      onApplied: (applied) => {
        seat.stateIndex = world.oracle.applied(seat.id, applied, seat.state)
        world.checks.applied(seat)
      },
      onInstalled: (isRebuild) => {
        if (isRebuild) world.counts.rebuilt += 1
        seat.stateIndex = world.oracle.stateAt(seat.id, seat.state)
        world.counts.snapshots += 1
      },
      onReused: () => {
        world.counts.reused += 1
      },
    })
    const service = world.subject.serve?.({ world, seat, owner: this, clock, logger }) ?? null
    this.service = service
    this.transport = new SimTransport({
      ...shared,
      network: world.network,
      seat,
      owner: this,
      incarnation: seat.incarnation,
      clock,
      logger,
      standing: () => this.node.standing(),
      judge: (claims) => service?.objectionTo(claims) ?? this.node.judge(claims),
      book: service ?? undefined,
      onHeard: (claims) => service?.heard(claims),
      onSend: (message) => world.checks.leaving(seat, message),
    })
    const options = nodeOptions(world, seat)
    this.node = new Node(service === null ? options : { ...options, initialConfiguration: service.first }, {
      clock,
      logger,
      stateMachine: this.machine,
      wal: this.#wal,
      transport: this.transport,
      ...world.disks.partsOf(seat, this),
    })
    service?.attach(this)
  }

  get hasMetFault(): boolean {
    const { files, state } = this.#seat
    return files.faultsMet + state.faultsMet > this.faultsBefore
  }

  status(): RaftStatus | null {
    return this.#isRecovered && !this.node.isMending ? this.node.status() : null
  }

  /** Whom the name belongs to is part of its state. */
  knows(name: string): boolean {
    return this.status() !== null && !this.node.acceptsIncarnation(name, 'nobody')
  }

  start(): void {
    const { node } = this
    void node.failed.then((error) => this.#world.nodeFailed(this.#seat, this, error))
    const before = this.service?.open() ?? Promise.resolve()
    before
      .then(() => node.open())
      .then(() => {
        this.#isRecovered = true
        return node.start()
      })
      .then(
        () => {
          this.isOpen = true
          void node.serving.then(() => {
            this.#world.serves(this.#seat, this)
            this.service?.begin()
          })
        },
        (error: unknown) => this.#world.startFailed(this.#seat, this, error),
      )
  }

  /** Nothing of it happens any more. */
  die(): void {
    this.isDead = true
    this.isOpen = false
    this.held.length = 0
    // A restart that was cut off before it read the log leaves the question where it was.
    this.#seat.instead = this.#wal.crash() ?? this.#seat.instead
    this.machine.crash()
  }

  #isAlive(): boolean {
    if (this.isDead) return false
    if (this.dyingIn < 0) return true
    this.dyingIn -= 1
    if (this.dyingIn >= 0) return true
    this.#world.dies(this.#seat, 'between two effects')
    return false
  }

  #makeWal(shared: {
    readonly after: (ms: number, kind: string, run: () => void) => void
    readonly isAlive: () => boolean
  }): SimWal {
    const seat = this.#seat
    const { plan, random, stage, checks, options } = this.#world
    return new SimWal({
      ...shared,
      files: seat.files,
      random: random.disk,
      identity: { clusterId: 'sim', nodeId: seat.id, incarnation: seat.incarnation },
      segmentBytesMax: plan.segmentBytesMax,
      window: { entriesMax: plan.windowEntries, bytesMax: DEFAULT_NODE_LIMITS.raft.windowBytesMax },
      now: () => stage.now,
      flushMs: () => this.#world.flushMs(seat, plan.flushMs),
      isDead: () => this.isDead,
      memory: this.memory,
      durable: () => seat.durable,
      chain: (batch) => checks.chain(seat, this.memory, batch),
      onOpened: (content, isMended) => checks.opened(seat, { memory: this.memory, isMended }, content),
      onFlushed: (batch) => seat.evidence.flushed(batch),
      acksEarly: options.canary === 'earlyAck',
    })
  }
}

function nodeOptions({ plan, random, voters }: SimWorld, seat: SimSeat) {
  return {
    nodeId: seat.id,
    clusterId: 'sim',
    incarnation: seat.incarnation,
    boot: seat.boot,
    before: seat.before,
    initialConfiguration: { voters, learners: [], outgoing: [] },
    heartbeatMs: plan.heartbeatMs,
    electionTimeoutMs: plan.electionTimeoutMs,
    logKeepEntries: plan.logKeepEntries,
    logKeepBytes: 1024 * 1024,
    logPinBytes: plan.logPinBytes,
    random: random.nodes.u32,
    limits: limitsOf(plan),
  }
}

function limitsOf(plan: SimWorld['plan']): Partial<NodeLimits> {
  const { hasSmallLimits, deadlineMs, electionTimeoutMs } = plan
  const raft = { ...DEFAULT_NODE_LIMITS.raft, windowEntriesMax: plan.windowEntries }
  const common = {
    raft,
    proposalDeadlineMs: deadlineMs,
    readDeadlineMs: deadlineMs / 2,
    forwardTimeoutMs: deadlineMs / 3,
    snapshotCallTimeoutMs: 5 * electionTimeoutMs,
    logPinSilentMs: 5 * electionTimeoutMs,
    snapshotIdleMs: 10 * electionTimeoutMs,
    membershipDeadlineMs: deadlineMs,
    mendRetryMinMs: electionTimeoutMs / 4,
    mendRetryMaxMs: 2 * electionTimeoutMs,
    mendCallTimeoutMs: 2 * electionTimeoutMs,
    compareEveryMs: 20 * electionTimeoutMs,
    compareTimeoutMs: 2 * electionTimeoutMs,
    verifyEveryMs: 100 * electionTimeoutMs,
    checksumEvery: 16,
  }
  if (!hasSmallLimits) return common
  return {
    ...common,
    rebuildAttemptsMax: 6,
    proposalsPendingMax: 8,
    sequenceWindowMax: 32,
    batchProposalsMax: 3,
    batchBytesMax: 1_024,
    batcherQueueMax: 8,
    forwardsInflightMax: 2,
    applyEntriesMax: 3,
    readRoundsMax: 2,
    readersMax: 8,
    raft: {
      ...raft,
      messageBytesMax: 2_048,
      inflightMessagesMax: 3,
      inflightBytesMax: 4_096,
      uncommittedBytesMax: 8_192,
    },
  }
}
