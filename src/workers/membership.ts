/**
 * Drives the operations that change who belongs to the cluster, on the node that leads.
 *
 * Owns: the order of votes and rows, the readiness of a newcomer. Knows nothing of: who asked, what rows allow (apply decides).
 * Rules: each round looks at what is committed and does what is missing, so any leader goes on where the last one was; a vote moves
 * first and the step is told after that is committed; a newcomer gets its vote only after it has kept up for a while and its state was
 * proved equal; what is given up moves no vote from the moment on in which that is applied here.
 */
import {
  type Logger,
  MembershipRefusedError,
  type MembershipPort,
  type MemberStatus,
} from '../../cluster/index.ts'
import { isMembership, STEPS_BY_KIND } from '../state-machine/members/membership.ts'
import { isFinished } from '../state-machine/operations/operations.ts'
import { memberIn, membersOf } from '../state-machine/members/members.ts'
import type { MembershipStep, OperationRecord } from '../state-machine/operations/records.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import type { Evacuating } from './evacuating.ts'
import { knownMembers } from './following-members.ts'
import {
  commonChecksum,
  exchanged,
  isCaughtUp,
  isSilent,
  type Lack,
  silent,
  tooSlow,
  unequal,
} from './readiness.ts'
import { systemOrigin } from './system-origin.ts'
import {
  configurationAfter,
  hasMoved,
  isSettled,
  lackBefore,
  leavingNodeOf,
  newcomerOf,
} from './vote-moves.ts'

export interface MembershipWorkerParts {
  readonly nodeId: string
  readonly isJobRunner: () => boolean
  readonly membership: MembershipPort
  readonly state: Pick<LevelStateReader, 'view' | 'unfinishedOperations' | 'operation'>
  readonly propose: Propose
  /** After it resolves, the state holds everything that was committed before the call. */
  readonly readBarrier: () => Promise<void>
  readonly evacuating: Pick<Evacuating, 'round' | 'forget'>
  /** Of this process, ms; only differences count. */
  readonly now: () => number
  /** For so long without a gap a newcomer keeps up before it gets its vote. */
  readonly readyMs: number
  readonly logger: Logger
}

type Target = Parameters<MembershipPort['change']>[0]

/** A newcomer that has not kept up for so long is called stalled. */
const STALLED_MS = 60_000
/** One that is not heard for so long is called silent: its disk and its network have nothing to do with it. */
const SILENT_MS = 10_000
/** Two commits, in an estimate. */
const VOTE_MS = 1_000

export class MembershipWorker {
  readonly #parts: MembershipWorkerParts
  /** Since when the newcomer of this operation keeps up, and since when it was last seen not to. One at a time. */
  #keeping: { readonly operationId: string; since: number | null; lagging: number } | null = null
  /** In which this round began: all that was committed before it is applied once the barrier is passed. */
  #term = 0
  /** Operations that this node has told of taking up. */
  readonly #driven = new Set<string>()

  constructor(parts: MembershipWorkerParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { membership, isJobRunner, readBarrier } = this.#parts
    if (!isJobRunner()) {
      this.#keeping = null
      this.#driven.clear()
      return false
    }
    if (this.#unfinished().length === 0) {
      this.#driven.clear()
      return false
    }
    this.#term = membership.local().term
    // What an earlier leader has committed may not be applied here yet.
    await readBarrier()
    let isMore = false
    for (const { operationId } of this.#unfinished()) isMore = (await this.#step(operationId)) || isMore
    return isMore
  }

  /** Also what was cancelled and is still in the way of others. */
  #unfinished(): readonly OperationRecord[] {
    const { state } = this.#parts
    const { change } = membersOf(state.view)
    const changing = change === null ? undefined : state.operation(change)
    const ended = changing !== undefined && isFinished(changing.status) ? [changing] : []
    return [...ended, ...state.unfinishedOperations().filter(({ kind }) => isMembership(kind))]
  }

  async #step(operationId: string): Promise<boolean> {
    const { state, logger } = this.#parts
    const operation = state.operation(operationId)
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

  #advance(operation: OperationRecord): Promise<boolean> {
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

  async #catchUp(operation: OperationRecord): Promise<boolean> {
    const { membership, state } = this.#parts
    const name = newcomerOf(operation)
    const member = memberIn(membersOf(state.view), name)
    if (member === undefined) return false
    await membership.newcomer(name, member.peerAddress, true)
    const status = membership.local()
    if (!isSettled(status)) return false
    const { voters, learners } = status.configuration
    if (!learners.includes(name))
      return this.#change(operation, { voters, learners: [...learners, name] }, status.configurationIndex)
    const lack = await this.#lackOf(operation, status)
    if (lack !== null) return this.#say(operation, lack)
    return this.#tell(operation, 'promoting')
  }

  /** Null: it may have a vote. */
  async #lackOf({ operationId, ...operation }: OperationRecord, status: MemberStatus): Promise<Lack | null> {
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
    const its = await membership.ask(name)
    if (its === null) return silent(name)
    const invited = memberIn(membersOf(this.#parts.state.view), name)?.incarnation
    if (its.incarnation !== invited) return exchanged(name)
    const common = commonChecksum(membership.local(), its)
    if (common === 'equal') return null
    return common === 'unknown' ? { phase: 'waiting for a checksum in common' } : unequal(name)
  }

  async #moveVotes(operation: OperationRecord): Promise<boolean> {
    const { membership, nodeId } = this.#parts
    const status = membership.local()
    if (!isSettled(status)) return false
    if (hasMoved(operation, status.configuration)) return this.#tell(operation, phaseAfter(operation))
    if (operation.isRevoked === true) return this.#giveUp(operation)
    const leavingNode = leavingNodeOf(operation)
    const target = configurationAfter(operation, status.configuration, this.#isLost(leavingNode))
    const lack = lackBefore(operation, status, target)
    if (lack !== null) return this.#say(operation, lack)
    // The only voter has nobody to hand over to: it makes the change itself and steps down when that is committed.
    const isAlone = status.configuration.voters.every((voter) => voter === leavingNode)
    if (leavingNode === nodeId && !isAlone) {
      await membership.transfer(null)
      return false
    }
    return this.#change(operation, target, status.configurationIndex)
  }

  /** Only while this node leads in the term of the round and the operation stands as it was looked at: nothing is waited for in between. */
  async #change(operation: OperationRecord, target: Target, index: number): Promise<boolean> {
    const { membership, state, isJobRunner, logger } = this.#parts
    const { operationId, kind, cursor, status, isRevoked } = operation
    const present = state.operation(operationId)
    const isSame = present?.cursor === cursor && present.status === status && present.isRevoked === isRevoked
    if (!isSame || !isJobRunner() || membership.local().term !== this.#term) return false
    logger.info({ operation: operationId, kind, step: cursor, ...target }, 'configuration is changed')
    await membership.change(target, index)
    return true
  }

  async #evacuate(operation: OperationRecord): Promise<boolean> {
    const { evacuating, propose, membership, state } = this.#parts
    const { operationId, progress } = operation
    // Copies are placed by what this node knows of the members: without who came last, what is owed to who leaves would go to nobody.
    await membership.setMembers(knownMembers(membersOf(state.view)), false)
    const { isClean, isMore, unmovable } = await evacuating.round(operation)
    if (unmovable > 0) {
      const error = `Of ${unmovable} chunks every listed copy is on a member that is lost`
      await propose({ type: 'setOperationStatus', operationId, action: 'fail', error })
      return true
    }
    if (!isClean || progress.tasksOpen > 0) return isMore
    evacuating.forget(operationId)
    return this.#tell(operation, operation.cursor === 'drain' ? 'looking once more' : 'done')
  }

  /** Nobody's vote has moved, nor will it: a newcomer leaves the configuration, then all is as it was. */
  async #giveUp(operation: OperationRecord): Promise<boolean> {
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
  async #tell(operation: OperationRecord, phase: string): Promise<boolean> {
    const { operationId, kind, cursor } = operation
    const way = isMembership(kind) ? STEPS_BY_KIND[kind] : []
    const from = cursor as MembershipStep
    const to = way[way.indexOf(from) + 1] ?? 'done'
    const origin = systemOrigin(this.#parts.nodeId, 'stepMembership', operation)
    const reply = await this.#parts.propose({ type: 'stepMembership', operationId, from, to, phase }, origin)
    if (reply.ok) this.#parts.logger.info({ operation: operationId, kind, step: to }, 'membership step')
    return reply.ok
  }

  /** What is being done, when it is something else than before. There is nothing more to do at once. */
  async #say(operation: OperationRecord, lack: Lack): Promise<boolean> {
    if (operation.phase === lack.phase) return false
    const { operationId, cursor } = operation
    const at = cursor as MembershipStep
    await this.#parts.propose({ type: 'stepMembership', operationId, from: at, to: at, ...lack })
    return false
  }

  #isLost(node: string | null): boolean {
    return node !== null && memberIn(membersOf(this.#parts.state.view), node)?.phase === 'lost'
  }
}

function phaseAfter({ kind }: OperationRecord): string {
  if (kind === 'join' || kind === 'remove') return 'done'
  return kind === 'lost' ? 'making its copies elsewhere' : 'moving copies away'
}
