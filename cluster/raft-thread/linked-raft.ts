/**
 * The half of Raft as the thread of the state sees it: RaftPort over the link.
 *
 * Owns: what Raft said last of itself, and how old that may be. Knows nothing of: threads, how messages travel.
 * Rules: what RaftPort answers at once is the last that Raft said; a Raft that says nothing for three election time-outs serves nothing; when
 * the link ends without `stop` the node has failed, because what was promised is not known.
 */
import type { Clock } from '../base/clock.ts'
import type { EntryReport, EntryWanted } from '../base/peer-traces.ts'
import { within } from '../base/within.ts'
import {
  type ClusterTimePort,
  Condition,
  type Member,
  type MetricSample,
  type NodeId,
  type ProposeOptions,
  type Readiness,
} from '../base/types.ts'
import type { Membership } from '../directory/directory.ts'
import type { Identity } from '../directory/identity.ts'
import { missingReserve } from '../node/base/room-watch.ts'
import type { RaftHalfOptions } from '../raft-half/raft-half.ts'
import type { RaftPort, StatePort } from '../raft-half/raft-port.ts'
import type { Link } from './link.ts'
import { serializeError, deserializeError } from './link-errors.ts'
import { LinkedMembership } from './linked-membership.ts'
import { LinkedTransport } from './linked-transport.ts'
import type { Published, RaftCalls, StateCalls } from './raft-calls.ts'
import { stateService } from './state-service.ts'

export interface LinkedRaftParts {
  readonly options: RaftHalfOptions
  readonly known: Membership | null
  readonly state: StatePort
  readonly link: Link<RaftCalls>
  readonly clock: Clock
  /** Ends the other thread. Idempotent. */
  readonly end: () => Promise<void>
}

/** A scrape waits no longer for the thread of Raft. ms */
const SCRAPE_MS_MAX = 1_000
/** After so many election time-outs without a word of Raft this node is not ready. */
const SILENT_TIMEOUTS = 3

export class LinkedRaft implements RaftPort {
  readonly #parts: LinkedRaftParts
  readonly #identity: Identity
  readonly members: Member[] = []
  readonly transport: LinkedTransport
  readonly membership: LinkedMembership
  #reportServing: () => void = () => {}
  #reportFailure: (error: Error) => void = () => {}
  readonly serving: Promise<void>
  readonly failed: Promise<Error>
  #said: Published
  #heardAt: number
  /** Of the last scrape. */
  #metrics: readonly MetricSample[] = []
  #barrier: { readonly turn: number; readonly done: Promise<null> } | null = null
  #stateSaid = ''
  #isSaying = false
  #stopped: Promise<void> | null = null

  /** Assembles the half of Raft on the other thread; ends that thread when it refuses. Throws StartError. */
  static async open(parts: LinkedRaftParts): Promise<LinkedRaft> {
    const { link, options, known, state } = parts
    const handlers = new Map()
    let raft: LinkedRaft | null = null
    link.serve<StateCalls>({
      ...stateService({ nodeId: options.nodeId, state, link, handlers }),
      publishRaft: (said) => {
        raft?.onSaid(said)
        return null
      },
      serving: () => {
        raft?.onServing()
        return null
      },
      failed: (error) => {
        raft?.onFailed(deserializeError(error))
        return null
      },
    })
    try {
      const assembled = await link.call('assemble', { options, known })
      raft = new LinkedRaft(parts, { ...assembled, handlers })
      return raft
    } catch (error) {
      await parts.end()
      throw error
    }
  }

  private constructor(
    parts: LinkedRaftParts,
    {
      identity,
      published,
      handlers,
    }: RaftCalls['assemble']['output'] & { readonly handlers: LinkedTransport['handlers'] },
  ) {
    const { link, clock, options, state } = parts
    const { nodeId } = options
    this.#parts = parts
    this.serving = new Promise((resolve) => (this.#reportServing = resolve))
    this.failed = new Promise((resolve) => (this.#reportFailure = resolve))
    this.#identity = identity
    this.#said = published
    this.#heardAt = clock.now()
    this.transport = new LinkedTransport({ nodeId, link, clock, logger: state.logger, handlers })
    this.membership = new LinkedMembership(link, () => this.#said)
    this.onSaid(published)
  }

  get identity(): Identity {
    return this.#identity
  }

  readonly time: ClusterTimePort = {
    now: () => Math.trunc(this.#parts.clock.now() + this.#said.timeOffset),
    status: () => {
      const { time } = this.#said
      const passed = this.#parts.clock.now() - this.#heardAt
      const { majorityTime } = time
      return majorityTime === null ? time : { ...time, majorityTime: Math.trunc(majorityTime + passed) }
    },
  }

  async open(): Promise<void> {
    await this.#parts.link.call('open', null)
  }

  async start(): Promise<void> {
    this.#saySoon()
    await this.#parts.link.call('start', { methods: [...this.transport.handlers.keys()] })
  }

  async propose(command: Uint8Array, how: ProposeOptions = {}): Promise<Uint8Array> {
    const { link } = this.#parts
    if (link.isClosed) throw new Condition('shutting_down', 'This node stops')
    try {
      return await link.call('propose', { command, how })
    } catch (cause) {
      if (!link.isClosed) throw cause
      throw new Condition('commit_unknown', 'Cannot tell whether the command takes effect: this node stops', {
        cause,
      })
    }
  }

  /** Callers of one turn share a message: the round begins after all of them have called. */
  async readBarrier(): Promise<void> {
    const { link } = this.#parts
    if (this.#barrier?.turn !== link.turn)
      this.#barrier = { turn: link.turn, done: link.call('readBarrier', null) }
    await this.#barrier.done
  }

  /** The level of a state never falls. */
  async reachesLevel(level: number, withinMs: number): Promise<boolean> {
    if (this.#said.stateLevel >= level) return true
    return this.#parts.link.call('reachesLevel', { level, withinMs })
  }

  readiness(): Readiness {
    const { clock, options } = this.#parts
    const silentMs = clock.now() - this.#heardAt
    if (silentMs <= SILENT_TIMEOUTS * options.electionTimeoutMs) return this.#said.readiness
    const reason = `The thread of Raft has said nothing for ${Math.trunc(silentMs)} ms`
    return { ready: false, reasons: [reason] }
  }

  isJobRunner(): boolean {
    return this.#said.isJobRunner && this.readiness().ready
  }

  /** Those of the scrape before when Raft says nothing in time. */
  async metrics(): Promise<readonly MetricSample[]> {
    const { link, clock } = this.#parts
    const asked = link.call('metrics', null).catch(() => this.#metrics)
    await within(
      clock,
      SCRAPE_MS_MAX,
      asked.then((metrics) => void (this.#metrics = metrics)),
    )
    return this.#metrics
  }

  entryTimes(wanted: EntryWanted): Promise<EntryReport | null> {
    return this.#parts.link.call('entryTimes', wanted)
  }

  async forgetFingerprint(): Promise<void> {
    await this.#parts.link.call('forgetFingerprint', null)
  }

  heldBackBytes(totalBytes: number): number {
    const { bytes, isHeld } = this.#said.reserve
    return missingReserve({ bytes, isHeld: () => isHeld }, totalBytes)
  }

  fail(error: Error): void {
    this.#parts.link.call('fail', serializeError(error)).catch(() => null)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  /** The other thread and the link to it have ended. */
  onEnd(error: Error): void {
    if (this.#stopped === null) this.#reportFailure(error)
    this.#said = { ...this.#said, readiness: stoppedReadiness(error), isJobRunner: false }
  }

  onServing(): void {
    this.#reportServing()
  }

  onFailed(error: Error): void {
    this.#reportFailure(error)
  }

  onSaid(said: Published): void {
    this.#said = said
    this.#heardAt = this.#parts.clock.now()
    this.members.splice(0, this.members.length, ...said.members)
  }

  async #stop(): Promise<void> {
    this.#said = { ...this.#said, readiness: { ready: false, reasons: ['This node is stopping'] } }
    await this.#parts.link.call('stop', null).catch((error: unknown) => {
      // A thread that has ended has nothing left to stop.
      if (!this.#parts.link.isClosed) throw error
    })
    await this.#parts.end()
  }

  /** Tells Raft again and again what it needs to know of the state. */
  #saySoon(): void {
    const { clock, options, link } = this.#parts
    if (this.#stopped !== null || link.isClosed) return
    this.#say()
    clock.after(options.heartbeatMs, () => this.#saySoon())
  }

  #say(): void {
    const { state, link } = this.#parts
    if (this.#isSaying) return
    const downloads = state.downloads()
    const scarce: NodeId[] = this.members.map(({ nodeId }) => nodeId).filter((peer) => state.isScarceAt(peer))
    const text = JSON.stringify([downloads, scarce])
    if (text === this.#stateSaid) return
    this.#stateSaid = text
    this.#isSaying = true
    link
      .call('publishState', { downloads, scarce })
      .catch(() => null)
      .finally(() => (this.#isSaying = false))
  }
}

function stoppedReadiness(error: Error): Readiness {
  return { ready: false, reasons: [`This node has failed: ${error.message}`] }
}
