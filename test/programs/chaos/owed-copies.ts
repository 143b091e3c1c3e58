/**
 * Whether a cluster owes no copy any more, as its nodes report. Polled until it is so, or until a time limit.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type AdminClient, adminClient } from '../../../src/client/clients.ts'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'

const POLL_MS = 100
/** They move no copy of a chunk that stays. */
const BACKGROUND: ReadonlySet<string> = new Set(['backup', 'keyExchange'])

/** A client of the present members. */
export function adminOf(cluster: ProcessCluster): AdminClient {
  const endpoints = cluster.plan.map(({ adminUrl }) => adminUrl)
  return adminClient({ endpoints, token: cluster.setup.ownerToken })
}

export async function owesNoCopyWithin(cluster: ProcessCluster, waitMs: number): Promise<boolean> {
  const giveUpAt = performance.now() + waitMs
  const admin = adminOf(cluster)
  try {
    while (performance.now() < giveUpAt) {
      if (await owesNothing(admin).catch(() => false)) return true
      await wait(POLL_MS)
    }
    return false
  } finally {
    await admin.close()
  }
}

async function owesNothing(admin: AdminClient): Promise<boolean> {
  const { nodes } = (await admin.call('getRepair', {})).answer
  const { operations } = (await admin.call('listOperations', {})).answer
  const isIdle = nodes.every(
    ({ pending, waitingForDisk, inventory }) =>
      pending === 0 &&
      waitingForDisk === 0 &&
      inventory !== null &&
      inventory.runs > 0 &&
      !inventory.isRunning,
  )
  return isIdle && operations.every(({ type, finishedAt }) => finishedAt !== null || BACKGROUND.has(type))
}
