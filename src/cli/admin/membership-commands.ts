/**
 * `holdfast cluster status`, and what changes the members: who belongs to the cluster, over the admin API. [decisions 12]
 *
 * Owns: how members and plans are told. Knows nothing of: rules; what the service refuses for safety names the gates that are closed.
 */
import type { AdminClient, ApiError } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine, printTable } from '../base/printing.ts'
import { requireConfirmed } from './confirming.ts'
import { isLeaderless, leaderlessAdvice } from './leaderless.ts'
import { begun, type StartOptions } from './operation-commands.ts'
import { isDryRun, rehearsal, reportChange } from './outcome.ts'

type Membership = AdminOperations['getClusterMembership']['answer']
type Changed = AdminOperations['joinVoter']['answer']
export type MemberChange = 'join' | 'demote' | 'lost' | 'remove' | 'replace'

export interface StatusOptions
  extends Pick<StartOptions, 'adminEndpoint' | 'caFile' | 'tokenFile' | 'clusterFile' | 'json'> {
  /** As the asked node has it, also when nobody leads. */
  readonly local?: boolean
}

export interface MemberOptions extends StartOptions {
  /** Index of the configuration that was looked at. */
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
      else tell(answer)
      return EXIT.done
    } catch (cause) {
      // A program gets the refusal, and asks with --local for what there is.
      if (!isLeaderless(cause) || options.json === true) throw cause
      return showLeaderless(client, cause)
    }
  })
}

async function showLeaderless(client: AdminClient, { code, message }: ApiError): Promise<number> {
  const { answer } = await client.call('getClusterMembership', { query: { consistency: 'local' } })
  note(`${message} (${code})`)
  tell(answer)
  note(leaderlessAdvice(answer))
  return EXIT.unreachable
}

export function transferLeadership(nodeId: string | undefined, options: StartOptions): Promise<number> {
  const body = { reason: options.reason, ...(nodeId === undefined ? {} : { nodeId }) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('transferLeadership', { query: rehearsal(options), body })
    return reportChange<{ readonly target: string | null }>(answer, options, ({ target }) =>
      note(target === null ? 'nothing to do' : `${target} is asked to lead`),
    )
  })
}

export function changeMember(kind: MemberChange, nodeId: string, options: MemberOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    if (kind === 'demote') await requireConfirmed(nodeId, options)
    const requested = await introduced(client, { kind, nodeId, options })
    const answer = await asked(client, requested)
    if ('noop' in answer && !options.json) {
      note(`nothing to do: ${nodeId} is as it was asked for`)
      return EXIT.done
    }
    return begun(client, options.json ? answer : readable(answer, options), options)
  })
}

interface Requested {
  readonly kind: MemberChange
  readonly nodeId: string
  readonly options: MemberOptions
}

/** Who waits is asked and told first; what is then asked for is this very one, by its certificate. */
async function introduced(client: AdminClient, requested: Requested): Promise<Requested> {
  const { kind, options } = requested
  if (options.dryRun === true || (kind !== 'join' && kind !== 'replace')) return requested
  const rehearsed = await asked(client, { ...requested, options: { ...options, dryRun: true } })
  const newcomer = newcomerIn(rehearsed)
  if (newcomer === null) return requested
  if (options.json !== true) tellNewcomer(newcomer, options)
  return newcomer.fingerprint === null
    ? requested
    : { ...requested, options: { fingerprint: newcomer.fingerprint, ...options } }
}

type Newcomer = NonNullable<Extract<Changed, { dryRun: boolean }>['plan']['newcomer']>

function newcomerIn(answer: Changed): Newcomer | null {
  return isDryRun(answer)
    ? ((answer.plan as Extract<Changed, { dryRun: boolean }>['plan']).newcomer ?? null)
    : null
}

function tellNewcomer(newcomer: Newcomer, options: MemberOptions): void {
  const { nodeId, peerAddress, incarnation, version, fingerprint } = newcomer
  note(`${nodeId} waits at ${peerAddress}: version ${version}, incarnation ${incarnation}`)
  const word =
    options.fingerprint === undefined ? 'compare it with what the node says of itself' : 'as expected'
  note(
    fingerprint === null
      ? 'It shows no certificate: nodes speak without TLS.'
      : `Its certificate: ${fingerprint} (${word})`,
  )
}

async function asked(client: AdminClient, { kind, nodeId, options }: Requested): Promise<Changed> {
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

/** The steps of a plan as lines, for people. */
function readable(answer: Changed, options: MemberOptions): Changed {
  if (!isDryRun(answer)) return answer
  const newcomer = newcomerIn(answer)
  if (newcomer !== null) tellNewcomer(newcomer, options)
  const { steps, newcomer: _, ...figures } = answer.plan as Extract<Changed, { dryRun: boolean }>['plan']
  printTable(
    steps.map(({ step, voters, majority, failureTolerance }) => [
      step,
      `${voters.length} voters`,
      `${majority} decide`,
      `${failureTolerance} may fail`,
      voters.join(' '),
    ]),
  )
  return { ...answer, plan: figures } as Changed
}

function tell(membership: Membership): void {
  const { clusterId, leaderId, term, featureLevel, quorum, failureTolerance } = membership
  const { configIndex, changeInProgress } = membership
  printLine(`cluster ${clusterId}: ${leaderId ?? 'nobody'} leads in term ${term}`)
  printLine(
    `${quorum} votes decide, ${failureTolerance} may fail; the members are as of index ${configIndex}; feature level ${featureLevel}`,
  )
  if (!membership.authoritative) note('As this node has it, which may be old.')
  for (const reason of membership.reasons) note(reason)
  if (changeInProgress !== null) note(`Operation ${changeInProgress} changes the members.`)
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

/** Whether it answers; of a view without questions, when it was heard last. */
function contactOf({ reachable, lastContactMs }: Membership['members'][number]): string {
  if (reachable !== null) return reachable ? 'answers' : 'silent'
  return lastContactMs === null ? 'not heard' : `heard ${Math.round(lastContactMs / 1000)} s ago`
}
