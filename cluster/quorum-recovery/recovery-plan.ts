/**
 * The plan that brings back a group without a quorum: whose history counts, which nodes vote, which entries may be missing. Pure.
 *
 * Owns: the refusals, the choice of the winner [thesis 3.6.1], the entries that may be missing. Knows nothing of: files, objects, copies.
 * Rules: every member is accounted for; the longest history of any survivor is taken whole, including entries that were never
 * acknowledged, because the survivors cannot distinguish them from acknowledged ones; while a quorum is left no recovery is allowed.
 */
import { membersOf } from '../raft/configuration.ts'
import { hasQuorum } from '../raft/quorum.ts'
import type { Configuration, LogBase, LogIndex, NodeId, Term } from '../raft/types.ts'
import type { NodeFacts } from './node-facts.ts'
import { comparison, contradictions, foreigners, isBetter, pairsOf } from './reports.ts'

export interface PlanRefusal {
  readonly code:
    | 'no_reports'
    | 'foreign_cluster'
    | 'reported_twice'
    | 'dead_but_reported'
    | 'report_unusable'
    | 'epochs_differ'
    | 'unaccounted_member'
    | 'not_a_member'
    | 'unknown_member'
    | 'quorum_left'
    | 'states_differ'
  readonly message: string
}

export interface RecoveryDecision {
  readonly winner: NodeId
  readonly survivors: readonly NodeId[]
  readonly dead: readonly NodeId[]
  readonly epoch: number
  /** The term of the entry that starts the new history, right after `previous`. */
  readonly term: Term
  readonly previous: LogBase
  readonly configuration: Configuration
  /** Certainly committed before. The recovery commits the winner's entries after it. */
  readonly certainThrough: LogIndex
  /** The dead may have acknowledged entries after this one without any survivor; null: they cannot have, no acknowledged entry is missing. */
  readonly mayMissAfter: LogIndex | null
  /** The directories are restored older copies: promises made since are forgotten, so a majority of them proves nothing. */
  readonly isRestored: boolean
  /** The process count from which each survivor continues: for a restored copy the group may have registered a later process. */
  readonly boots: Readonly<Record<NodeId, number>>
  /** Pairs whose states could not be compared, because the log of one ends before the applied index of the other. */
  readonly uncompared: readonly (readonly [NodeId, NodeId])[]
}

export type Planned = { readonly refusals: readonly PlanRefusal[] } | { readonly decision: RecoveryDecision }

export interface Situation {
  readonly dead: readonly NodeId[]
  readonly isRestored: boolean
}

export function planRecovery(reports: readonly NodeFacts[], situation: Situation): Planned {
  const { dead, isRestored } = situation
  const [first] = reports
  if (first === undefined) return { refusals: [refusal('no_reports', 'There is no report of any survivor')] }
  const unfit = [...foreigners(reports, first), ...unusable(reports), ...contradictions(reports, dead)]
  if (unfit.length > 0) return { refusals: unfit }
  const winner = reports.reduce((best, report) => (isBetter(report, best) ? report : best), first)
  const { configuration } = winner.latest
  const survivors = reports.map(({ nodeId }) => nodeId)
  const refusals = [
    ...accountFaults(winner, survivors, dead),
    ...(isRestored ? [] : quorumFaults(configuration, survivors)),
    ...stateFaults(reports),
  ]
  if (refusals.length > 0) return { refusals }
  return { decision: decisionOf({ winner, reports, ...situation }) }
}

interface Accounted extends Situation {
  readonly winner: NodeFacts
  readonly reports: readonly NodeFacts[]
}

function decisionOf({ winner, reports, dead, isRestored }: Accounted): RecoveryDecision {
  const { configuration } = winner.latest
  const survivors = reports.map(({ nodeId }) => nodeId).toSorted()
  const votes = [...configuration.voters, ...configuration.outgoing, winner.nodeId]
  const voters = survivors.filter((nodeId) => votes.includes(nodeId))
  const learners = survivors.filter((nodeId) => !voters.includes(nodeId))
  const canDecideAlone = hasQuorum(configuration, (nodeId) => dead.includes(nodeId))
  return {
    winner: winner.nodeId,
    survivors,
    dead: [...new Set(dead)].toSorted(),
    epoch: winner.recoveryEpoch + 1,
    // The term in between belongs to the entries with which the other survivors wait.
    term: Math.max(...reports.map(({ term, last }) => Math.max(term, last.term))) + 2,
    previous: winner.last,
    configuration: { voters, learners, outgoing: [] },
    certainThrough: Math.max(...reports.map(({ applied }) => applied.index)),
    mayMissAfter: canDecideAlone || isRestored ? winner.last.index : null,
    isRestored,
    boots: Object.fromEntries(survivors.map((nodeId) => [nodeId, bootOf(nodeId, reports)])),
    uncompared: pairsOf(reports)
      .filter(([one, other]) => comparison(one, other) === 'unknown')
      .map(([one, other]) => [one.nodeId, other.nodeId] as const),
  }
}

function bootOf(node: NodeId, reports: readonly NodeFacts[]): number {
  const own = reports.flatMap(({ nodeId, boot }) => (nodeId === node ? boot : []))
  const known = reports.flatMap(({ registered }) => registered.filter(({ nodeId }) => nodeId === node))
  return Math.max(...own, ...known.map(({ boot }) => boot))
}

function unusable(reports: readonly NodeFacts[]): readonly PlanRefusal[] {
  return reports.flatMap(({ nodeId, fault }) =>
    fault === null
      ? []
      : refusal(
          'report_unusable',
          `The plan cannot use ${nodeId}: ${fault}; omit its report and name it dead if the others suffice`,
        ),
  )
}

function accountFaults(
  winner: NodeFacts,
  survivors: readonly NodeId[],
  dead: readonly NodeId[],
): readonly PlanRefusal[] {
  const { configuration, index } = winner.latest
  const members = membersOf(configuration)
  const known = [...members, ...winner.members]
  const open = members.filter((nodeId) => !survivors.includes(nodeId) && !dead.includes(nodeId))
  return [
    ...open.map((nodeId) =>
      refusal(
        'unaccounted_member',
        `${nodeId} is a member of the newest configuration (index ${index}) and is neither reported nor named dead`,
      ),
    ),
    ...survivors
      .filter((nodeId) => !members.includes(nodeId))
      .map((nodeId) =>
        refusal('not_a_member', `${nodeId} is not a member of the newest configuration; omit its report`),
      ),
    ...dead
      .filter((nodeId) => !known.includes(nodeId))
      .map((nodeId) => refusal('unknown_member', `${nodeId} is named dead and was not a member`)),
  ]
}

function quorumFaults(configuration: Configuration, survivors: readonly NodeId[]): readonly PlanRefusal[] {
  if (!hasQuorum(configuration, (nodeId) => survivors.includes(nodeId))) return []
  return [
    refusal(
      'quorum_left',
      `${survivors.join(', ')} are a majority of the voters: start them, and mark the others lost over the API`,
    ),
  ]
}

function stateFaults(reports: readonly NodeFacts[]): readonly PlanRefusal[] {
  return pairsOf(reports)
    .filter(([one, other]) => comparison(one, other) === 'different')
    .map(([one, other]) =>
      refusal(
        'states_differ',
        `The states of ${one.nodeId} and ${other.nodeId} differ at an index that both have reached; omit one of the reports`,
      ),
    )
}

function refusal(code: PlanRefusal['code'], message: string): PlanRefusal {
  return { code, message }
}
