/**
 * What the thread of the state asks of Raft, answered on the thread of Raft; and what Raft says of itself without being asked.
 *
 * Owns: the half that was assembled here, when it is published. Knows nothing of: terms, sockets, how messages travel.
 * Rules: nothing here makes Raft wait for the other thread; at most one unasked publication is under way.
 */
import type { Clock } from '../base/clock.ts'
import { openRaftHalf, type RaftHalf } from '../raft-half/raft-half.ts'
import { asStream } from '../transport/call-self.ts'
import type { CallHandler } from '../transport/transport.ts'
import { receivedBody } from './link-body.ts'
import type { HandlersOf, Link } from './link.ts'
import { serializeError, deserializeError } from './link-errors.ts'
import { LinkedState } from './linked-state.ts'
import type { Published, RaftCalls, StateCalls } from './raft-calls.ts'

export interface RaftServiceParts {
  readonly link: Link<StateCalls>
  readonly clock: Clock
}

/** The other thread may know the majority's time less exactly by this much. ms */
const TIME_OFF_MS_MAX = 5

export class RaftService {
  readonly #parts: RaftServiceParts
  readonly #state: LinkedState
  #half: RaftHalf | null = null
  #heartbeatMs = 0
  #electionTimeoutMs = 0
  #isSaying = false
  #isOver = false
  /** What was published last. */
  #said = ''
  #saidOffset = 0
  #saidAt = 0

  constructor(parts: RaftServiceParts) {
    this.#parts = parts
    this.#state = new LinkedState(parts.link)
    parts.link.serve<RaftCalls>(this.#handlers())
  }

  get #running(): RaftHalf {
    if (this.#half === null) throw new Error('The half of Raft is not assembled yet')
    return this.#half
  }

  #handlers(): HandlersOf<RaftCalls> {
    const { stateMachine } = this.#state
    return {
      ...this.#lifeCycle(),
      ...this.#membership(),
      propose: ({ command, how }) => this.#running.propose(command, how),
      readBarrier: () => this.#running.readBarrier().then(() => null),
      reachesLevel: ({ level, withinMs }) => this.#afterwards(this.#running.reachesLevel(level, withinMs)),
      metrics: () => this.#running.metrics(),
      entryTimes: (wanted) => this.#running.entryTimes(wanted),
      forgetFingerprint: () => this.#running.forgetFingerprint().then(() => null),
      peerCall: (call, signal) => this.#callPeer(call, signal),
      publishState: (said) => {
        this.#state.onSaid(said)
        return null
      },
      stateDamaged: (error) => {
        stateMachine.onDamaged(error)
        return null
      },
      sourceBlock: ({ install, request }) => stateMachine.sourceBlock(install, request),
    }
  }

  #lifeCycle(): Pick<HandlersOf<RaftCalls>, 'assemble' | 'open' | 'start' | 'stop' | 'fail'> {
    const { link } = this.#parts
    return {
      assemble: async ({ options, known }) => {
        const half = await openRaftHalf(options, known, this.#state)
        this.#half = half
        this.#heartbeatMs = options.heartbeatMs
        this.#electionTimeoutMs = options.electionTimeoutMs
        void half.serving.then(() => link.call('serving', null)).catch(() => null)
        void half.failed.then((error) => link.call('failed', serializeError(error))).catch(() => null)
        return { identity: half.identity, published: this.#published() }
      },
      open: () => this.#afterwards(this.#running.open().then(() => null)),
      start: async ({ methods }) => {
        for (const method of methods) this.#running.transport.handle(method, this.#handlerOf(method))
        await this.#running.start()
        this.#tick()
        return this.#afterwards(Promise.resolve(null))
      },
      stop: async () => {
        this.#isOver = true
        await this.#running.stop()
        return null
      },
      fail: (error) => {
        this.#running.fail(deserializeError(error))
        return null
      },
    }
  }

  #membership(): Pick<
    HandlersOf<RaftCalls>,
    'askMember' | 'memberStatuses' | 'newcomer' | 'change' | 'transfer' | 'setMembers'
  > {
    return {
      askMember: (nodeId) => this.#running.membership.ask(nodeId),
      memberStatuses: async () => [...(await this.#running.membership.memberStatuses())],
      newcomer: ({ nodeId, address, isWelcome }) =>
        this.#running.membership.newcomer(nodeId, address, isWelcome),
      change: ({ voters, learners, index }) =>
        this.#afterwards(this.#running.membership.change({ voters, learners }, index).then(() => null)),
      transfer: (target) => this.#afterwards(this.#running.membership.transfer(target).then(() => null)),
      setMembers: ({ known, isJoining }) =>
        this.#afterwards(this.#running.membership.setMembers(known, isJoining).then(() => null)),
    }
  }

  /** What an answer follows from is known on the other thread when the answer arrives. */
  async #afterwards<T>(work: Promise<T>): Promise<T> {
    const result = await work
    void this.#say()
    return result
  }

  async #callPeer(
    { to, method, header, body, timeoutMs }: RaftCalls['peerCall']['input'],
    signal?: AbortSignal,
  ): Promise<RaftCalls['peerCall']['output']> {
    const { link } = this.#parts
    const bytes = receivedBody(link, body)
    const answer = await this.#running.transport.call(to, method, {
      header,
      ...(bytes === undefined ? {} : { body: bytes }),
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === null ? {} : { timeoutMs }),
    })
    const { certificate = null } = answer
    return { header: answer.header, stream: link.sendStream(answer.body), certificate }
  }

  #handlerOf(method: string): CallHandler {
    const { link } = this.#parts
    return async ({ from, header, body }) => {
      const answer = await link.call('peerServe', { from, method, header, stream: link.sendStream(body) })
      const answered = receivedBody(link, answer.body)
      return { header: answer.header, ...(answered === undefined ? {} : { body: asStream(answered) }) }
    }
  }

  #tick(): void {
    if (this.#isOver) return
    const published = this.#published()
    if (!this.#isSaying && this.#isDue(published)) {
      this.#isSaying = true
      void this.#say(published).finally(() => (this.#isSaying = false))
    }
    this.#parts.clock.after(this.#heartbeatMs, () => this.#tick())
  }

  async #say(published = this.#published()): Promise<void> {
    this.#said = summaryOf(published)
    this.#saidOffset = published.timeOffset
    this.#saidAt = this.#parts.clock.now()
    await this.#parts.link.call('publishRaft', published).catch(() => null)
  }

  /** An idle node only says that it is there, and seldom: a message wakes two threads. */
  #isDue(published: Published): boolean {
    const silentMs = this.#parts.clock.now() - this.#saidAt
    const isOff = Math.abs(published.timeOffset - this.#saidOffset) > TIME_OFF_MS_MAX
    return isOff || silentMs >= this.#electionTimeoutMs || summaryOf(published) !== this.#said
  }

  #published(): Published {
    const half = this.#running
    const { clock } = this.#parts
    const { isJoining, identity, ownPlace, stateLevel } = half.membership
    return {
      members: [...half.members],
      readiness: half.readiness(),
      isJobRunner: half.isJobRunner(),
      timeOffset: half.time.now() - clock.now(),
      time: half.time.status(),
      isJoining,
      identity,
      ownPlace,
      stateLevel,
      local: half.localStatus(),
      reserve: half.reserve,
    }
  }
}

/** Changes with what is published, but for the times. */
function summaryOf(published: Published): string {
  const { majorityTime, confirmedTime } = published.time
  return JSON.stringify({ ...published, timeOffset: null, time: [majorityTime === null, confirmedTime] })
}
