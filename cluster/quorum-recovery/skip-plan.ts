/**
 * Decides whether an entry that no node can apply may be skipped, and what every node that skips it must have in common. Pure.
 *
 * Owns: the refusals, and the conditions of the order. Knows nothing of: files, the content of the entry.
 * Rules: every voter is accounted for, so that no node has applied the entry and acknowledged it; a majority of the logs holds it, so
 * that no leader is elected without it; the states before it are equal wherever they can be compared; no other entry is skipped with it.
 */
import type { Obstacle } from '../node/state/apply-failure.ts'
import { membersOf } from '../raft/configuration.ts'
import { hasQuorum } from '../raft/quorum.ts'
import type { LogBase, LogIndex, NodeId, Term } from '../raft/types.ts'
import type { NodeFacts } from './node-facts.ts'
import { comparison, contradictions, foreigners, isBetter, pairsOf, type ReportRefusal } from './reports.ts'

export interface SkipRefusal {
  readonly code:
    | ReportRefusal['code']
    | 'no_reports'
    | 'report_unusable'
    | 'nothing_to_skip'
    | 'not_skippable'
    | 'skipped_before'
    | 'already_applied'
    | 'applicable'
    | 'obstacles_differ'
    | 'unaccounted_voter'
    | 'unknown_member'
    | 'not_committed'
    | 'states_differ'
  readonly message: string
}

export type StateSum = LogBase & { readonly checksum: string }

export interface SkipDecision {
  readonly index: LogIndex
  readonly term: Term
  readonly digest: string
  /** Why it cannot be applied. */
  readonly why: string
  readonly recoveryEpoch: number
  /** Checksum of the state before the entry: a node whose state differs there does not skip it. */
  readonly before: StateSum
  /** Checksums of one node whose log holds the entry: a shorter log is compared with them. */
  readonly checksums: readonly StateSum[]
  /** Nodes whose logs hold the entry. */
  readonly holders: readonly NodeId[]
  /** Nodes whose logs end before the entry. */
  readonly behind: readonly NodeId[]
  /** Nodes in `behind` whose states cannot be compared yet. They are ordered to skip the entry once they have stopped at it. */
  readonly uncompared: readonly NodeId[]
  /** Voters that never come back. They may have applied the entry and acknowledged it. */
  readonly dead: readonly NodeId[]
}

export type PlannedSkip = { readonly refusals: readonly SkipRefusal[] } | { readonly decision: SkipDecision }

export function planSkip(reports: readonly NodeFacts[], dead: readonly NodeId[]): PlannedSkip {
  const [first] = reports
  if (first === undefined) return { refusals: [refusal('no_reports', 'There is no report of any node')] }
  const unfit = [...foreigners(reports, first), ...unusable(reports), ...contradictions(reports, dead)]
  if (unfit.length > 0) return { refusals: unfit }
  const winner = reports.reduce((best, report) => (isBetter(report, best) ? report : best), first)
  const obstacle = winner.obstacle ?? lowest(reports)
  if (obstacle === null)
    return {
      refusals: [refusal('nothing_to_skip', 'Every entry of every log can be applied: start the nodes')],
    }
  if (!obstacle.isSkippable) return { refusals: [notSkippable(obstacle)] }
  const places = reports.map((report) => ({ report, place: placeOf(report, obstacle) }))
  const holders = places.flatMap(({ report, place }) => (place === 'holds' ? report : []))
  const behind = places.flatMap(({ report, place }) => (place === 'behind' ? report : []))
  const refusals = [
    ...places.flatMap(({ report, place }) => placeRefusal(report.nodeId, place, obstacle)),
    ...accountRefusals(winner, reports, dead),
    ...commitRefusals(winner, { holders, behind, obstacle }),
    ...stateRefusals([...holders, ...behind]),
  ]
  const before = holders[0]?.checksums.at(-1)
  if (refusals.length > 0 || before === undefined) return { refusals }
  return { decision: decisionOf({ obstacle, before, holders, behind, dead }) }
}

function decisionOf({
  obstacle,
  before,
  holders,
  behind,
  dead,
}: Holding & { readonly before: StateSum; readonly dead: readonly NodeId[] }): SkipDecision {
  const { index, term, digest, why } = obstacle
  const longest = holders.toSorted((one, other) => other.checksums.length - one.checksums.length)[0]
  const isCompared = (report: NodeFacts): boolean =>
    holders.some((holder) => comparison(holder, report) === 'equal')
  return {
    index,
    term,
    digest,
    why,
    recoveryEpoch: longest?.recoveryEpoch ?? 0,
    before,
    checksums: longest?.checksums ?? [],
    holders: namesOf(holders),
    behind: namesOf(behind),
    uncompared: namesOf(behind.filter((report) => !isCompared(report))),
    dead: [...new Set(dead)].toSorted(),
  }
}

interface Holding {
  readonly obstacle: Obstacle
  readonly holders: readonly NodeFacts[]
  readonly behind: readonly NodeFacts[]
}

type Place = 'holds' | 'behind' | 'skips' | 'applied' | 'applies' | 'differs'

/** The position of a node's log relative to the entry. */
function placeOf({ obstacle: own, skips, applied, last, checksums }: NodeFacts, entry: Obstacle): Place {
  const { index, term } = entry
  const isOrdered = skips.some((skip) => skip.index === index && skip.term === term)
  if (isOrdered) return 'skips'
  if (applied.index >= index) return 'applied'
  if (own?.index === index && own.term === term) return own.digest === entry.digest ? 'holds' : 'differs'
  if (own !== null && own.index < index) return 'differs'
  if (last.index < index) return 'behind'
  // Entries that an older leader left there were never committed, and this entry replaces them.
  if (last.term < term) return 'behind'
  return checksums.some((sum) => sum.index === index && sum.term === term) ? 'applies' : 'differs'
}

function placeRefusal(nodeId: NodeId, place: Place, { index }: Obstacle): readonly SkipRefusal[] {
  switch (place) {
    case 'skips':
      return [
        refusal(
          'skipped_before',
          `${nodeId} was ordered to skip entry ${index} before: apply that plan on the others`,
        ),
      ]
    case 'applied':
      return [
        refusal(
          'already_applied',
          `${nodeId} has applied entry ${index}: start the version that it runs on every node, and keep its data directory`,
        ),
      ]
    case 'applies':
      return [
        refusal(
          'applicable',
          `${nodeId} can apply entry ${index} with its version or its state: start every node with that version; if the versions are the same, the states of the others are wrong`,
        ),
      ]
    case 'differs':
      return [
        refusal(
          'obstacles_differ',
          `${nodeId} holds another entry ${index} than the others, or stops before it: one of the logs or states is wrong; keep all directories`,
        ),
      ]
    default:
      return []
  }
}

function lowest(reports: readonly NodeFacts[]): Obstacle | null {
  const obstacles = reports.flatMap(({ obstacle }) => obstacle ?? [])
  return obstacles.toSorted((one, other) => one.index - other.index)[0] ?? null
}

function notSkippable({ index, kind, why }: Obstacle): SkipRefusal {
  const what = kind === 'configuration' ? 'changes the members' : 'raises the feature level'
  return refusal(
    'not_skippable',
    `Entry ${index} ${what} and cannot be skipped (${why}): start a version that can apply it`,
  )
}

function unusable(reports: readonly NodeFacts[]): readonly SkipRefusal[] {
  return reports.flatMap(({ nodeId, fault }) =>
    fault === null
      ? []
      : refusal(
          'report_unusable',
          `${nodeId} cannot be compared: ${fault}; omit its report and name it dead if the others suffice`,
        ),
  )
}

function accountRefusals(
  { latest, members }: NodeFacts,
  reports: readonly NodeFacts[],
  dead: readonly NodeId[],
): readonly SkipRefusal[] {
  const { voters, outgoing } = latest.configuration
  const known = [...membersOf(latest.configuration), ...members]
  const present = [...namesOf(reports), ...dead]
  const open = [...new Set([...voters, ...outgoing])].filter((nodeId) => !present.includes(nodeId))
  return [
    ...open.map((nodeId) =>
      refusal(
        'unaccounted_voter',
        `${nodeId} votes and has no report: it may have applied the entry; collect there, or name it dead if it never comes back`,
      ),
    ),
    ...present
      .filter((nodeId) => !known.includes(nodeId))
      .map((nodeId) => refusal('unknown_member', `${nodeId} is not a member of the newest configuration`)),
  ]
}

function commitRefusals(
  { latest }: NodeFacts,
  { obstacle, holders, behind }: Holding,
): readonly SkipRefusal[] {
  const { index, term } = obstacle
  const names = namesOf(holders)
  const isOnMajority = hasQuorum(latest.configuration, (nodeId) => names.includes(nodeId))
  const later = behind.filter(({ last }) => last.term > term)
  if (isOnMajority && later.length === 0) return []
  return [
    refusal(
      'not_committed',
      `Nothing proves that entry ${index} of term ${term} is committed (nodes that hold it: ${names.join(', ') || 'none'}); start the nodes, and collect again if they stop at it`,
    ),
  ]
}

function stateRefusals(reports: readonly NodeFacts[]): readonly SkipRefusal[] {
  return pairsOf(reports)
    .filter(([one, other]) => comparison(one, other) === 'different')
    .map(([one, other]) =>
      refusal(
        'states_differ',
        `The states of ${one.nodeId} and ${other.nodeId} differ before the entry: omit the report of the wrong one, name it dead if it votes, and keep its data directory`,
      ),
    )
}

function namesOf(reports: readonly NodeFacts[]): readonly NodeId[] {
  return reports.map(({ nodeId }) => nodeId).toSorted()
}

function refusal(code: SkipRefusal['code'], message: string): SkipRefusal {
  return { code, message }
}
