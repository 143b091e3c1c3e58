/**
 * Drives the operations that change the members of the cluster, on the leader.
 *
 * Owns: the order of votes and rows, the readiness of a joining node. Knows nothing of: who asked, what rows allow (apply decides).
 * Rules: each round reads the committed rows and does the missing step, so any leader continues where the last one was; a vote
 * moves first, and the step is recorded after that is committed; a joining node gets its vote only after it has kept up for a while
 * and its state was proved equal; an operation that is given up moves no vote from the moment at which that is applied here.
 */
import {
  type Logger,
  MembershipRefusedError,
  type MembershipPort,
  type MemberStatus,
} from '../../cluster/index.ts'
import { isMembership, STEPS_BY_KIND } from '../state-machine/members/membership.ts'
import { isFinished, unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import { memberIn, membersOf } from '../state-machine/members/members.ts'
import type { MembershipStep, LongOperation } from '../state-machine/long-operations/records.ts'
import type { View } from '../state-machine/base/view.ts'
import type { Propose } from '../commands/propose.ts'
import type { Evacuating } from './evacuating.ts'
import { knownMembers } from './following-members.ts'
import {
  commonChecksum,
  exchanged,
  isCaughtUp,
  isSilent,
  type StepBlocker,
  silent,
  tooSlow,
  unequal,
} from './readiness.ts'
import { systemOrigin } from './system-origin.ts'
import {
  configurationAfter,
  hasMoved,
  isSettled,
  blockerBefore,
  leavingNodeOf,
  newcomerOf,
} from './vote-moves.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'

export interface MembershipWorkerParts {
  readonly nodeId: string
  readonly isJobRunner: () => boolean
  readonly membership: MembershipPort
  readonly state: View
  readonly propose: Propose
  /** After it resolves, the state holds everything that was committed before the call. */
  readonly readBarrier: () => Promise<void>
  readonly evacuating: Pick<Evacuating, 'round' | 'forget'>
  /** Of this process, ms; only differences count. */
  readonly now: () => number
  /** How long without a gap a joining node keeps up before it gets its vote. */
  readonly readyMs: number
  readonly logger: Logger
}

type Target = Parameters<MembershipPort['change']>[0]

/** A joining node that has not kept up for this long is called stalled. */
const STALLED_MS = 60_000
/** A joining node that has not answered the leader for this long is called silent, not slow. */
const SILENT_MS = 10_000
/**
 * So long a member that leaves stays known to the others for the downloads that it serves: they read chunks of the others, which
 * answer no node that left.
 */
const DOWNLOADS_MS_MAX = 30_000
const DOWNLOADS_PHASE: StepBlocker = { phase: 'waiting for its downloads' }
/** Two commits, in an estimate. */
const VOTE_MS = 1_000

export class MembershipWorker {
  readonly #parts: MembershipWorkerParts
  /** Since when the joining node of this operation keeps up, and when it was last seen not to. One at a time. */
  #keeping: { readonly operationId: string; since: number | null; lagging: number } | null = null
  /** Since when the configuration is without the member that leaves. One at a time. */
  #leaving: { readonly operationId: string; readonly since: number } | null = null
  /** The term in which this round began: all entries committed before it are applied once the barrier is passed. */
  #term = 0
  /** Operations whose take-up this node has logged. */
  readonly #driven = new Set<string>()

  constructor(parts: MembershipWorkerParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { membership, isJobRunner, readBarrier } = this.#parts
    if (!isJobRunner()) {
      this.#keeping = null
      this.#leaving = null
      this.#driven.clear()
      return false
    }
    if (this.#unfinished().length === 0) {
      this.#driven.clear()
      return false
    }
    this.#term = membership.local().term
    // Entries that an earlier leader has committed may not be applied here yet.
    await readBarrier()
    let isMore = false
    for (const { operationId } of this.#unfinished()) isMore = (await this.#step(operationId)) || isMore
    return isMore
  }

  /** Also cancelled operations that still block others. */
  #unfinished(): readonly LongOperation[] {
    const { state } = this.#parts
    const { change } = membersOf(state)
    const changing = change === null ? undefined : state.get(longOperationKeys.operation(change))
    const ended = changing !== undefined && isFinished(changing.status) ? [changing] : []
    return [...ended, ...unfinishedOperations(state).filter(({ kind }) => isMembership(kind))]
  }

  async #step(operationId: string): Promise<boolean> {
    const { state, logger } = this.#parts
    const operation = state.get(longOperationKeys.operation(operationId))
    if (operation === undefined) return false
    const { kind, cursor } = operation
    if (!this.#driven.has(operationId))
      logger.info({ operation: operationId, kind, step: cursor }, 'membership taken up')
    this.#driven.add(operationId)
    try {
      return await this.#advance(operation)
    } catch (err) {
      if (!(err instanceof MembershipRefusedError)) throw err
      logger.info({ operation: operationId, err }, 'configuration changes later')
      return false
    }
  }

  #advance(operation: LongOperation): Promise<boolean> {
    if (isFinished(operation.status)) return this.#giveUp(operation)
    switch (operation.cursor as MembershipStep) {
      case 'catchUp':
        return this.#catchUp(operation)
      case 'promote':
      case 'demote':
      case 'exclude':
        return this.#moveVotes(operation)
      case 'drain':
      case 'verify':
      case 'repair':
        return this.#evacuate(operation)
      case 'done':
        return Promise.resolve(false)
    }
  }

  async #catchUp(operation: LongOperation): Promise<boolean> {
    const { membership, state } = this.#parts
    const name = newcomerOf(operation)
    const member = memberIn(membersOf(state), name)
    if (member === undefined) return false
    await membership.newcomer(name, member.peerAddress, true)
    const status = membership.local()
    if (!isSettled(status)) return false
    const { voters, learners } = status.configuration
    if (!learners.includes(name))
      return this.#change(operation, { voters, learners: [...learners, name] }, status.configurationIndex)
    const blocker = await this.#blockerOf(operation, status)
    if (blocker !== null) return this.#reportPhase(operation, blocker)
    return this.#takeStep(operation, 'promoting')
  }

  /** Null: the joining node may have a vote. */
  async #blockerOf(
    { operationId, ...operation }: LongOperation,
    status: MemberStatus,
  ): Promise<StepBlocker | null> {
    const { membership, now, readyMs } = this.#parts
    const name = newcomerOf(operation)
    const at = now()
    if (this.#keeping?.operationId !== operationId) this.#keeping = { operationId, since: null, lagging: at }
    const keeping = this.#keeping
    if (!isCaughtUp(status, name)) {
      keeping.since = null
      const lagsMs = at - keeping.lagging
      if (lagsMs >= SILENT_MS && isSilent(status, name, SILENT_MS)) return silent(name)
      return lagsMs >= STALLED_MS ? tooSlow(name, STALLED_MS) : { phase: 'catching up' }
    }
    keeping.lagging = at
    keeping.since ??= at
    const leftMs = readyMs - (at - keeping.since)
    if (leftMs > 0)
      return { phase: 'keeping up', ...(operation.kind === 'join' ? { dueInMs: leftMs + VOTE_MS } : {}) }
    const reported = await membership.ask(name)
    if (reported === null) return silent(name)
    const invited = memberIn(membersOf(this.#parts.state), name)?.incarnation
    if (reported.incarnation !== invited) return exchanged(name)
    const common = commonChecksum(membership.local(), reported)
    if (common === 'equal') return null
    return common === 'unknown' ? { phase: 'waiting for a checksum in common' } : unequal(name)
  }

  async #moveVotes(operation: LongOperation): Promise<boolean> {
    const { membership, nodeId } = this.#parts
    const status = membership.local()
    if (!isSettled(status)) return false
    if (hasMoved(operation, status.configuration)) {
      if (await this.#isStillServing(operation, status)) return this.#reportPhase(operation, DOWNLOADS_PHASE)
      return this.#takeStep(operation, phaseAfter(operation))
    }
    if (operation.isRevoked === true) return this.#giveUp(operation)
    const leavingNode = leavingNodeOf(operation)
    const target = configurationAfter(operation, status.configuration, this.#isLost(leavingNode))
    const blocker = blockerBefore(operation, status, target)
    if (blocker !== null) return this.#reportPhase(operation, blocker)
    // The only voter has no node to hand over to: it makes the change itself and steps down when that is committed.
    const isAlone = status.configuration.voters.every((voter) => voter === leavingNode)
    if (leavingNode === nodeId && !isAlone) {
      await membership.transfer(null)
      return false
    }
    return this.#change(operation, target, status.configurationIndex)
  }

  /** Outside of the configuration a node begins no more downloads once the leader answers its read barriers no more. */
  async #isStillServing(operation: LongOperation, { peers }: MemberStatus): Promise<boolean> {
    const { membership, now } = this.#parts
    const { operationId, cursor } = operation
    const name = leavingNodeOf(operation)
    if (cursor !== 'exclude' || name === null || this.#isLost(name)) return false
    if (this.#leaving?.operationId !== operationId) this.#leaving = { operationId, since: now() }
    if (now() - this.#leaving.since >= DOWNLOADS_MS_MAX) return false
    if (peers.some(({ nodeId }) => nodeId === name)) return true
    return ((await membership.ask(name))?.downloads ?? 0) > 0
  }

  /** Only while this node leads in the term of the round and the operation is unchanged since it was read: nothing is awaited in between. */
  async #change(operation: LongOperation, target: Target, index: number): Promise<boolean> {
    const { membership, state, isJobRunner, logger } = this.#parts
    const { operationId, kind, cursor, status, isRevoked } = operation
    const present = state.get(longOperationKeys.operation(operationId))
    const isSame = present?.cursor === cursor && present.status === status && present.isRevoked === isRevoked
    if (!isSame || !isJobRunner() || membership.local().term !== this.#term) return false
    logger.info({ operation: operationId, kind, step: cursor, ...target }, 'configuration is changed')
    await membership.change(target, index)
    return true
  }

  async #evacuate(operation: LongOperation): Promise<boolean> {
    const { evacuating, propose, membership, state } = this.#parts
    const { operationId, progress } = operation
    // Copies are placed by the members that this node knows: without the node that joined last, the copies of the leaving node would have no target.
    await membership.setMembers(knownMembers(membersOf(state)), false)
    const { isClean, isMore, unmovable } = await evacuating.round(operation)
    if (unmovable > 0) {
      const error = `Of ${unmovable} chunks every listed copy is on a member that is lost`
      await propose({ type: 'setOperationStatus', operationId, action: 'fail', error })
      return true
    }
    if (!isClean || progress.tasksOpen > 0) return isMore
    evacuating.forget(operationId)
    return this.#takeStep(operation, operation.cursor === 'drain' ? 'looking once more' : 'done')
  }

  /** No vote has moved or will move: a joining node leaves the configuration, which restores the former state. */
  async #giveUp(operation: LongOperation): Promise<boolean> {
    const { membership, propose, logger } = this.#parts
    const { operationId, kind, cursor, newcomer } = operation
    const status = membership.local()
    if (!isSettled(status)) return false
    const { voters, learners } = status.configuration
    const left = learners.filter((learner) => learner !== newcomer)
    if (left.length < learners.length)
      return this.#change(operation, { voters, learners: left }, status.configurationIndex)
    const origin = systemOrigin(this.#parts.nodeId, 'undoMembership', operation)
    const reply = await propose({ type: 'undoMembership', operationId }, origin)
    if (reply.ok) logger.info({ operation: operationId, kind, step: cursor }, 'membership given up')
    return reply.ok
  }

  /** Takes the next step. */
  async #takeStep(operation: LongOperation, phase: string): Promise<boolean> {
    const { operationId, kind, cursor } = operation
    const way = isMembership(kind) ? STEPS_BY_KIND[kind] : []
    const from = cursor as MembershipStep
    const to = way[way.indexOf(from) + 1] ?? 'done'
    const origin = systemOrigin(this.#parts.nodeId, 'stepMembership', operation)
    const reply = await this.#parts.propose({ type: 'stepMembership', operationId, from, to, phase }, origin)
    if (reply.ok) this.#parts.logger.info({ operation: operationId, kind, step: to }, 'membership step')
    return reply.ok
  }

  /** Reports the phase when it differs from the last one. There is nothing more to do at once. */
  async #reportPhase(operation: LongOperation, blocker: StepBlocker): Promise<boolean> {
    if (operation.phase === blocker.phase) return false
    const { operationId, cursor } = operation
    const at = cursor as MembershipStep
    await this.#parts.propose({ type: 'stepMembership', operationId, from: at, to: at, ...blocker })
    return false
  }

  #isLost(node: string | null): boolean {
    return node !== null && memberIn(membersOf(this.#parts.state), node)?.phase === 'lost'
  }
}

function phaseAfter({ kind }: LongOperation): string {
  if (kind === 'join' || kind === 'remove') return 'done'
  return kind === 'lost' ? 'making its copies elsewhere' : 'moving copies away'
}
