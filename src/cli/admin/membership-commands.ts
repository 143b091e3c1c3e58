/**
 * `holdfast cluster status` and the commands that change the members, over the admin API. [decisions 12]
 *
 * Owns: how members and plans are printed. Knows nothing of: the rules of membership. A refusal of the service names its blockers.
 */
import type { AdminClient, ApiError } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine, printTable } from '../base/printing.ts'
import { requireConfirmed } from './confirming.ts'
import { isLeaderless, leaderlessAdvice } from './leaderless.ts'
import { reportStarted, type StartOptions } from './operation-commands.ts'
import { isDryRun, rehearsal, reportChange } from './outcome.ts'

type Membership = AdminOperations['getClusterMembership']['answer']
type Changed = AdminOperations['joinVoter']['answer']
export type MemberChange = 'join' | 'demote' | 'lost' | 'remove' | 'replace'

export interface StatusOptions
  extends Pick<StartOptions, 'adminEndpoint' | 'caFile' | 'tokenFile' | 'clusterFile' | 'profile' | 'json'> {
  /** Show the view of the queried node; this works without a leader. */
  readonly local?: boolean
}

export interface MemberOptions extends StartOptions {
  /** Index of the configuration on which the operator decided. */
  readonly expect?: number
  readonly confirm?: string
  readonly peer?: string
  readonly zone?: string
  readonly weight?: number
  readonly fingerprint?: string
  /** Name of the node that takes the place. */
  readonly with?: string
}

export function showStatus(options: StatusOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const query = options.local === true ? { consistency: 'local' as const } : {}
    try {
      const { answer } = await client.call('getClusterMembership', { query })
      if (options.json) printJson(answer)
      else printMembership(answer)
      return EXIT.done
    } catch (cause) {
      // A program gets the refusal and can repeat the request with --local.
      if (!isLeaderless(cause) || options.json === true) throw cause
      return showLeaderless(client, cause)
    }
  })
}

async function showLeaderless(client: AdminClient, { code, message }: ApiError): Promise<number> {
  const { answer } = await client.call('getClusterMembership', { query: { consistency: 'local' } })
  note(`${message} (${code})`)
  printMembership(answer)
  note(leaderlessAdvice(answer))
  return EXIT.unreachable
}

export function transferLeadership(nodeId: string | undefined, options: StartOptions): Promise<number> {
  const body = { reason: options.reason, ...(nodeId === undefined ? {} : { nodeId }) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('transferLeadership', { query: rehearsal(options), body })
    return reportChange<{ readonly target: string | null }>(answer, options, ({ target }) =>
      note(target === null ? 'nothing to do' : `leadership is being transferred to ${target}`),
    )
  })
}

export function changeMember(kind: MemberChange, nodeId: string, options: MemberOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    if (kind === 'demote') await requireConfirmed(nodeId, options)
    const requested = await withFingerprint(client, { kind, nodeId, options })
    const answer = await requestChange(client, requested)
    if ('noop' in answer && !options.json) {
      note(`nothing to do: ${nodeId} is already in the requested state`)
      return EXIT.done
    }
    return reportStarted(client, options.json ? answer : printedPlan(answer, options), options)
  })
}

interface Requested {
  readonly kind: MemberChange
  readonly nodeId: string
  readonly options: MemberOptions
}

/**
 * For a join or replacement: shows the joining node by a dry run and pins the change to the fingerprint of its certificate, so that
 * no other node can take the name in between.
 */
async function withFingerprint(client: AdminClient, requested: Requested): Promise<Requested> {
  const { kind, options } = requested
  if (options.dryRun === true || (kind !== 'join' && kind !== 'replace')) return requested
  const dryRun = await requestChange(client, { ...requested, options: { ...options, dryRun: true } })
  const joining = joiningNodeIn(dryRun)
  if (joining === null) return requested
  if (options.json !== true) noteJoiningNode(joining, options)
  return joining.fingerprint === null
    ? requested
    : { ...requested, options: { fingerprint: joining.fingerprint, ...options } }
}

type JoiningNode = NonNullable<Extract<Changed, { dryRun: boolean }>['plan']['newcomer']>

function joiningNodeIn(answer: Changed): JoiningNode | null {
  return isDryRun(answer)
    ? ((answer.plan as Extract<Changed, { dryRun: boolean }>['plan']).newcomer ?? null)
    : null
}

function noteJoiningNode(joining: JoiningNode, options: MemberOptions): void {
  const { nodeId, peerAddress, incarnation, version, fingerprint } = joining
  note(`${nodeId} waits at ${peerAddress}: version ${version}, incarnation ${incarnation}`)
  const advice =
    options.fingerprint === undefined ? 'compare it with what the node itself printed' : 'as expected'
  note(
    fingerprint === null
      ? 'It has no certificate: the nodes communicate without TLS.'
      : `Its certificate: ${fingerprint} (${advice})`,
  )
}

async function requestChange(client: AdminClient, { kind, nodeId, options }: Requested): Promise<Changed> {
  const { reason, expect, confirm = '', peer = '', zone, weight, fingerprint } = options
  const why = { reason, ...(expect === undefined ? {} : { expectedConfigIndex: expect }) }
  const place = {
    peerAddress: peer,
    ...(zone === undefined ? {} : { zone }),
    ...(weight === undefined ? {} : { weight }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  }
  const [params, query] = [{ nodeId }, rehearsal(options)]
  switch (kind) {
    case 'join':
      return (await client.call('joinVoter', { query, body: { nodeId, ...place, ...why } })).answer
    case 'demote':
      return (await client.call('demoteVoter', { params, query, body: why })).answer
    case 'lost':
      return (await client.call('markVoterLost', { params, query, body: { ...why, confirm } })).answer
    case 'remove':
      return (await client.call('removeMember', { params, query, body: { ...why, confirm } })).answer
    case 'replace': {
      const replacement = { nodeId: options.with ?? '', ...place }
      const body = { ...why, confirm, replacement }
      return (await client.call('replaceVoter', { params, query, body })).answer
    }
  }
}

/** Prints the steps of a plan as lines, for people; returns the rest of the answer. */
function printedPlan(answer: Changed, options: MemberOptions): Changed {
  if (!isDryRun(answer)) return answer
  const joining = joiningNodeIn(answer)
  if (joining !== null) noteJoiningNode(joining, options)
  const { steps, newcomer: _, ...figures } = answer.plan as Extract<Changed, { dryRun: boolean }>['plan']
  printTable(
    steps.map(({ step, voters, majority, failureTolerance }) => [
      step,
      `${voters.length} voters`,
      `majority ${majority}`,
      `${failureTolerance} may fail`,
      voters.join(' '),
    ]),
  )
  return { ...answer, plan: figures } as Changed
}

function printMembership(membership: Membership): void {
  const { clusterId, leaderId, term, featureLevel, quorum, failureTolerance } = membership
  const { configIndex, changeInProgress } = membership
  const leader = leaderId === null ? 'no leader' : `leader ${leaderId}`
  printLine(`cluster ${clusterId}: ${leader}, term ${term}`)
  printLine(
    `quorum ${quorum}, ${failureTolerance} may fail; configuration of index ${configIndex}; feature level ${featureLevel}`,
  )
  if (!membership.authoritative) note('This is the view of one node and may be out of date.')
  for (const reason of membership.reasons) note(reason)
  if (changeInProgress !== null) note(`Operation ${changeInProgress} is changing the members.`)
  printTable(
    membership.members.map((member) => {
      const { nodeId, role, phase, isLeader, peerAddress, zone, version } = member
      const votes = isLeader ? 'leader' : ''
      return [nodeId, phase, role, votes, contactOf(member), peerAddress, zone, version ?? '']
    }),
  )
  for (const { conditions = [] } of membership.members)
    for (const { code, message } of conditions) note(`${message} (${code})`)
  for (const { nodeId, how, at } of membership.departed) printLine(`${nodeId}  ${how} at ${at}`)
}

/** Whether the member answers. In a local view, where no member is queried: the time of the last contact. */
function contactOf({ reachable, lastContactMs }: Membership['members'][number]): string {
  if (reachable !== null) return reachable ? 'answers' : 'silent'
  return lastContactMs === null ? 'no contact' : `contact ${Math.round(lastContactMs / 1000)} s ago`
}
