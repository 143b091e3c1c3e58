/**
 * What `holdfast cluster status` prints without a leader: how many voters the queried node is in contact with, how many are missing, and
 * what to do.
 *
 * Owns: the sentence. Knows nothing of: requests. Pure.
 * Rule: a voter counts as running when the node had contact with it within CONTACT_WITHIN_MS. Only an operator knows which of the
 * silent voters come back.
 */
import { ApiError } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'

type Membership = AdminOperations['getClusterMembership']['answer']

/** A candidate contacts every voter at least this often, including voters that cannot be elected. */
export const CONTACT_WITHIN_MS = 15_000

const LEADERLESS: readonly string[] = ['no_leader', 'no_quorum', 'leader_not_ready']

export function isLeaderless(cause: unknown): cause is ApiError {
  return cause instanceof ApiError && LEADERLESS.includes(cause.code)
}

export function leaderlessAdvice({ members, quorum }: Pick<Membership, 'members' | 'quorum'>): string {
  const voters = members.filter(({ role }) => role === 'voter')
  const silent = voters.filter((member) => !isActive(member)).map(({ nodeId }) => nodeId)
  const active = voters.length - silent.length
  const counts = `${active} of ${voters.length} voters are in contact with this node, and ${quorum} are needed`
  if (active >= quorum)
    return `${counts}: an election is in progress, or the voters do not reach each other. Run this command again; then check the log and the network of each voter.`
  return (
    `${counts}: nothing can be read or changed. Bring back ${quorum - active} of ${silent.join(', ')}: ` +
    'start it with its data directory, or repair the network to it. If that many are permanently gone, follow deploy/runbooks/lost-quorum.md. Mark no member lost before that.'
  )
}

/** The queried node reports itself as reachable. */
function isActive({ reachable, lastContactMs }: Membership['members'][number]): boolean {
  return reachable === true || (lastContactMs !== null && lastContactMs <= CONTACT_WITHIN_MS)
}
