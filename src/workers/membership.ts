/**
 * Drives the operations that change who belongs to the cluster, on the node that leads.
 *
 * Owns: the order of votes and rows, the readiness of a newcomer. Knows nothing of: who asked, what rows allow (apply decides).
 * Rules: each round looks at what is committed and does what is missing, so any leader goes on where the last one was; a vote moves
 * first and the step is told after it; a newcomer gets its vote only after it has kept up for a while and its state was proved equal.
 */
import {
  type Logger,
  MembershipRefusedError,
  type MembershipPort,
  type MemberStatus,
} from '../../cluster/index.ts'
import { isMembership, WAYS } from '../state-machine/membership.ts'
import { memberIn, membersOf } from '../state-machine/members.ts'
import type { MembershipStep, OperationRecord, StandingBlocker } from '../state-machine/records.ts'
import type { LevelStateReader } from '../store/level-state-reader.ts'
import type { Propose } from '../store/propose.ts'
import type { Evacuating } from './evacuating.ts'
import { knownMembers } from './following-members.ts'
import { commonChecksum, exchanged, isCaughtUp, type Lack, silent, tooSlow, unequal } from './readiness.ts'
import { systemOrigin } from './system-origin.ts'

export interface MembershipWorkerParts {
  readonly nodeId: string
  readonly isOnDuty: () => boolean
  readonly membership: MembershipPort
  readonly state: Pick<LevelStateReader, 'view' | 'unfinishedOperations' | 'operation'>
  readonly propose: Propose
  readonly evacuating: Pick<Evacuating, 'round' | 'forget'>
  /** Of this process, ms; only differences count. */
  readonly now: () => number
  /** For so long without a gap a newcomer keeps up before it gets its vote. */
  readonly readyMs: number
  readonly logger: Logger
}

/** A newcomer that has not kept up for so long is called stalled. */
const STALLED_MS = 60_000

export class MembershipWorker {
  readonly #parts: MembershipWorkerParts
  /** Since when the newcomer of this operation keeps up, and since when it was last seen not to. One at a time. */
  #keeping: { readonly operationId: string; since: number | null; lagging: number } | null = null

  constructor(parts: MembershipWorkerParts) {
    this.#parts = parts
  }

  /** One round; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { state, isOnDuty, membership } = this.#parts
    if (!isOnDuty()) {
      this.#keeping = null
      return false
    }
    if (!isSettled(membership.local())) return false
    let isMore = await this.#undo()
    for (const operation of state.unfinishedOperations()) {
      if (isMembership(operation.kind)) isMore = (await this.#step(operation)) || isMore
    }
    return isMore
  }

  async #step(operation: OperationRecord): Promise<boolean> {
    try {
      return await this.#advance(operation)
    } catch (err) {
      if (!(err instanceof MembershipRefusedError)) throw err
      this.#parts.logger.info({ operation: operation.operationId, err }, 'configuration changes later')
      return false
    }
  }

  #advance(operation: OperationRecord): Promise<boolean> {
    switch (operation.cursor as MembershipStep) {
      case 'catchUp':
        return this.#catchUp(operation)
      case 'promote':
        return this.#promote(operation)
      case 'demote':
        return this.#demote(operation)
      case 'drain':
      case 'verify':
      case 'repair':
        return this.#evacuate(operation)
      case 'exclude':
        return this.#exclude(operation)
      case 'done':
        return Promise.resolve(false)
    }
  }

  async #catchUp(operation: OperationRecord): Promise<boolean> {
    const { membership, state } = this.#parts
    const name = newcomerOf(operation)
    const member = memberIn(membersOf(state.view), name)
    if (member === undefined) return false
    const status = membership.local()
    const { voters, learners } = status.configuration
    if (voters.includes(name)) return this.#tell(operation, 'promoting')
    await membership.newcomer(name, member.peerAddress, true)
    if (!learners.includes(name)) {
      await membership.change({ voters, learners: [...learners, name] }, status.configurationIndex)
      return this.#say(operation, 'catching up')
    }
    const lack = await this.#lackOf(operation, status)
    if (lack !== null) return this.#say(operation, lack.phase, lack.blocker)
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
      return at - keeping.lagging >= STALLED_MS ? tooSlow(name, STALLED_MS) : { phase: 'catching up' }
    }
    keeping.lagging = at
    keeping.since ??= at
    if (at - keeping.since < readyMs) return { phase: 'keeping up' }
    const its = await membership.ask(name)
    if (its === null) return silent(name)
    const invited = memberIn(membersOf(this.#parts.state.view), name)?.incarnation
    if (its.incarnation !== invited) return exchanged(name)
    const common = commonChecksum(membership.local(), its)
    if (common === 'equal') return null
    return common === 'unknown' ? { phase: 'waiting for a checksum in common' } : unequal(name)
  }

  async #promote(operation: OperationRecord): Promise<boolean> {
    const { membership, nodeId } = this.#parts
    const { kind, node } = operation
    const name = newcomerOf(operation)
    const { configuration, configurationIndex } = membership.local()
    const { voters, learners } = configuration
    const old = kind === 'replace' && node !== null ? node : null
    const isDone = voters.includes(name) && (old === null || !voters.includes(old))
    if (isDone) return this.#tell(operation, old === null ? 'done' : 'moving copies away')
    const left = voters.filter((voter) => voter !== old && voter !== name)
    // The only voter has nobody to hand over to: it makes the change itself and steps down when that is committed.
    if (old === nodeId && left.length > 0) {
      await membership.transfer(null)
      return false
    }
    const spare = learners.filter((learner) => learner !== name && learner !== old)
    const isLost = old === null || this.#isLost(old)
    const target = { voters: [...left, name], learners: isLost || old === null ? spare : [...spare, old] }
    await membership.change(target, configurationIndex)
    return true
  }

  async #demote(operation: OperationRecord): Promise<boolean> {
    const { membership, nodeId } = this.#parts
    const node = operation.node ?? ''
    const { configuration, configurationIndex } = membership.local()
    const { voters, learners } = configuration
    if (!voters.includes(node)) return this.#tell(operation, 'moving copies away')
    if (node === nodeId) {
      await membership.transfer(null)
      return false
    }
    const left = voters.filter((voter) => voter !== node)
    await membership.change({ voters: left, learners: [...learners, node] }, configurationIndex)
    return true
  }

  async #exclude(operation: OperationRecord): Promise<boolean> {
    const { membership, nodeId } = this.#parts
    const node = operation.node ?? ''
    const { configuration, configurationIndex } = membership.local()
    const { voters, learners } = configuration
    if (!voters.includes(node) && !learners.includes(node))
      return this.#tell(operation, operation.kind === 'lost' ? 'making its copies elsewhere' : 'done')
    if (node === nodeId) {
      await membership.transfer(null)
      return false
    }
    const others = (names: readonly string[]): readonly string[] => names.filter((name) => name !== node)
    await membership.change({ voters: others(voters), learners: others(learners) }, configurationIndex)
    return true
  }

  async #evacuate(operation: OperationRecord): Promise<boolean> {
    const { evacuating, propose, membership, state } = this.#parts
    const { operationId, progress } = operation
    // Copies are placed by what this node knows of the members: without who came last, what is owed to who leaves would go to nobody.
    await membership.setMembers(knownMembers(membersOf(state.view)), false)
    const { isClean, isMore, unmovable } = await evacuating.round(operation)
    if (unmovable > 0) {
      const error = `Of ${unmovable} chunks the only listed copy is on this member`
      await propose({ type: 'setOperationStatus', operationId, action: 'fail', error })
      return true
    }
    if (!isClean || progress.tasksOpen > 0) return isMore
    evacuating.forget(operationId)
    return this.#tell(operation, operation.cursor === 'drain' ? 'looking once more' : 'done')
  }

  /** A newcomer that was sent away: it leaves the configuration, then its row goes. */
  async #undo(): Promise<boolean> {
    const { membership, state, propose } = this.#parts
    const { change } = membersOf(state.view)
    const operation = change === null ? undefined : state.operation(change)
    if (operation === undefined || !['cancelled', 'failed'].includes(operation.status)) return false
    const name = newcomerOf(operation)
    const { configuration, configurationIndex } = membership.local()
    const { voters, learners } = configuration
    if (learners.includes(name)) {
      const left = learners.filter((learner) => learner !== name)
      await membership.change({ voters, learners: left }, configurationIndex)
    }
    const origin = systemOrigin(this.#parts.nodeId, 'undoMembership', operation)
    await propose({ type: 'undoMembership', operationId: operation.operationId }, origin)
    return true
  }

  /** Takes the next step. */
  async #tell(operation: OperationRecord, phase: string): Promise<boolean> {
    const { operationId, kind, cursor } = operation
    const way = isMembership(kind) ? WAYS[kind] : []
    const from = cursor as MembershipStep
    const to = way[way.indexOf(from) + 1] ?? 'done'
    const origin = systemOrigin(this.#parts.nodeId, 'stepMembership', operation)
    const reply = await this.#parts.propose({ type: 'stepMembership', operationId, from, to, phase }, origin)
    if (reply.ok) this.#parts.logger.info({ operation: operationId, kind, step: to }, 'membership step')
    return reply.ok
  }

  /** What is being done, when it is something else than before. There is nothing more to do at once. */
  async #say(operation: OperationRecord, phase: string, blocker?: StandingBlocker): Promise<boolean> {
    if (operation.phase === phase) return false
    const { operationId, cursor } = operation
    const at = cursor as MembershipStep
    const said = { phase, ...(blocker === undefined ? {} : { blocker }) }
    await this.#parts.propose({ type: 'stepMembership', operationId, from: at, to: at, ...said })
    return false
  }

  #isLost(node: string): boolean {
    return memberIn(membersOf(this.#parts.state.view), node)?.phase === 'lost'
  }
}

/**
 * One that is joint, or not committed yet, is none to tell of: it can still be undone by another leader, and what was told would be
 * proposed to that one again.
 */
function isSettled({ configuration, configurationIndex, commitIndex }: MemberStatus): boolean {
  return configuration.outgoing.length === 0 && configurationIndex <= commitIndex
}

function newcomerOf({ newcomer, node }: Pick<OperationRecord, 'newcomer' | 'node'>): string {
  return newcomer ?? node ?? ''
}
