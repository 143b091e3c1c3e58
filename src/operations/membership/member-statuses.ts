/**
 * The statuses of the members before a change of them: which answer, which are in contact, which node could be taken in.
 *
 * Owns: the gates of safety that no row can decide. Knows nothing of: phases, names that left; apply decides those again.
 * Rule: a member that does not answer counts as away, because the change must hold without it. Only when a member is to be marked lost
 * is the doubt in its favour.
 */
import type { MemberStatus, MembershipPort, NewcomerStatus } from '../../../cluster/index.ts'
import { Refusal } from '../../base/refusal.ts'
import type { BlockerCode } from '../../state-machine/base/codes.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import type { Services } from '../base/services.ts'

/** A member that had contact within this time is not lost. [decisions 12: lost] */
const LOST_AFTER_MS = 30_000

/** In the audit log. */
export const SEEN_CHARS_MAX = 1_024

export type MemberStatuses = ReadonlyMap<string, MemberStatus | null>

/** Of all members. What another data directory says under a member's name is not the member's answer. */
export async function collectMemberStatuses({ cluster, state }: Services): Promise<MemberStatuses> {
  const said = await cluster.membership.memberStatuses()
  const rows = membersOf(state)
  const isOwn = (nodeId: string, { incarnation }: MemberStatus): boolean => {
    const known = memberIn(rows, nodeId)?.incarnation ?? null
    return known === null || known === incarnation
  }
  return new Map(
    [...said].map(([nodeId, status]) => [nodeId, status !== null && isOwn(nodeId, status) ? status : null]),
  )
}

export function answers(memberStatuses: MemberStatuses, nodeId: string): boolean {
  return (memberStatuses.get(nodeId) ?? null) !== null
}

export function gate(code: BlockerCode, message: string): Refusal {
  return new Refusal('precondition_failed', message, { blockers: [{ code, message }] })
}

/** The leader's own status, which knows the configuration in force; undefined: no member that answers leads. */
export function leaderIn(memberStatuses: MemberStatuses): MemberStatus | undefined {
  const leaders = [...memberStatuses.values()].filter((status) => status?.isLeader === true)
  return leaders.reduce<MemberStatus | undefined>(
    (last, status) => (status !== null && (last === undefined || status.term > last.term) ? status : last),
    undefined,
  )
}

/**
 * Throws Refusal unless so many of these voters answer, and take part, that they can elect a leader now. One that answers from an older
 * copy of its disk, or whose disk is full, is no more use than a silent one.
 */
export function requireMajority(
  memberStatuses: MemberStatuses,
  voters: readonly string[],
  what: string,
): void {
  const silent = silentOf(memberStatuses, voters)
  if (voters.length - silent.length > voters.length / 2) return
  throw gate(
    'would_lose_quorum',
    `Cannot ${what}: of the voters left, ${silent.join(', ')} do not answer or take no part, and the others are no majority; bring them back first`,
  )
}

/**
 * Throws Refusal unless enough of the others answer, and take part, to decide without the member that is marked lost while its vote
 * still counts: no node accepts a message from it from the moment on in which the mark is committed.
 */
export function requireQuorumOfOthers(
  memberStatuses: MemberStatuses,
  others: readonly string[],
  what: string,
): void {
  const silent = silentOf(memberStatuses, others)
  const voters = others.length + 1
  const enough = Math.floor(voters / 2) + 1
  if (others.length - silent.length >= enough) return
  const away = `of the voters left, ${silent.join(', ')} do not answer or take no part; bring them back first`
  const advice = silent.length === 0 ? 'join another voter first, or bring it back' : away
  throw gate(
    'would_lose_quorum',
    `Cannot ${what}: until its vote is gone ${enough} of ${voters} voters decide; ${advice}`,
  )
}

function silentOf(memberStatuses: MemberStatuses, voters: readonly string[]): readonly string[] {
  return voters.filter((voter) => memberStatuses.get(voter)?.isReady !== true)
}

/** Throws Refusal when any node had contact with the member lately, or it answers this node. */
export function requireSilence(memberStatuses: MemberStatuses, nodeId: string): void {
  const cannot = `Cannot call "${nodeId}" lost`
  if (answers(memberStatuses, nodeId))
    throw gate('member_reachable', `${cannot}: it answers; demote it instead`)
  for (const status of memberStatuses.values()) {
    if (status === null || status.nodeId === nodeId) continue
    const { heardMs, isLeader, peers } = status
    const asPeer = isLeader ? peers.find((peer) => peer.nodeId === nodeId)?.silentMs : undefined
    const silentMs = Math.min(heardMs[nodeId] ?? Infinity, asPeer ?? Infinity)
    if (silentMs >= LOST_AFTER_MS) continue
    throw gate(
      'member_reachable',
      `${cannot}: ${status.nodeId} had an answer from it ${Math.round(silentMs / 1000)} s ago; ${LOST_AFTER_MS / 1000} s of silence are needed, so wait or bring it back`,
    )
  }
}

/** Throws Refusal when the node at this address cannot be taken in. */
export async function askNewcomer(
  membership: MembershipPort,
  requested: { readonly nodeId: string; readonly peerAddress: string },
): Promise<NewcomerStatus> {
  const { nodeId, peerAddress } = requested
  const cannot = `Cannot take in "${nodeId}" at ${peerAddress}`
  const said = await membership.newcomer(nodeId, peerAddress, false)
  if (said === 'unusable_address')
    throw new Refusal(
      'invalid_request',
      `${cannot}: "peerAddress" is not host:port, or lies beyond loopback while nodes speak without TLS`,
    )
  if (said === 'foreign_cluster')
    throw new Refusal(
      'foreign_cluster',
      `${cannot}: the node there belongs to another cluster; see its cluster.id, or the address`,
    )
  if (said === 'certificate_of_another')
    throw gate(
      'learner_not_ready',
      `${cannot}: the certificate there is of another node; is it the right address? \`holdfast certs show\` says whom a certificate names`,
    )
  if (said === 'unknown_member')
    throw new Refusal(
      'data_not_empty',
      `${cannot}: the node there does not wait to be taken in; start it with --join on an empty data directory`,
    )
  if (said === 'expelled')
    throw new Refusal(
      'member_tombstoned',
      `${cannot}: another data directory has joined under this name before and owns it; ${otherNameAdvice(nodeId)}`,
    )
  if (typeof said === 'string')
    throw gate(
      said.startsWith('unreachable') ? 'member_unreachable' : 'learner_not_ready',
      `${cannot}: no node that waits answers there (${said}); start it with --join, and see that members reach that address`,
    )
  if (!said.isJoining)
    throw new Refusal(
      'data_not_empty',
      `${cannot}: its data directory has belonged to a member; start it with --join on an empty one`,
    )
  const { registered = null } = said
  if (registered !== null && registered !== said.incarnation)
    throw new Refusal(
      'member_tombstoned',
      `${cannot}: the data directory with incarnation ${registered} has joined under this name before and owns it; ${otherNameAdvice(nodeId)}`,
    )
  const { stateLevel } = membership.local()
  if (said.featureLevel < stateLevel)
    throw gate(
      'version_incompatible',
      `${cannot}: it runs version ${said.version}, which knows feature level ${said.featureLevel}, and the state is at ${stateLevel}; start the version there that the members run`,
    )
  return said
}

/** Also where the join of that directory was cancelled: some member may still hold what it registered. */
function otherNameAdvice(nodeId: string): string {
  return `start the node with that directory and --join; if it is gone, set node.id to a name that was never used, leave node.data_dir empty, start the node with --join, and join it under that name instead of "${nodeId}"`
}

/** In a few words, for the audit log: what was believed when the change was asked for. */
export function seenIn(memberStatuses: MemberStatuses): string {
  const said = [...memberStatuses].map(
    ([nodeId, status]) => `${nodeId} ${status === null ? 'silent' : 'answers'}`,
  )
  return said.join(', ').slice(0, SEEN_CHARS_MAX)
}
