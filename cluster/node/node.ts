/**
 * One member of the group, from start to stop.
 *
 * Owns: the life cycle: recovery, registration of the data directory, failure, orderly stop. The work in between is the driver's.
 * Knows nothing of: blobs, HTTP, where its ports come from. Rule: after a failure the node is mute for ever; only a new process,
 * which reads again what really is on the disk, may speak in its name.
 */
import type { LogIndex, NodeId, RaftStatus } from '../raft/types.ts'
import { Condition, type MetricSample, type Readiness } from '../types.ts'
import { assert } from './assert.ts'
import { Driver } from './driver.ts'
import { DEFAULT_NODE_LIMITS, type NodeLimits } from './limits.ts'
import { nodeMetrics } from './node-metrics.ts'
import { nodeReadiness } from './node-readiness.ts'
import type { NodeOptions, NodeParts } from './options.ts'
import { recover, type Recovered } from './recovery.ts'

/** No effect of the core has this sequence: it marks the write that realigns the log with the state at start. */
const REBASE_SEQUENCE = 0
const NO_COMMAND = new Uint8Array(0)

export class Node {
  readonly #options: NodeOptions
  readonly #parts: NodeParts
  readonly #limits: NodeLimits
  #driver: Driver | null = null
  #failure: Error | null = null
  #stopped: Promise<void> | null = null
  #reportFailure: (error: Error) => void = () => undefined
  /** Resolves with the cause when the node must stop by itself. Never rejects. */
  readonly failed: Promise<Error>

  constructor(options: NodeOptions, parts: NodeParts) {
    this.#options = options
    this.#parts = parts
    this.#limits = { ...DEFAULT_NODE_LIMITS, ...options.limits }
    this.failed = new Promise((resolve) => (this.#reportFailure = resolve))
  }

  get nodeId(): NodeId {
    return this.#options.nodeId
  }

  /** Durable in the local state. */
  get appliedIndex(): LogIndex {
    return this.#running.applier.appliedIndex
  }

  /** Reads what is on the disk and makes one state of it; nothing is sent yet. Throws StartError. */
  async open(): Promise<void> {
    assert(this.#driver === null, 'a node is opened once')
    const recovered = await this.#recover()
    this.#driver = new Driver(this.#options, {
      ...this.#parts,
      limits: this.#limits,
      recovered,
      onFatal: (error) => this.fail(error),
    })
  }

  /** Resolves when peers can talk to this node; a leader may not be known yet. Throws StartError. */
  async start(): Promise<void> {
    const driver = this.#running
    driver.serve()
    await this.#parts.transport.start(driver.transportEvents)
    driver.start()
    void this.#register(driver)
  }

  /** Resolves with the reply once the command is applied here. Throws Condition. */
  async propose(command: Uint8Array): Promise<Uint8Array> {
    assert(command.length > 0, 'a command has bytes')
    return this.#running.proposals.propose(command)
  }

  /** After it resolves, the local state holds everything that was acknowledged anywhere before the call. Throws Condition. */
  async readBarrier(): Promise<void> {
    return this.#running.reads.barrier()
  }

  status(): RaftStatus {
    return this.#running.status()
  }

  /**
   * False for a member that speaks from another data directory than the one that is registered under its name: an emptied
   * disk must not vote, because it has forgotten what it promised.
   */
  acceptsIncarnation(from: NodeId, incarnation: string): boolean {
    const registered = this.#driver?.applier.incarnationOf(from) ?? null
    return registered === null || registered === incarnation
  }

  readiness(): Readiness {
    if (this.#failure) return { ready: false, reasons: [`This node has failed: ${this.#failure.message}`] }
    if (this.#stopped) return { ready: false, reasons: ['This node is stopping'] }
    if (!this.#driver) return { ready: false, reasons: ['This node is starting'] }
    return nodeReadiness(this.#driver, this.#options, this.#limits)
  }

  metrics(): readonly MetricSample[] {
    return this.#driver ? nodeMetrics(this.#driver) : []
  }

  /** Makes the node mute for ever. Also for those who found out that its data directory cannot be trusted. Idempotent. */
  fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    this.#parts.logger.fatal({ err: error }, 'node failed')
    this.#driver?.mute(new Condition('shutting_down', 'This node has failed and stops', { cause: error }))
    this.#reportFailure(error)
  }

  /** Hands leadership over, finishes what runs, closes the ports. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  get #running(): Driver {
    assert(this.#driver !== null, 'a node serves after it was opened')
    return this.#driver
  }

  async #recover(): Promise<Recovered> {
    const { wal, stateMachine, logger } = this.#parts
    const record = await stateMachine.open()
    const log = await wal.open({
      onDurable: (sequence) => {
        if (sequence !== REBASE_SEQUENCE) this.#running.onDurable(sequence)
      },
      onFatal: (cause) => this.fail(new Error(`Cannot trust the log any more: ${cause.message}`, { cause })),
    })
    const recovered = recover(log, record, this.#options.initialConfiguration)
    const { rebase, restored } = recovered
    if (rebase) {
      logger.warn({ ...rebase }, 'log begins anew after the state')
      const { hardState } = restored
      wal.append({ sequence: REBASE_SEQUENCE, hardState, base: rebase, entries: [] })
    }
    const { appliedIndex, base, entries } = restored
    logger.info({ appliedIndex, base: base.index, entries: entries.length }, 'node recovered')
    return recovered
  }

  /** Binds this name to this data directory in the replicated state; the first directory that does so wins. */
  async #register({ applier, proposals }: Driver): Promise<void> {
    const { nodeId, incarnation } = this.#options
    while (applier.incarnationOf(nodeId) === null && !this.#stopped && !this.#failure) {
      try {
        await proposals.propose(NO_COMMAND)
      } catch (error) {
        if (!(error instanceof Condition)) throw error
        this.#parts.logger.debug({ err: error }, 'registration is tried again')
        await this.#pause(this.#limits.retryMaxMs)
      }
    }
    const registered = applier.incarnationOf(nodeId)
    if (registered === null || registered === incarnation) return
    this.#parts.logger.error(
      { incarnation, registered },
      'another data directory is registered under this name',
    )
  }

  async #stop(): Promise<void> {
    const { transport, wal, stateMachine, logger } = this.#parts
    const driver = this.#driver
    if (driver) {
      const why = new Condition('shutting_down', 'This node is stopping')
      driver.proposals.refuse(why)
      if (!this.#failure) {
        await Promise.race([driver.handOver(), this.#pause(this.#options.electionTimeoutMs)])
        await Promise.race([driver.proposals.idle(), this.#pause(this.#options.electionTimeoutMs)])
      }
      driver.mute(why)
      await driver.closeSnapshots()
      await transport.stop()
      await driver.applier.close()
    }
    await wal.close()
    await stateMachine.close()
    logger.info({}, 'node stopped')
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#parts.clock.after(ms, resolve))
  }
}
