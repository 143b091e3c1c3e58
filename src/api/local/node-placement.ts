/**
 * Where a running node puts copies: its weight and zone, and its disks; for the command line of its own machine.
 *
 * Rule: nothing here needs a quorum.
 */
import type { DiskPart } from '../../../cluster/index.ts'
import type { Services } from '../../operations/base/services.ts'
import { memberIn, membersOf } from '../../state-machine/members/members.ts'
import { fileOf } from '../../state-machine/members/placing.ts'
import type { FilePlace } from '../../state-machine/members/records.ts'

export interface NodePlacement {
  /** Null: the node is no member yet. `file`: what its file says, as far as it has reported it. */
  readonly place: (FilePlace & { readonly file: FilePlace }) | null
  /** Null: they did not answer in time. Empty: the node has one disk. */
  readonly disks: readonly DiskPart[] | null
}

export async function nodePlacement({ cluster, state }: Services): Promise<NodePlacement> {
  const statuses = await cluster.repairStatuses()
  const disk = statuses.find(({ nodeId }) => nodeId === cluster.nodeId)?.disk ?? null
  return { place: nodePlace({ cluster, state }), disks: disk && (disk.disks ?? []) }
}

export function nodePlace({ cluster, state }: Pick<Services, 'cluster' | 'state'>): NodePlacement['place'] {
  const member = memberIn(membersOf(state), cluster.nodeId)
  return member === undefined ? null : { zone: member.zone, weight: member.weight, file: fileOf(member) }
}
