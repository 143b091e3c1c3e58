/**
 * Invariants of the rows of membership, written independently from the contract. Pure: each function returns the violations.
 *
 * Rule: shares no code with src/state-machine, so that an error there is found here. [decisions 12]
 */
import type { Configuration } from '../../../cluster/raft/types.ts'
import type { ChunkRecord } from '../../../src/state-machine/chunks/records.ts'
import type { MemberPhase, MemberRecord, MembersRecord } from '../../../src/state-machine/members/records.ts'
import type { LongOperation } from '../../../src/state-machine/long-operations/records.ts'

const NEXT: Readonly<Record<MemberPhase, readonly (MemberPhase | 'gone')[]>> = {
  joining: ['active', 'gone'],
  active: ['draining', 'lost'],
  draining: ['drained', 'lost'],
  drained: ['gone', 'lost'],
  lost: ['gone'],
}
const STEPS: Readonly<Record<string, string>> = {
  join: 'catchUp promote done',
  demote: 'demote drain verify done',
  replace: 'catchUp promote drain verify exclude done',
  lost: 'exclude repair done',
  remove: 'exclude done',
}
const MOVES_VOTES: readonly string[] = ['catchUp', 'promote', 'demote', 'exclude']

/** One batch may hold several steps; each phase in between is passed. */
function isReachable(from: MemberPhase, to: MemberPhase | 'gone'): boolean {
  if (from === to) return true
  return NEXT[from].some((next) => next === to || (next !== 'gone' && isReachable(next, to)))
}

/** `changing`: the operation that might move votes before, in its present state. */
export function changeFaults(
  before: MembersRecord,
  after: MembersRecord,
  unfinished: readonly LongOperation[],
  changing: LongOperation | undefined,
): readonly string[] {
  const faults: string[] = []
  const isGivenUp = changing?.kind === 'demote' && changing.status === 'cancelled'
  for (const member of before.members) {
    const { nodeId, phase, incarnation } = member
    const now = after.members.find((one) => one.nodeId === nodeId)
    const keepsVote = isGivenUp && changing.node === nodeId && phase === 'draining' && now?.phase === 'active'
    if (!keepsVote && !isReachable(phase, now?.phase ?? 'gone'))
      faults.push(`${nodeId} turns from ${phase} into ${now?.phase ?? 'gone'}`)
    // Removed and joined again in one batch, under the name that was free again.
    const isAnother = phase === 'joining' && now?.phase === 'joining' && before.change !== after.change
    if (incarnation !== null && now !== undefined && now.incarnation !== incarnation && !isAnother)
      faults.push(`the incarnation of ${nodeId} turns from ${incarnation} into ${now.incarnation ?? 'none'}`)
  }
  for (const { nodeId, phase } of after.members) {
    const hasLeft = after.departed.some((gone) => gone.nodeId === nodeId)
    if (hasLeft && phase !== 'lost') faults.push(`${nodeId} has left forever and is ${phase}`)
    const isNew = !before.members.some((one) => one.nodeId === nodeId)
    if (isNew && before.departed.some((gone) => gone.nodeId === nodeId))
      faults.push(`${nodeId} had left forever and is back`)
  }
  const kept = before.departed.every(({ nodeId }) => after.departed.some((gone) => gone.nodeId === nodeId))
  if (!kept) faults.push('a member that had left is forgotten')
  if (before.members.length > 0 && !after.members.some(({ phase }) => phase === 'active'))
    faults.push('no member has a vote any more')
  const moving = unfinished.filter(({ cursor }) => MOVES_VOTES.includes(cursor))
  for (const { operationId } of moving)
    if (after.change !== operationId)
      faults.push(`${operationId} may move votes, and the change is ${after.change ?? 'none'}`)
  return faults
}

export function operationFaults(was: LongOperation | undefined, is: LongOperation): readonly string[] {
  const { operationId, kind, cursor, status } = is
  const way = STEPS[kind]?.split(' ') ?? []
  const at = way.indexOf(cursor)
  const faults: string[] = []
  if (at < 0) faults.push(`${operationId} is at ${cursor}, no step of ${kind}`)
  if (was !== undefined && at < way.indexOf(was.cursor))
    faults.push(`${operationId} goes back from ${was.cursor} to ${cursor}`)
  const isOver = ['succeeded', 'failed', 'cancelled'].includes(was?.status ?? '')
  if (isOver && was !== undefined && (was.status !== status || was.cursor !== cursor))
    faults.push(`${operationId} was ${was.status} at ${was.cursor} and is ${status} at ${cursor}`)
  if (status === 'succeeded' && cursor !== 'done') faults.push(`${operationId} succeeded at ${cursor}`)
  // Whether votes had moved by then is checked against the configuration.
  if (status === 'cancelled' && !['catchUp', 'promote', 'demote'].includes(cursor))
    faults.push(`${operationId} was cancelled at ${cursor}`)
  if (status === 'failed' && !['drain', 'verify', 'repair'].includes(cursor))
    faults.push(`${operationId} failed at ${cursor}`)
  return faults
}

/** `gone`: nodes whose copies cannot be read any more. */
export function chunkFaults(
  was: ChunkRecord | undefined,
  is: ChunkRecord | undefined,
  gone: ReadonlySet<string>,
): readonly string[] {
  if (was === undefined) return []
  if (is === undefined) return [`chunk ${was.id} is forgotten`]
  const struck = was.replicas.filter((holder) => !is.replicas.includes(holder))
  const isRead = ({ replicas }: ChunkRecord): boolean => replicas.some((holder) => !gone.has(holder))
  if (struck.length === 0 || (is.replicas.length > 0 && (isRead(is) || !isRead(was)))) return []
  return [
    `the last copy of ${is.id} that can be read, at ${struck.join()}, is struck off: ${is.replicas.join()} stay`,
  ]
}

/** Of a member that has just left. Copies that exist only on lost members stay listed: no other member has any. */
export function leftoverFaults(
  { nodeId, phase }: MemberRecord,
  chunks: readonly ChunkRecord[],
  gone: ReadonlySet<string>,
): readonly string[] {
  const isLast = ({ replicas }: ChunkRecord): boolean =>
    phase === 'lost' && replicas.every((holder) => gone.has(holder))
  return chunks
    .filter((chunk) => chunk.owed.includes(nodeId) || (chunk.replicas.includes(nodeId) && !isLast(chunk)))
    .map(({ id }) => `${nodeId} has left, and ${id} counts on it`)
}

/** `operation`: the one that changes the members just now. */
export function configurationFaults(
  { members, change }: MembersRecord,
  { voters, learners, outgoing }: Configuration,
  operation: LongOperation | undefined,
): readonly string[] {
  const named = (...phases: readonly MemberPhase[]): readonly string[] =>
    members.filter(({ phase }) => phases.includes(phase)).map(({ nodeId }) => nodeId)
  const moving = change === null ? [] : [operation?.node, operation?.newcomer]
  const differ = (one: readonly string[], other: readonly string[]): readonly string[] =>
    [...one.filter((name) => !other.includes(name)), ...other.filter((name) => !one.includes(name))].filter(
      (name) => !moving.includes(name),
    )
  const wrong = [
    ...differ(voters, named('active')),
    ...differ(learners, named('draining', 'drained')),
    ...(outgoing.length === 0 ? [] : differ(outgoing, named('active'))),
  ]
  if (wrong.length === 0) return []
  const rows = members.map(({ nodeId, phase }) => `${nodeId} ${phase}`).join(', ')
  const group = `voters ${voters.join(' ')}, learners ${learners.join(' ')}, outgoing ${outgoing.join(' ')}`
  return [
    `${[...new Set(wrong)].join(', ')} differ between rows (${rows}; change ${change ?? 'none'}) and ${group}`,
  ]
}
