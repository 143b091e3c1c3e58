/**
 * The background work on the audit log: counts and rows into the replicated log, rows into segments, segments outside, and the end of old ones.
 *
 * Owns: the list. Knows nothing of: how each is done.
 */
import type { Cluster, MetricSample } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { CountingTrail } from '../audit/counting-trail.ts'
import type { Propose } from '../commands/propose.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { AuditExporting, type AuditExportingParts } from './audit-export/audit-exporting.ts'
import type { ExportTarget } from './audit-export/export-target.ts'
import { AuditSealing, type AuditSealingParts } from './audit-sealing.ts'
import { AuditShipping } from './audit-shipping.ts'
import { AuditTrimming } from './audit-trimming.ts'
import type { Repeating } from './repeating.ts'

export interface AuditWorkParts {
  /** How long a row of the audit log is kept. ms */
  readonly auditKeepMs: number
  /** Of one copy of its segments; 0: no bound. */
  readonly auditBytesMax: number
  readonly audit: CountingTrail
  readonly auditSegments: AuditExportingParts['segments']
  /** Null: the audit log stays inside. */
  readonly auditTarget: ExportTarget | null
  readonly cluster: Cluster
  readonly state: StateReader
  readonly propose: Propose
  readonly masterKey: Pick<MasterKey, 'seal'>
  /** The content that belongs to the cluster itself. */
  readonly own: AuditSealingParts['content']
  /** ms since 1970 */
  readonly confirmedTime: () => number
  readonly often: Pick<Repeating, 'everyMs' | 'logger'>
}

export interface AuditWork {
  readonly workers: readonly Repeating[]
  readonly samples: () => readonly MetricSample[]
  readonly close: () => Promise<void>
}

export function auditWork(parts: AuditWorkParts): AuditWork {
  const { audit, own: content, confirmedTime, often } = parts
  const { logger } = often
  const { nodeId: node } = parts.cluster
  const monotonic = (): number => performance.now()
  const shipping = new AuditShipping({ ...parts, node, spools: audit.spools, logger })
  const trimming = new AuditTrimming({
    ...parts,
    keepMs: parts.auditKeepMs,
    bytesMax: parts.auditBytesMax,
    logger,
  })
  const sealing = new AuditSealing({ ...parts, content, now: confirmedTime, monotonic, logger })
  const exporting = createExporting(parts)
  const sweep = async (): Promise<false> => {
    audit.sweep()
    return false
  }
  return {
    workers: [
      { name: 'audit counting', work: sweep, ...often },
      { name: 'audit shipping', work: () => shipping.round(), ...often },
      { name: 'audit sealing', work: () => sealing.round(), ...often },
      ...(exporting === null ? [] : [{ name: 'audit export', work: () => exporting.round(), ...often }]),
      { name: 'audit trimming', work: () => trimming.round(), ...often },
    ],
    samples: () => [...sealing.samples(), ...trimming.samples(), ...(exporting?.samples() ?? [])],
    close: async () => exporting?.close(),
  }
}

function createExporting(parts: AuditWorkParts): AuditExporting | null {
  const { auditTarget: target, auditSegments: segments, cluster, often } = parts
  if (target === null) return null
  const clocks = { now: () => cluster.time.now(), monotonic: () => performance.now() }
  return new AuditExporting({ ...parts, ...clocks, target, segments, logger: often.logger })
}
