/**
 * Disks of a member: authorize -> the member exists -> that node answers for its disk, and carries the order out or refuses it.
 *
 * Rules: any node may be asked, and passes the order on; the mark that empties a disk is durable there before the answer. Nothing is proposed: what
 * is drained is known to the disk alone, so the request is in the audit log by itself.
 */
import type { DiskPart, DiskPlan, DiskRefusal } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { gate } from '../membership/member-statuses.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

export interface NamedDisk {
  readonly nodeId: string
  readonly diskId: string
}

export interface OrderedDisk extends DiskPlan {
  readonly nodeId: string
}

export interface MemberDisk extends DiskPart {
  /** What is still to leave a disk that is emptied; null: it is not, or its node did not count it in time. */
  readonly left: Pick<DiskPlan, 'copies' | 'bytes' | 'isComplete' | 'roomBytes'> | null
}

const REFUSES = ['not_found', 'precondition_failed'] as const

export const listMemberDisks = adminOperation(
  {
    id: 'listMemberDisks',
    requires: adminToken('owner', 'cluster'),
    refuses: REFUSES,
    target: noTarget,
  },
  async (
    services,
    _principal,
    { nodeId }: { readonly nodeId: string },
  ): Promise<{ readonly nodeId: string; readonly disks: readonly MemberDisk[] }> => {
    requireMember(services, nodeId, 'list the disks')
    const statuses = await services.cluster.repairStatuses()
    const disk = statuses.find((one) => one.nodeId === nodeId)?.disk ?? null
    if (disk === null)
      throw gate(
        'member_unreachable',
        `Cannot list the disks: "${nodeId}" does not answer; ask again when it does`,
      )
    const disks = await Promise.all((disk.disks ?? []).map((part) => withRest(services, nodeId, part)))
    return { nodeId, disks }
  },
)

export const drainDisk = adminOperation(
  { id: 'drainDisk', requires: adminToken('owner', 'cluster'), refuses: REFUSES, target: noTarget },
  (services, _principal, disk: NamedDisk): Promise<OrderedDisk> => order(services, disk, true),
)

/** Repeating it is safe. */
export const cancelDiskDrain = adminOperation(
  { id: 'cancelDiskDrain', requires: adminToken('owner', 'cluster'), refuses: REFUSES, target: noTarget },
  (services, _principal, disk: NamedDisk): Promise<OrderedDisk> => order(services, disk, false),
)

/** What would move off a disk now; null: its node does not say so. */
export async function planDrain(services: Services, { nodeId, diskId }: NamedDisk): Promise<DiskPlan | null> {
  const ordered = await services.cluster.orderDisk(nodeId, { diskId, isDraining: true, isRehearsal: true })
  return ordered.plan ?? null
}

async function withRest(services: Services, nodeId: string, part: DiskPart): Promise<MemberDisk> {
  const { diskId, status } = part
  const plan = status === 'draining' ? await planDrain(services, { nodeId, diskId }) : null
  return { ...part, left: plan }
}

async function order(
  services: Services,
  { nodeId, diskId }: NamedDisk,
  isDraining: boolean,
): Promise<OrderedDisk> {
  const what = isDraining ? 'drain a disk' : 'use a disk again'
  requireMember(services, nodeId, what)
  const ordered = await services.cluster.orderDisk(nodeId, { diskId, isDraining, isRehearsal: false })
  if (ordered.kind === 'done') return { nodeId, ...ordered.plan }
  throw refusalOf(ordered, { nodeId, diskId, what })
}

function requireMember({ state }: Services, nodeId: string, what: string): void {
  if (memberIn(membersOf(state), nodeId) === undefined)
    throw new Refusal('not_found', `Cannot ${what}: no member is called "${nodeId.slice(0, 64)}"`)
}

function refusalOf(
  { why, plan }: { readonly why: DiskRefusal; readonly plan?: DiskPlan },
  { nodeId, diskId, what }: NamedDisk & { readonly what: string },
): Refusal {
  const cannot = `Cannot ${what}`
  switch (why) {
    case 'no_disk':
      return new Refusal(
        'not_found',
        `${cannot}: "${nodeId}" has no disk "${diskId.slice(0, 64)}"; GET /cluster/members/${nodeId}/disks lists those it has`,
      )
    case 'one_disk':
      return new Refusal(
        'precondition_failed',
        `${cannot}: "${nodeId}" has one disk; to take its copies away demote the member`,
      )
    case 'out':
      return new Refusal(
        'precondition_failed',
        `${cannot}: it is out of use, and its copies are made again on other disks already; mount or replace it`,
      )
    case 'not_listed':
      return new Refusal(
        'precondition_failed',
        `${cannot}: node.blob_directories of "${nodeId}" does not name it, so it is emptied until the settings do`,
      )
    case 'no_room':
      return new Refusal(
        'precondition_failed',
        `${cannot}: ${plan?.bytes ?? 0} bytes would move, and the other disks of "${nodeId}" take ${plan?.roomBytes ?? 0} more; add a disk or free space`,
      )
    case 'no_answer':
      return gate(
        'member_unreachable',
        `${cannot}: "${nodeId}" does not answer, or has a version before this; nothing is known to have changed there, ask again`,
      )
  }
}
