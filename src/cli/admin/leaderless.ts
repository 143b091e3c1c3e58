/**
 * What `holdfast cluster status` says when nobody leads: whom the asked node hears, how many are missing, and what to do.
 *
 * Owns: the sentence. Knows nothing of: how it is asked. Pure.
 * Rule: whoever was heard lately counts as running; only a person knows which of the silent ones come back.
 */
import { ApiError } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'

type Membership = AdminOperations['getClusterMembership']['answer']

/** Whoever asks for votes is heard at least so often, also by those who cannot be elected. */
export const HEARD_WITHIN_MS = 15_000

const LEADERLESS: readonly string[] = ['no_leader', 'no_quorum', 'leader_not_ready']

export function isLeaderless(cause: unknown): cause is ApiError {
  return cause instanceof ApiError && LEADERLESS.includes(cause.code)
}

export function leaderlessAdvice({ members, quorum }: Pick<Membership, 'members' | 'quorum'>): string {
  const voters = members.filter(({ role }) => role === 'voter')
  const silent = voters.filter((member) => !isHeard(member)).map(({ nodeId }) => nodeId)
  const heard = voters.length - silent.length
  if (heard >= quorum)
    return `${heard} of ${voters.length} voters are heard, and ${quorum} decide: an election is under way, or they do not reach each other. Ask again; then look at the log and the network of each.`
  return (
    `${heard} of ${voters.length} voters are heard, and ${quorum} decide: nothing can be read or changed. Bring back ${quorum - heard} of ${silent.join(', ')}: ` +
    'start it with its data directory, or mend the way to it. If so many are gone for good: deploy/runbooks/lost-quorum.md. Mark nobody lost before.'
  )
}

/** The asked node itself answers. */
function isHeard({ reachable, lastContactMs }: Membership['members'][number]): boolean {
  return reachable === true || (lastContactMs !== null && lastContactMs <= HEARD_WITHIN_MS)
}
