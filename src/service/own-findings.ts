/**
 * What the doctor finds on this node, for every node that asks.
 *
 * Owns: when the checks run. Rule: they run once at a time, however many nodes ask, because a disk that hangs would keep all of them waiting.
 */
import { Condition } from '../../cluster/index.ts'
import { nodePlace } from '../api/local/node-placement.ts'
import { nodeStatus } from '../api/local/node-status.ts'
import { examineRunning } from '../doctor/examine-running.ts'
import { auditStatus } from '../operations/audit-segments/audit-status.ts'
import { backupStatus } from '../operations/backup-plans/backup-status.ts'
import type { Services } from '../operations/base/services.ts'
import { writeSelfReport } from '../operations/doctor/self-report.ts'

export function openOwnFindings(services: Services): void {
  let running: Promise<Uint8Array> | null = null
  services.cluster.doctors.open(() => {
    running ??= examined(services).finally(() => {
      running = null
    })
    return running
  })
}

async function examined(services: Services): Promise<Uint8Array> {
  const facts = {
    status: nodeStatus(services),
    audit: await known(() => auditStatus(services)),
    backups: await known(() => backupStatus(services)),
    // The disks of a node with several are in the state of repair, which asks all nodes.
    placement: await known(() => ({ place: nodePlace(services), disks: null })),
    now: Date.now(),
  }
  const { config, logger } = services
  const onFault = (err: unknown): void => logger.warn({ err }, 'some checks of the doctor not made')
  return writeSelfReport(await examineRunning(config, facts, onFault))
}

/** Null while the state is being replaced. */
async function known<T>(read: () => T | Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof Condition) return null
    throw cause
  }
}
