/**
 * How a running node stands, for the command line of its own machine.
 *
 * Owns: the shape of the answer. Rule: nothing here needs a quorum, so that it can be asked of a node in trouble.
 */
import { Condition } from '../../../cluster/index.ts'
import type { Services } from '../../operations/base/services.ts'
import { VERSION } from '../../base/version.ts'
import { tenantKeys } from '../../state-machine/tenants/keys.ts'

/** What `GET /audit/standing` answers. */
export type { AuditStatus } from '../../operations/audit-segments/audit-status.ts'

/** What `GET /backups/status` answers. */
export type { BackupStatus } from '../../operations/backup-plans/backup-status.ts'

export interface NodeStatus {
  readonly nodeId: string
  readonly clusterId: string
  readonly pid: number
  readonly version: string
  readonly nodeVersion: string
  readonly isReady: boolean
  /** What is missing, in sentences. */
  readonly reasons: readonly string[]
  /** The others never accept a message of this data directory again. Absent: of an older node. */
  readonly hasLeft?: boolean
  /** As in the configuration that it was started with. */
  readonly listeners: { readonly data: string; readonly admin: string; readonly peer: string }
  /** Of the master key that the cluster seals with; null: not known yet. */
  readonly masterKeyFingerprint: string | null
}

export function nodeStatus({ cluster, config, state }: Services): NodeStatus {
  const { ready, reasons, expelled = null } = cluster.readiness()
  const { data, admin, peer } = config.listeners
  return {
    nodeId: cluster.nodeId,
    clusterId: cluster.clusterId,
    pid: process.pid,
    version: VERSION,
    nodeVersion: process.versions.node,
    isReady: ready,
    reasons,
    hasLeft: expelled !== null,
    listeners: { data, admin, peer },
    masterKeyFingerprint: fingerprintIn(state),
  }
}

function fingerprintIn(state: Services['state']): string | null {
  try {
    return state.get(tenantKeys.clusterKey())?.masterKeyFingerprint ?? null
  } catch (cause) {
    // The state is damaged and being replaced: that is among the reasons.
    if (cause instanceof Condition) return null
    throw cause
  }
}
