/**
 * `holdfast recover verify`: whether a recovered cluster is whole again, as far as possible. [decisions 12: lost quorum]
 *
 * Owns: the checks and which of them fail. Knows nothing of: how copies are made. Rule: a check that only needs time is `waiting`; a check
 * that time does not fix is `broken`. Both end with 1, so that a script waits or calls an operator.
 */
import type { AdminClient } from '../../client/clients.ts'
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printJson, printTable } from '../base/printing.ts'

type Membership = AdminOperations['getClusterMembership']['answer']
type Repair = AdminOperations['getRepair']['answer']
type Operation = AdminOperations['listOperations']['answer']['operations'][number]

export interface VerifyOptions extends AdminAccessOptions {
  readonly json?: boolean
}

export interface Check {
  readonly check: 'recovery' | 'leader' | 'members' | 'epochs' | 'states' | 'copies' | 'unreadable'
  readonly state: 'ok' | 'waiting' | 'broken'
  readonly found: string
}

export function verifyRecovery(options: VerifyOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const checks = checksOf(await observationOf(client))
    const isWell = checks.every(({ state }) => state === 'ok')
    if (options.json) printJson({ ok: isWell, checks })
    else printTable(checks.map(({ check, state, found }) => [state, check, found]))
    return isWell ? EXIT.done : EXIT.failed
  })
}

type Member = Membership['members'][number]
type Recovery = Membership['recoveries'][number]

export interface Observation {
  readonly membership: Pick<Membership, 'leaderId'> & {
    readonly recoveries: readonly Pick<Recovery, 'planId' | 'epoch' | 'index' | 'dead' | 'loss'>[]
    readonly members: readonly Pick<
      Member,
      'nodeId' | 'phase' | 'reachable' | 'recoveryEpoch' | 'stateEqual'
    >[]
  }
  readonly repair: { readonly nodes: readonly Pick<Repair['nodes'][number], 'pending'>[] }
  readonly operations: readonly Pick<Operation, 'type' | 'nodeId' | 'status' | 'error'>[]
}

async function observationOf(client: AdminClient): Promise<Observation> {
  const { answer: membership } = await client.call('getClusterMembership')
  const { answer: repair } = await client.call('getRepair')
  const { answer: listed } = await client.call('listOperations')
  return { membership, repair, operations: listed.operations }
}

export function checksOf(observed: Observation): readonly Check[] {
  const { membership } = observed
  const { recoveries, leaderId } = membership
  const last = recoveries.at(-1)
  const members = membership.members.filter(({ phase }) => phase !== 'lost')
  const silent = members.filter(({ reachable }) => reachable !== true).map(({ nodeId }) => nodeId)
  const epochs = new Set(members.map(({ recoveryEpoch }) => recoveryEpoch).filter((epoch) => epoch !== null))
  const unequal = members.filter(({ stateEqual }) => stateEqual === false).map(({ nodeId }) => nodeId)
  const unknown = members.filter(({ stateEqual }) => stateEqual === null).map(({ nodeId }) => nodeId)
  const isOneEpoch = epochs.size === 1 && (last === undefined || epochs.has(last.epoch))
  return [
    last === undefined
      ? check('recovery', 'broken', 'this cluster was never recovered')
      : check('recovery', 'ok', `plan ${last.planId}, epoch ${last.epoch}, at index ${last.index}`),
    leaderId === null
      ? check('leader', 'waiting', 'there is no leader')
      : check('leader', 'ok', `${leaderId} leads`),
    membersCheck('members', 'waiting', silent, 'do not answer'),
    isOneEpoch
      ? check('epochs', 'ok', 'all members are at the same recovery epoch')
      : check('epochs', 'broken', `the members are at the epochs ${[...epochs].join(', ')}`),
    unequal.length > 0
      ? membersCheck('states', 'broken', unequal, 'have a state that differs from that of the leader')
      : membersCheck('states', 'waiting', unknown, 'have no checksum in common with the leader yet'),
    copiesCheck(observed, last?.dead ?? []),
    last === undefined || last.loss.versions === 0
      ? check('unreadable', 'ok', 'no object version is lost')
      : check('unreadable', 'ok', `${last.loss.versions} object versions are lost; the plan names them`),
  ]
}

function copiesCheck({ repair, operations }: Observation, dead: readonly string[]): Check {
  const pending = repair.nodes.reduce((sum, node) => sum + (node.pending ?? 0), 0)
  const about = operations.filter(({ type, nodeId }) => type === 'lost' && dead.includes(nodeId ?? ''))
  const running = about.filter(
    ({ status }) => status === 'running' || status === 'queued' || status === 'paused',
  )
  const failed = about.filter(({ status, error }) => status === 'failed' && error !== null)
  if (running.length > 0 || pending > 0)
    return check(
      'copies',
      'waiting',
      `${pending} copies are still to be made; ${running.length} dead members are still being processed`,
    )
  if (failed.length === 0) return check('copies', 'ok', 'every chunk that can be read has its copies')
  const why = failed.map(({ nodeId, error }) => `${nodeId}: ${error}`)
  return check('copies', 'ok', `every chunk that can be read has its copies; ${why.join('; ')}`)
}

function membersCheck(
  name: Check['check'],
  state: Check['state'],
  nodes: readonly string[],
  what: string,
): Check {
  return nodes.length === 0
    ? check(name, 'ok', 'all members')
    : check(name, state, `${nodes.join(', ')} ${what}`)
}

function check(name: Check['check'], state: Check['state'], found: string): Check {
  return { check: name, state, found }
}
