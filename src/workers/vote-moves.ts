/**
 * Which votes a step moves, whether they have moved, and what blocks the move. Pure.
 *
 * Owns: the configuration that each step is to bring about. Knows nothing of: rows, who asks, how a configuration is changed.
 * Rule: a vote moves only if a majority of the resulting voters has just answered the leader; otherwise the group could decide
 * nothing any more, not even to undo the move.
 */
import type { MemberStatus } from '../../cluster/index.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import { isCaughtUp, isActive, type StepBlocker, noMajority, notKeepingUp } from './readiness.ts'

type Configuration = Pick<MemberStatus['configuration'], 'voters' | 'learners'>
type Moving = Pick<LongOperation, 'kind' | 'cursor' | 'node' | 'newcomer'>

/** Committed, and no change is under way: an entry that only the leader has in its log may still be lost with it. */
export function isSettled({ configuration, configurationIndex, appliedIndex }: MemberStatus): boolean {
  return configuration.outgoing.length === 0 && configurationIndex <= appliedIndex
}

export function hasMoved(operation: Moving, { voters, learners }: Configuration): boolean {
  const [old, name] = [leavingNodeOf(operation), newcomerOf(operation)]
  switch (operation.cursor) {
    case 'promote':
      return voters.includes(name) && (old === null || !voters.includes(old))
    case 'demote':
      return old === null || !voters.includes(old)
    default:
      return old === null || !(voters.includes(old) || learners.includes(old))
  }
}

/** `isLost`: the node receives nothing any more. */
export function configurationAfter(
  operation: Moving,
  { voters, learners }: Configuration,
  isLost: boolean,
): Configuration {
  const [old, name] = [leavingNodeOf(operation), newcomerOf(operation)]
  const isPromotion = operation.cursor === 'promote'
  const stays = (other: string): boolean => other !== old && (other !== name || !isPromotion)
  const [left, spare] = [voters.filter(stays), learners.filter(stays)]
  const staysLearner = old !== null && !isLost && operation.cursor !== 'exclude'
  return {
    voters: isPromotion ? [...left, name] : left,
    learners: staysLearner ? [...spare, old] : spare,
  }
}

/** As the leader sees it. Null: votes may move now. */
export function blockerBefore(
  operation: Moving,
  leader: MemberStatus,
  { voters }: Configuration,
): StepBlocker | null {
  const present = leader.configuration.voters
  if (voters.length === present.length && voters.every((voter) => present.includes(voter))) return null
  if (operation.cursor === 'promote' && !isCaughtUp(leader, newcomerOf(operation)))
    return notKeepingUp(newcomerOf(operation))
  const silent = voters.filter((voter) => voter !== leader.nodeId && !isActive(leader, voter))
  if (silent.length < voters.length / 2) return null
  return noMajority(silent)
}

/** Null: no node leaves. */
export function leavingNodeOf({ kind, node }: Pick<Moving, 'kind' | 'node'>): string | null {
  return kind === 'join' ? null : node
}

export function newcomerOf({ newcomer, node }: Pick<Moving, 'newcomer' | 'node'>): string {
  return newcomer ?? node ?? ''
}
