/**
 * Comparison of the reports of stopped nodes: whether they fit together, which log is longest, whether two states are equal. Pure.
 *
 * Owns: the checks that every plan needs. Knows nothing of: the plans.
 */
import type { NodeId } from '../raft/types.ts'
import type { NodeFacts } from './node-facts.ts'

export interface ReportRefusal {
  readonly code: 'foreign_cluster' | 'reported_twice' | 'dead_but_reported' | 'epochs_differ'
  readonly message: string
}

/** By the rule of an election, then by the applied index, then by name: every caller makes the same choice. */
export function isBetter(one: NodeFacts, other: NodeFacts): boolean {
  if (one.last.term !== other.last.term) return one.last.term > other.last.term
  if (one.last.index !== other.last.index) return one.last.index > other.last.index
  if (one.applied.index !== other.applied.index) return one.applied.index > other.applied.index
  return one.nodeId < other.nodeId
}

export function foreigners(reports: readonly NodeFacts[], first: NodeFacts): readonly ReportRefusal[] {
  return reports
    .filter(({ clusterId }) => clusterId !== first.clusterId)
    .map(({ nodeId, clusterId }) =>
      refusal(
        'foreign_cluster',
        `${nodeId} belongs to cluster "${clusterId}", ${first.nodeId} to "${first.clusterId}"`,
      ),
    )
}

export function contradictions(
  reports: readonly NodeFacts[],
  dead: readonly NodeId[],
): readonly ReportRefusal[] {
  const names = reports.map(({ nodeId }) => nodeId)
  const twice = names.filter((nodeId, at) => names.indexOf(nodeId) !== at)
  const both = names.filter((nodeId) => dead.includes(nodeId))
  const epochs = new Set(reports.map(({ recoveryEpoch }) => recoveryEpoch))
  return [
    ...twice.map((nodeId) => refusal('reported_twice', `There are two reports of ${nodeId}`)),
    ...both.map((nodeId) => refusal('dead_but_reported', `${nodeId} is named dead and has a report`)),
    ...(epochs.size > 1 ? [refusal('epochs_differ', epochsText(reports))] : []),
  ]
}

function epochsText(reports: readonly NodeFacts[]): string {
  const epochs = reports.map(({ nodeId, recoveryEpoch, pendingPlan }) => {
    const pending = pendingPlan === null ? '' : ` with plan ${pendingPlan} pending`
    return `${nodeId} at ${recoveryEpoch}${pending}`
  })
  return `The survivors are at different recovery epochs: ${epochs.join(', ')}; apply the pending plan on all of them, or omit the reports of those that an earlier recovery left behind`
}

type Summed = Pick<NodeFacts, 'checksums'>

/** Entries of one index and one term are one entry, and everything before them is equal as well [thesis 3.5]. */
export function comparison(one: Summed, other: Summed): 'equal' | 'different' | 'unknown' {
  const sums = new Map(one.checksums.map(({ index, term, checksum }) => [`${index}.${term}`, checksum]))
  const common = other.checksums.filter(({ index, term }) => sums.has(`${index}.${term}`))
  if (common.length === 0) return 'unknown'
  const isEqual = common.every(({ index, term, checksum }) => sums.get(`${index}.${term}`) === checksum)
  return isEqual ? 'equal' : 'different'
}

export function pairsOf(reports: readonly NodeFacts[]): readonly (readonly [NodeFacts, NodeFacts])[] {
  return reports.flatMap((one, at) => reports.slice(at + 1).map((other) => [one, other] as const))
}

function refusal(code: ReportRefusal['code'], message: string): ReportRefusal {
  return { code, message }
}
