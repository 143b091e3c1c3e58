/**
 * `holdfast recover verify`: whether a cluster that was brought back is whole again, as far as it can be. [decisions 12: lost quorum]
 *
 * Owns: what is looked at and which of it fails. Knows nothing of: how copies are made. Rule: what needs time alone is told as waiting,
 * and only what time does not mend is told as broken; both end with 1, so that a script waits or calls somebody.
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
  readonly state: 'well' | 'waiting' | 'broken'
  readonly found: string
}

export function verifyRecovery(options: VerifyOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const checks = checksOf(await seenBy(client))
    const isWell = checks.every(({ state }) => state === 'well')
    if (options.json) printJson({ ok: isWell, checks })
    else printTable(checks.map(({ check, state, found }) => [state, check, found]))
    return isWell ? EXIT.done : EXIT.failed
  })
}

type Member = Membership['members'][number]
type Recovery = Membership['recoveries'][number]

export interface Seen {
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

async function seenBy(client: AdminClient): Promise<Seen> {
  const { answer: membership } = await client.call('getClusterMembership')
  const { answer: repair } = await client.call('getRepair')
  const { answer: listed } = await client.call('listOperations')
  return { membership, repair, operations: listed.operations }
}

export function checksOf(seen: Seen): readonly Check[] {
  const { membership } = seen
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
      ? check('recovery', 'broken', 'this cluster was never brought back')
      : check('recovery', 'well', `plan ${last.planId}, epoch ${last.epoch}, at index ${last.index}`),
    leaderId === null
      ? check('leader', 'waiting', 'nobody leads')
      : check('leader', 'well', `${leaderId} leads`),
    told('members', 'waiting', silent, 'do not answer'),
    isOneEpoch
      ? check('epochs', 'well', 'all stand at one recovery epoch')
      : check('epochs', 'broken', `the members stand at the epochs ${[...epochs].join(', ')}`),
    unequal.length > 0
      ? told('states', 'broken', unequal, 'have another state than the leader')
      : told('states', 'waiting', unknown, 'have no checksum in common with the leader yet'),
    copiesCheck(seen, last?.dead ?? []),
    last === undefined || last.loss.versions === 0
      ? check('unreadable', 'well', 'no object version is lost')
      : check(
          'unreadable',
          'well',
          `${last.loss.versions} object versions were lost, as the plan named them`,
        ),
  ]
}

function copiesCheck({ repair, operations }: Seen, dead: readonly string[]): Check {
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
      `${pending} copies are owed; those of ${running.length} dead members are still looked at`,
    )
  if (failed.length === 0) return check('copies', 'well', 'every chunk that can be read has its copies')
  const why = failed.map(({ nodeId, error }) => `${nodeId}: ${error}`)
  return check('copies', 'well', `every chunk that can be read has its copies; ${why.join('; ')}`)
}

function told(name: Check['check'], state: Check['state'], nodes: readonly string[], what: string): Check {
  return nodes.length === 0
    ? check(name, 'well', 'all of them')
    : check(name, state, `${nodes.join(', ')} ${what}`)
}

function check(name: Check['check'], state: Check['state'], found: string): Check {
  return { check: name, state, found }
}
