/**
 * planClusterPlacement: authorize -> members, tenant and bucket exist -> walk a bounded number of chunks as if members had other weights or zones.
 *
 * Rules: it changes nothing; like a listing it counts the chunks that it has read, and a token continues behind them for the same question.
 * Full disks are left out of it: a plan says where copies belong, and the warnings say where there is no space for them.
 */
import { createHash } from 'node:crypto'
import { BLOB_LIMITS, type NodeRepair } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { type Blocker, Refusal } from '../../base/refusal.ts'
import { settingsOf } from '../../state-machine/chunks/collection.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import type { MembersRecord } from '../../state-machine/members/records.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { type MoveSums, MoveTally, type PlacedMember } from './move-tally.ts'
import { type PlacementInput, walkChunks } from './subject.ts'

export interface PlaceChange {
  readonly nodeId: string
  /** Absent: as it is. */
  readonly zone?: string
  readonly weight?: number
}

export interface PlacementPlanInput extends PlacementInput {
  readonly members: readonly PlaceChange[]
}

export interface PlacementPlan {
  /** As they would be. */
  readonly members: readonly PlacedMember[]
  readonly sums: MoveSums
  /** By the rate of repair, all nodes at once; null: it has no limit. */
  readonly secondsAtRepairRate: number | null
  /** Why a rebalance would leave chunks with fewer copies than an acknowledgement needs. */
  readonly blockers: readonly Blocker[]
  readonly warnings: readonly string[]
  readonly nextContinuationToken: string | null
}

export const planClusterPlacement = adminOperation(
  {
    id: 'planClusterPlacement',
    requires: adminToken('owner', 'cluster'),
    refuses: ['not_found', 'invalid_continuation_token'],
    target: noTarget,
  },
  async (services, _principal, input: PlacementPlanInput): Promise<PlacementPlan> => {
    const rows = membersOf(services.state)
    const places = { before: placed(rows, []), after: placed(rows, input.members) }
    return planMoves(services, places, input)
  },
)

interface Places {
  readonly before: readonly PlacedMember[]
  readonly after: readonly PlacedMember[]
}

export async function planMoves(
  services: Services,
  { before, after: members }: Places,
  input: PlacementInput,
): Promise<PlacementPlan> {
  const shape = createHash('sha256').update(JSON.stringify(members)).digest('hex')
  const tally = new MoveTally(members, BLOB_LIMITS.copiesWanted)
  const asked = services.cluster.repairStatuses()
  const context = ['planClusterPlacement', shape]
  const nextContinuationToken = await walkChunks(services, input, context, (chunks) => tally.add(chunks))
  const sums = tally.sums()
  const rate = settingsOf(services.state).repairBytesPerSecond
  const most = Math.max(0, ...sums.nodes.map(({ bytesIn }) => bytesIn))
  return {
    members,
    sums,
    secondsAtRepairRate: rate === null ? null : Math.ceil(most / rate),
    blockers: blockersOf(members),
    warnings: [...zoneWarnings(before, members), ...spaceWarnings(sums, await asked)],
    nextContinuationToken,
  }
}

/** Members that take copies, or would. Throws Refusal for a name that is no active member. */
export function placed(rows: MembersRecord, changes: readonly PlaceChange[]): readonly PlacedMember[] {
  for (const { nodeId } of changes)
    if (memberIn(rows, nodeId)?.phase !== 'active')
      throw new Refusal('not_found', `Cannot plan the placement: "${nodeId}" is no active member`)
  return rows.members.map(({ nodeId, zone, weight, phase }) => {
    const change = changes.findLast((one) => one.nodeId === nodeId)
    const own = phase === 'active' ? (change?.weight ?? weight) : 0
    return { nodeId, zone: change?.zone ?? zone, weight: own }
  })
}

export function blockersOf(members: readonly PlacedMember[]): readonly Blocker[] {
  const takers = members.filter(({ weight }) => weight > 0).length
  if (takers >= Math.min(BLOB_LIMITS.copiesNeeded, members.length)) return []
  const message = `${takers} members would take copies, and an upload needs ${BLOB_LIMITS.copiesNeeded}; leave more of them a weight above 0`
  return [{ code: 'precondition_failed', message }]
}

export function zoneWarnings(
  before: readonly PlacedMember[],
  after: readonly PlacedMember[],
): readonly string[] {
  const [had, has] = [zonesOf(before), zonesOf(after)]
  if (has >= had || has >= BLOB_LIMITS.copiesWanted) return []
  return [
    has === 1
      ? 'All copies would be in one zone: when that fails, nothing can be read'
      : `Copies would be in ${has} zones instead of ${had}: some chunks get two copies in one zone`,
  ]
}

const zonesOf = (members: readonly PlacedMember[]): number =>
  new Set(members.filter(({ weight }) => weight > 0).map(({ zone }) => zone)).size

/** Bytes that leave a disk count only after they left: a node first gets, then gives. */
export function spaceWarnings(sums: MoveSums, disks: readonly NodeRepair[]): readonly string[] {
  return sums.nodes.flatMap(({ nodeId, bytesIn }) => {
    const disk = disks.find((node) => node.nodeId === nodeId)?.disk ?? null
    if (bytesIn === 0) return []
    if (disk === null) return [`"${nodeId}" does not say how much space it has for ${bytesIn} bytes`]
    if (bytesIn <= disk.freeBytes) return []
    return [`"${nodeId}" has ${disk.freeBytes} bytes free for ${bytesIn} that would move there`]
  })
}
