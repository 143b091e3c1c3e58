/**
 * `holdfast cluster ...`: who belongs to the cluster and how it is changed, over the admin API.
 *
 * Owns: how members, plans and progress are told on a terminal. Knows nothing of: HTTP, rules.
 * Rule: what the service refuses for safety ends with exit code 3 and names the gates that are closed.
 */
import { setTimeout as rest } from 'node:timers/promises'
import type { AdminClient } from '../client/clients.ts'
import type { AdminOperations } from '../client/generated/admin-operations.ts'
import { asAdmin } from './admin-session.ts'
import { EXIT } from './exit.ts'

type Membership = AdminOperations['getClusterMembership']['answer']
type Operation = AdminOperations['getOperation']['answer']

export interface AskOptions {
  readonly adminEndpoint: string
  readonly tokenFile?: string
  readonly json?: boolean
}

export interface ChangeOptions extends AskOptions {
  readonly reason: string
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly expect?: number
  readonly confirm?: string
  readonly peer?: string
  readonly zone?: string
  readonly weight?: number
  readonly with?: string
}

const LOOK_EVERY_MS = 1_000

export function showStatus(options: AskOptions & { readonly local?: boolean }): Promise<number> {
  return asAdmin(options, async (client) => {
    const query = options.local === true ? { consistency: 'local' as const } : {}
    const { answer } = await client.call('getClusterMembership', { query })
    if (options.json === true) print(JSON.stringify(answer))
    else for (const line of statusLines(answer)) print(line)
    return EXIT.done
  })
}

export function showOperations(options: AskOptions): Promise<number> {
  return asAdmin(options, async (client) => {
    const { answer } = await client.call('listOperations', { query: { limit: 1000 } })
    if (options.json === true) print(JSON.stringify(answer))
    else for (const operation of answer.operations) print(operationLine(operation))
    return EXIT.done
  })
}

export function transfer(nodeId: string | undefined, options: ChangeOptions): Promise<number> {
  return asAdmin(options, async (client) => {
    const body = { reason: options.reason, ...(nodeId === undefined ? {} : { nodeId }) }
    const { answer } = await client.call('transferLeadership', { query: dryRunOf(options), body })
    print(JSON.stringify(answer))
    return EXIT.done
  })
}

export function changeMember(
  kind: 'join' | 'demote' | 'lost' | 'remove' | 'replace',
  nodeId: string,
  options: ChangeOptions,
): Promise<number> {
  return asAdmin(options, async (client) => {
    const answer = await ask(client, { kind, nodeId, options })
    if (options.json === true) print(JSON.stringify(answer))
    if ('dryRun' in answer) return planned(answer as Planned, options)
    if ('noop' in answer) {
      if (options.json !== true) print(`nothing to do: ${nodeId} is as it was asked for`)
      return EXIT.done
    }
    const operation = answer as Operation
    if (options.json !== true) print(operationLine(operation))
    return options.wait === true ? follow(client, operation, options) : EXIT.done
  })
}

interface Wish {
  readonly kind: 'join' | 'demote' | 'lost' | 'remove' | 'replace'
  readonly nodeId: string
  readonly options: ChangeOptions
}

async function ask(client: AdminClient, { kind, nodeId, options }: Wish): Promise<object> {
  const { reason, expect, confirm = '', peer = '', zone, weight } = options
  const why = { reason, ...(expect === undefined ? {} : { expectedConfigIndex: expect }) }
  const place = {
    peerAddress: peer,
    ...(zone === undefined ? {} : { zone }),
    ...(weight === undefined ? {} : { weight }),
  }
  const [params, query] = [{ nodeId }, dryRunOf(options)]
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
      return (await client.call('replaceVoter', { params, query, body: { ...why, confirm, replacement } }))
        .answer
    }
  }
}

const dryRunOf = ({ dryRun }: ChangeOptions): { dryRun?: boolean } => (dryRun === true ? { dryRun } : {})

interface Planned {
  readonly allowed?: boolean
  readonly plan?: {
    readonly steps: readonly {
      readonly step: string
      readonly voters: readonly string[]
      readonly majority: number
      readonly failureTolerance: number
    }[]
    readonly copiesToMove: number
    readonly bytesToMove: number
  }
  readonly blockers?: readonly { readonly code: string; readonly message: string }[]
  readonly warnings?: readonly string[]
}

function planned({ allowed, plan, blockers = [], warnings = [] }: Planned, { json }: ChangeOptions): number {
  if (json !== true) {
    for (const { step, voters, majority, failureTolerance } of plan?.steps ?? [])
      print(
        `${step.padEnd(10)} ${voters.length} voters, ${majority} decide, ${failureTolerance} may fail: ${voters.join(' ')}`,
      )
    print(`copies to move: ${plan?.copiesToMove ?? 0} (${plan?.bytesToMove ?? 0} bytes)`)
    for (const warning of warnings) print(`warning: ${warning}`)
    for (const { code, message } of blockers) print(`refused: ${code}: ${message}`)
  }
  return allowed === true ? EXIT.done : EXIT.refused
}

/** One line while it goes on, on standard error, so that standard output stays for programs. */
async function follow(client: AdminClient, begun: Operation, { json }: ChangeOptions): Promise<number> {
  let operation = begun
  let shown = ''
  while (!['succeeded', 'failed', 'cancelled'].includes(operation.status)) {
    await rest(LOOK_EVERY_MS)
    operation = (await client.call('getOperation', { params: { id: operation.operationId } })).answer
    const line = operationLine(operation)
    if (line !== shown && json !== true) process.stderr.write(`${line}\n`)
    shown = line
  }
  if (json === true) print(JSON.stringify(operation))
  return operation.status === 'succeeded' ? EXIT.done : EXIT.failed
}

function operationLine({ operationId, type, nodeId, status, phase, progress, error }: Operation): string {
  const { blobsDone, tasksOpen, bytesMoved } = progress
  const copies =
    blobsDone + tasksOpen === 0 ? '' : `${blobsDone} copies made, ${tasksOpen} open, ${bytesMoved} bytes`
  return [operationId, type, nodeId ?? '-', status, phase, copies, error ?? '']
    .filter((one) => one !== '')
    .join('  ')
}

function* statusLines(membership: Membership): Generator<string> {
  const { clusterId, leaderId, term, quorum, failureTolerance, configIndex, changeInProgress } = membership
  yield `cluster ${clusterId}: ${leaderId ?? 'nobody'} leads in term ${term}; ${quorum} votes decide, ${failureTolerance} may fail; config index ${configIndex}`
  if (!membership.authoritative) yield 'as this node has it, which may be old'
  if (changeInProgress !== null) yield `operation ${changeInProgress} changes the members`
  for (const { nodeId, role, phase, isLeader, reachable, peerAddress, zone, version } of membership.members) {
    const seen = reachable === null ? '' : reachable ? 'answers' : 'silent'
    yield [nodeId, phase, role, isLeader ? 'leader' : '', seen, peerAddress, zone, version ?? '']
      .filter((one) => one !== '')
      .join('  ')
  }
  for (const { nodeId, how, at } of membership.departed) yield `${nodeId}  ${how} at ${at}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
