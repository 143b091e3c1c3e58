/** Commands of membership, short enough for tests. */
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import type { MembershipCommand } from '../../src/state-machine/members/commands.ts'
import type { FirstMember, MembersRecord, NewMember } from '../../src/state-machine/members/records.ts'
import type { MembershipKind, MembershipStep } from '../../src/state-machine/long-operations/records.ts'
import { MapWorld } from './map-world.ts'

type Start = Extract<MembershipCommand, { type: 'startMembership' }>

export const firstMember = (nodeId: string): FirstMember => {
  const addresses = { peerAddress: `${nodeId}:9002`, dataAddress: null, adminAddress: null }
  return { nodeId, ...addresses, zone: 'z', weight: 1 }
}

export const newMember = (nodeId: string, changes: Partial<NewMember> = {}): NewMember => {
  return { ...firstMember(nodeId), incarnation: `life-of-${nodeId}`, version: '1.0.0', ...changes }
}

export function foundedWorld(
  names: readonly string[] = ['n1', 'n2', 'n3'],
  world = new MapWorld(),
): MapWorld {
  world.do({ type: 'foundMembers', members: names.map(firstMember) })
  return world
}

export const start = (
  kind: MembershipKind,
  nodeId: string,
  {
    id = `op-${kind}-${nodeId}`,
    newcomer = kind === 'join' ? nodeId : null,
    expected = null as number | null,
    more = {} as Pick<Start, 'toMove' | 'dueInMs'>,
  } = {},
) =>
  ({
    type: 'startMembership',
    operationId: id,
    kind,
    requestedBy: 'adm_1',
    reason: 'tests',
    nodeId,
    newcomer: newcomer === null ? null : newMember(newcomer),
    expectedConfigIndex: expected,
    seen: '',
    ...more,
  }) as const

export const step = (operationId: string, from: MembershipStep, to: MembershipStep) =>
  ({ type: 'stepMembership', operationId, from, to, phase: to }) as const

/** Takes all of these steps. */
export function walk(world: MapWorld, operationId: string, steps: readonly MembershipStep[]): void {
  for (const [n, to] of steps.entries()) {
    const from = steps[n - 1]
    if (from !== undefined) world.do(step(operationId, from, to))
  }
}

export function members(world: MapWorld): MembersRecord {
  const row = world.get(memberKeys.members())
  if (row === undefined) throw new Error('the cluster was not founded')
  return row
}

export const phases = (world: MapWorld): Record<string, string> =>
  Object.fromEntries(members(world).members.map(({ nodeId, phase }) => [nodeId, phase]))
