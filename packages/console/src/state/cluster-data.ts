/**
 * What several screens show of the cluster, loaded once for all of them.
 */
import { backupPlans } from './backup-data.ts'
import { resource } from './resource.ts'
import { ApiError, type HoldfastAdmin, type Membership, type Operation } from '../../../client/src/admin.ts'

/** Of the history. */
const OPERATIONS_MAX = 1000

/** Without a majority the asked node says what it knows. */
async function membershipOf(api: HoldfastAdmin): Promise<Membership> {
  try {
    return await api.getClusterMembership()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 503) throw error
    return api.getClusterMembership({ consistency: 'local' })
  }
}

async function operationsOf(api: HoldfastAdmin): Promise<readonly Operation[]> {
  const found: Operation[] = []
  for await (const operation of api.operations({ limit: 200 })) {
    found.push(operation)
    if (found.length === OPERATIONS_MAX) break
  }
  return found.reverse()
}

export const membership = resource(membershipOf)
export const repair = resource((api) => api.getRepair())
export const placement = resource((api) => api.getClusterPlacement({ limit: 1000 }))
export const doctor = resource((api) => api.getClusterDoctor())
export const masterKeys = resource((api) => api.getClusterEncryption())
/** The newest first. */
export const operations = resource(operationsOf)

const ALL = { membership, repair, placement, operations, doctor, backups: backupPlans }
export type Topic = keyof typeof ALL

export async function load(...topics: readonly Topic[]): Promise<void> {
  await Promise.all(topics.map((topic) => ALL[topic].load()))
}
