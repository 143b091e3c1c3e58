/**
 * The weight and zone of a member over what the file of its node says: authorize -> the request names one of them -> commit. Setting
 * replaces the whole: what is not named is as in the file. Clearing repeats safely.
 *
 * Rule: nothing moves by itself; a rebalance moves the copies, and the plan of a dry run is that of the rebalance.
 */
import { BLOB_LIMITS } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { fileOf, type SetPlace } from '../../state-machine/members/placing.ts'
import type { MemberRecord, MembersRecord } from '../../state-machine/members/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import type { PlacedMember } from './move-tally.ts'
import { placed, planMoves, type PlacementPlan } from './plan-cluster-placement.ts'

export interface PlacementRequest {
  readonly nodeId: string
  readonly zone?: string
  readonly weight?: number
}

export interface MemberPlacement {
  readonly member: MemberRecord
  readonly configIndex: number
}

export interface MemberPlacementPlan extends PlacementPlan {
  /** Members as they are placed now. */
  readonly before: readonly PlacedMember[]
}

const REFUSES = ['not_found', 'precondition_failed'] as const

export const setMemberPlacement = adminOperation(
  {
    id: 'setMemberPlacement',
    requires: adminToken('owner', 'cluster'),
    refuses: REFUSES,
    target: noTarget,
  },
  async (services, _principal, { nodeId, zone, weight }: PlacementRequest): Promise<MemberPlacement> => {
    if (zone === undefined && weight === undefined)
      throw new Refusal(
        'invalid_request',
        'Cannot place a member: name "weight" or "zone", or return to its file with DELETE',
      )
    return commit(services, nodeId, { zone: zone ?? null, weight: weight ?? null })
  },
)

/** Repeating it is safe. */
export const deleteMemberPlacement = adminOperation(
  {
    id: 'deleteMemberPlacement',
    requires: adminToken('owner', 'cluster'),
    refuses: REFUSES,
    target: noTarget,
  },
  async (services, _principal, { nodeId }: { readonly nodeId: string }): Promise<null> => {
    await commit(services, nodeId, { zone: null, weight: null })
    return null
  },
)

async function commit(services: Services, nodeId: string, set: SetPlace): Promise<MemberPlacement> {
  const { copiesNeeded } = BLOB_LIMITS
  const members = settle(await services.propose({ type: 'placeMember', nodeId, ...set, copiesNeeded }))
  return placementIn(members, nodeId)
}

function placementIn(members: MembersRecord, nodeId: string): MemberPlacement {
  const member = memberIn(members, nodeId)
  if (member === undefined) throw new Error(`The placement of "${nodeId}" was committed without a member`)
  return { member, configIndex: members.configIndex }
}

/** What a rebalance would move then, of the chunks that one page counts. `zone` and `weight` absent: as in the file. */
export function planMemberPlacement(
  services: Services,
  { nodeId, zone, weight }: PlacementRequest,
): Promise<MemberPlacementPlan> {
  const rows = membersOf(services.state)
  const member = memberIn(rows, nodeId)
  const before = placed(rows, [])
  if (member?.phase !== 'active') return withBefore(services, before, before)
  const file = fileOf(member)
  const change = { nodeId, zone: zone ?? file.zone, weight: weight ?? file.weight }
  return withBefore(services, before, placed(rows, [change]))
}

async function withBefore(
  services: Services,
  before: readonly PlacedMember[],
  after: readonly PlacedMember[],
): Promise<MemberPlacementPlan> {
  return { ...(await planMoves(services, { before, after }, {})), before }
}
