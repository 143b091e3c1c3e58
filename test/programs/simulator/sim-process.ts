/**
 * One process on a host, from start to end: the real Node over simulated ports.
 *
 * Owns: the wiring, the moment of death. Knows nothing of: other nodes, the cause of its end. Rule: a dead process has no effects; it
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
import type { SimHost } from './sim-host.ts'
import { SimTransport } from './sim-transport.ts'
import { SimWal } from './sim-wal.ts'
import type { SimWorld } from './sim-world.ts'
import { stateBehindLink } from './sim-link.ts'
import { simLogger } from './sim-logger.ts'
import type { Beside, SimService } from './sim-setup.ts'

export class SimProcess implements Owner {
  readonly place: number
  readonly held: QueuedEvent[] = []
  readonly memory = new LogMirror()
  readonly node: Node
  readonly machine: SimMachine
  readonly transport: SimTransport
  readonly service: SimService | null
  readonly #beside: Beside | null
  readonly #wal: SimWal
  readonly #host: SimHost
  readonly #world: SimWorld
  isDead = false
  isPaused = false
  /** Serves clients. */
  isOpen = false
  isStopping = false
  hasFailed = false
  /** Faults of its disks before it started; after one more, a failure is justified. */
  readonly faultsBefore: number
  /** Effects until it dies; negative: it does not. */
  dyingIn = -1
  #isRecovered = false

  constructor(world: SimWorld, host: SimHost) {
    this.#world = world
    this.#host = host
    this.place = host.place
    this.faultsBefore = host.files.faultsMet + host.state.faultsMet
    const { scheduler, plan } = world
    const clock = new SimClock({
      scheduler,
      owner: this,
      rate: () => host.clockRate,
      wallTime: () => world.trueTime + world.wallClocks.offsetOf(host.id),
    })
    const logger = simLogger(world, host)
    const shared = {
      after: (ms: number, kind: string, run: () => void) =>
        void scheduler.after(ms, kind, { owner: this }, run),
      isAlive: () => this.#isAlive(),
    }
    this.#wal = this.#makeWal(shared)
    this.machine = new SimMachine({
      ...shared,
      state: host.state,
      rules: world.setup.rules,
      random: world.random.disk,
      flushMs: () => world.flushMs(host, plan.applyMs),
      blockBytes: Math.max(plan.blockBytes, world.setup.rules.blockBytesMin),
      doesTwice: world.options.canary === 'doubleApply' && host.place === 0,
      onApplied: (applied) => {
        host.stateIndex = world.oracle.applied(host.id, applied, host.state)
        world.checks.applied(host)
      },
      onInstalled: (isRebuild) => {
        if (isRebuild) world.counts.rebuilt += 1
        host.stateIndex = world.oracle.stateAt(host.id, host.state)
        world.counts.snapshots += 1
      },
      onReused: () => {
        world.counts.reused += 1
      },
    })
    const service = world.setup.serve?.({ world, host, owner: this, clock, logger }) ?? null
    this.service = service
    this.#beside = world.setup.beside?.({ world, host, owner: this, clock, logger }) ?? null
    this.transport = new SimTransport({
      ...shared,
      network: world.network,
      host,
      owner: this,
      incarnation: host.incarnation,
      clock,
      logger,
      peerStatus: () => this.node.peerStatus(),
      judge: (claims) => service?.objectionTo(claims) ?? this.node.judge(claims),
      book: service ?? undefined,
      onContact: (claims) => service?.answer(claims),
      onSend: (message) => world.checks.leaving(host, message),
    })
    const options = nodeOptions(world, host)
    const behind = { nodeId: host.id, stateMachine: this.machine, logger, after: shared.after }
    this.node = new Node(service === null ? options : { ...options, initialConfiguration: service.first }, {
      clock,
      logger,
      stateMachine: plan.isBehindLink ? stateBehindLink(behind) : this.machine,
      wal: this.#wal,
      transport: this.transport,
      ...world.disks.partsOf(host, this),
    })
    service?.attach(this)
    this.#beside?.attach(this)
  }

  get hasMetFault(): boolean {
    const { files, state } = this.#host
    return files.faultsMet + state.faultsMet > this.faultsBefore
  }

  status(): RaftStatus | null {
    return this.#isRecovered && !this.node.isRepairing ? this.node.status() : null
  }

  /** The owner of the name is part of its state. */
  knows(name: string): boolean {
    return this.status() !== null && !this.node.acceptsIncarnation(name, 'unregistered')
  }

  start(): void {
    const { node } = this
    void node.failed.then((error) => this.#world.nodeFailed(this.#host, this, error))
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
            this.#world.serves(this.#host, this)
            this.service?.begin()
            this.#beside?.begin()
          })
        },
        (error: unknown) => this.#world.startFailed(this.#host, this, error),
      )
  }

  /** Nothing of it happens any more. */
  die(): void {
    this.isDead = true
    this.isOpen = false
    this.held.length = 0
    // A restart that was cut off before it read the log leaves the question where it was.
    this.#host.instead = this.#wal.crash() ?? this.#host.instead
    this.machine.crash()
  }

  #isAlive(): boolean {
    if (this.isDead) return false
    if (this.dyingIn < 0) return true
    this.dyingIn -= 1
    if (this.dyingIn >= 0) return true
    this.#world.dies(this.#host, 'between two effects')
    return false
  }

  #makeWal(shared: {
    readonly after: (ms: number, kind: string, run: () => void) => void
    readonly isAlive: () => boolean
  }): SimWal {
    const host = this.#host
    const { plan, random, scheduler, checks, options } = this.#world
    return new SimWal({
      ...shared,
      files: host.files,
      random: random.disk,
      identity: { clusterId: 'sim', nodeId: host.id, incarnation: host.incarnation },
      segmentBytesMax: plan.segmentBytesMax,
      window: { entriesMax: plan.windowEntries, bytesMax: DEFAULT_NODE_LIMITS.raft.windowBytesMax },
      now: () => scheduler.now,
      flushMs: () => this.#world.flushMs(host, plan.flushMs),
      isDead: () => this.isDead,
      memory: this.memory,
      durable: () => host.durable,
      chain: (batch) => checks.chain(host, this.memory, batch),
      onOpened: (content, isRepaired) => checks.opened(host, { memory: this.memory, isRepaired }, content),
      onFlushed: (batch) => host.evidence.flushed(batch),
      acksEarly: options.canary === 'earlyAck',
    })
  }
}

function nodeOptions({ plan, random, voters }: SimWorld, host: SimHost) {
  return {
    nodeId: host.id,
    clusterId: 'sim',
    incarnation: host.incarnation,
    boot: host.boot,
    before: host.before,
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
    configurationDeadlineMs: deadlineMs,
    repairRetryMinMs: electionTimeoutMs / 4,
    repairRetryMaxMs: 2 * electionTimeoutMs,
    repairCallTimeoutMs: 2 * electionTimeoutMs,
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
