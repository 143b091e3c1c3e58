/**
 * Where copies are, of the cluster, a tenant or a bucket, and the disks of members with several.
 *
 * Rule: chunks are counted in answers that add up, to a bound; that there are more is said.
 */
import { signal } from '@preact/signals'
import type { AdminOperations, HoldfastAdmin, Placement } from '../../../client/src/admin.ts'
import { sumOf } from '../judge/placement-sum.ts'
import { resource } from './resource.ts'

export type MemberDisks = AdminOperations['listMemberDisks']['answer']

/** Each counts up to 20,000 chunks. */
const ANSWERS_MAX = 10

export interface Scope {
  /** Empty: the cluster. */
  readonly tenantId: string
  /** Empty: all of the tenant. */
  readonly bucket: string
}

/** Of what `placed` counts the copies. */
export const scope = signal<Scope>({ tenantId: '', bucket: '' })

export const placed = resource(async (api: HoldfastAdmin) => {
  const { tenantId, bucket } = scope.peek()
  const of = {
    ...(tenantId === '' ? {} : { tenantId }),
    ...(tenantId === '' || bucket === '' ? {} : { bucket }),
  }
  const pages: [Placement, ...Placement[]] = [await api.getClusterPlacement(of)]
  for (let n = 1; n < ANSWERS_MAX; n++) {
    const token = pages.at(-1)?.nextContinuationToken
    if (token === undefined) break
    pages.push(await api.getClusterPlacement({ ...of, continuationToken: token }))
  }
  return sumOf(pages)
})

/** Of members that have several; one with a single disk has none to empty. */
export const memberDisks = resource(async (api: HoldfastAdmin): Promise<readonly MemberDisks[]> => {
  const { nodes } = await api.getClusterPlacement({ limit: 1 })
  const several = nodes.filter(({ disks }) => disks?.some(({ diskId }) => diskId !== undefined) === true)
  return Promise.all(several.map(({ nodeId }) => api.listMemberDisks({ nodeId })))
})
