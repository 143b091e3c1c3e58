/**
 * Changes of the members, from the order at the leader until the group has the wanted configuration.
 *
 * Owns: the callers that wait for each change. Knows nothing of: how a change is made, which the core decides; why a node joins or
 * leaves. Rule: an order succeeds only when a configuration that is not joint and is the wanted one is applied here. Once it was accepted its
 * failure is `commit_unknown`, because another leader may complete it.
 */
import { Condition, MembershipRefusedError } from '../base/types.ts'
import { isJoint } from '../raft/configuration.ts'
import type {
  Configuration,
  Input,
  LogIndex,
  NodeId,
  RefusalReason,
  TargetConfiguration,
} from '../raft/types.ts'
import type { Clock } from '../base/clock.ts'
import type { NodeLimits } from './base/limits.ts'

export interface ConfigurationChangesParts {
  readonly clock: Clock
  readonly limits: NodeLimits
  readonly submit: (input: Input) => void
  readonly leaderId: () => NodeId | null
}

interface Order {
  readonly target: TargetConfiguration
  readonly deadline: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  /** Of the first entry of the change; null until the core has accepted it. */
  index: LogIndex | null
}

export class ConfigurationChanges {
  readonly #parts: ConfigurationChangesParts
  /** The core follows one at a time and refuses the others at once. */
  readonly #orders = new Map<number, Order>()
  #lastId = 0
  #closed: Condition | null = null

  constructor(parts: ConfigurationChangesParts) {
    this.#parts = parts
  }

  /** The ids of proposals are positive. */
  isMine(id: number): boolean {
    return id < 0
  }

  /** Resolves when the group has the wanted configuration. Throws MembershipRefusedError or Condition. */
  change(target: TargetConfiguration, expectedIndex: LogIndex | null): Promise<void> {
    if (this.#closed) return Promise.reject(this.#closed)
    const { clock, limits, submit } = this.#parts
    const deadline = clock.now() + limits.configurationDeadlineMs
    this.#lastId -= 1
    const proposalId = this.#lastId
    return new Promise((resolve, reject) => {
      this.#orders.set(proposalId, { target, deadline, resolve, reject, index: null })
      submit({ type: 'changeConfiguration', proposalId, configuration: target, expectedIndex })
    })
  }

  onAccepted(id: number, index: LogIndex): void {
    const order = this.#orders.get(id)
    if (order) order.index = index
  }

  onRefused(id: number, reason: RefusalReason): void {
    const order = this.#orders.get(id)
    this.#orders.delete(id)
    order?.reject(this.#refusal(reason))
  }

  /** `configuration` is committed and came with the entry at `index`. */
  onApplied(configuration: Configuration, index: LogIndex): void {
    if (this.#orders.size === 0 || isJoint(configuration)) return
    for (const [id, order] of this.#orders) {
      if (order.index === null || index < order.index) continue
      this.#orders.delete(id)
      if (isTarget(configuration, order.target)) order.resolve()
      else order.reject(unknown('the members were changed to something else'))
    }
  }

  onTick(): void {
    const now = this.#parts.clock.now()
    for (const [id, order] of this.#orders) {
      if (order.deadline > now) continue
      this.#orders.delete(id)
      order.reject(unknown(`not complete within ${this.#parts.limits.configurationDeadlineMs} ms`))
    }
  }

  close(why: Condition): void {
    this.#closed ??= why
    for (const { index, reject } of this.#orders.values()) reject(index === null ? why : unknown(why.message))
    this.#orders.clear()
  }

  #refusal(reason: RefusalReason): Error {
    const what = 'Cannot change the members'
    switch (reason) {
      case 'notLeader': {
        const leader = this.#parts.leaderId()
        return new Condition(
          'no_leader',
          `${what}: ${leader === null ? 'no leader is known' : `${leader} leads, ask there`}`,
        )
      }
      case 'leaderNotReady':
      case 'transferring':
      case 'backlogFull':
        return new Condition('leader_not_ready', `${what}: the leader is not ready yet`)
      case 'configurationPending':
        return new MembershipRefusedError(reason, `${what}: the change before is not complete yet`)
      case 'configurationUnchanged':
        return new MembershipRefusedError(reason, `${what}: they are these already`)
      case 'configurationChanged':
        return new MembershipRefusedError(reason, `${what}: they are not the ones that were seen, look again`)
      case 'configurationInvalid':
      case 'tooLarge':
        return new MembershipRefusedError(reason, `${what}: there must be a voter, and each name once`)
    }
  }
}

function unknown(why: string): Condition {
  return new Condition('commit_unknown', `Cannot tell whether the members have changed: ${why}`)
}

function isTarget({ voters, learners }: Configuration, target: TargetConfiguration): boolean {
  return isSameSet(voters, target.voters) && isSameSet(learners, target.learners)
}

function isSameSet(a: readonly NodeId[], b: readonly NodeId[]): boolean {
  return a.length === b.length && a.every((nodeId) => b.includes(nodeId))
}
