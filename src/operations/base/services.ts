/**
 * What an operation may use: ports only.
 *
 * Owns: the bundle that the composition root fills and every operation receives as its first argument.
 * Knows nothing of: fastify, sockets, LevelDB.
 */
import type { Cluster, Logger } from '../../../cluster/index.ts'
import type { Access } from '../../access/access.ts'
import type { AuditTrail } from '../../audit/audit-trail.ts'
import type { SiteSecrets } from '../../access/site-secrets.ts'
import type { OpenTarget } from '../../backup/targets/open-target.ts'
import type { TargetBook } from '../../backup/targets/target-book.ts'
import type { MasterKey } from '../../access/master-key.ts'
import type { MasterKeyReport } from '../../access/master-key-report.ts'
import type { Config } from '../../config/types.ts'
import type { Content } from '../../content/content.ts'
import type { Limits } from '../../limits/limits.ts'
import type { Propose } from '../../commands/propose.ts'
import type { StateReader } from '../../store/reads/state-reader.ts'
import type { AuditSegments } from '../audit-segments/audit-segments.ts'
import type { Prometheus } from '../../telemetry/history/prometheus.ts'
import type { OpenSite } from './remote-store.ts'
import type { ReplicaCounter } from './replica-counts.ts'
import type { WritesInProgress } from './writes-in-progress.ts'

export interface Services {
  readonly config: Config
  readonly cluster: Pick<
    Cluster,
    | 'nodeId'
    | 'clusterId'
    | 'time'
    | 'membership'
    | 'reachesLevel'
    | 'readBarrier'
    | 'readiness'
    | 'repairStatuses'
    | 'histories'
    | 'doctors'
    | 'orderDisk'
    | 'diskPlaces'
    | 'placement'
  >
  readonly state: StateReader
  /** Encodes, replicates, decodes. Throws Condition, and Refusal where a member does not know the command yet; refusals of apply are replies. */
  readonly propose: Propose
  readonly access: Access
  /** Admission is for the edge: operations do not know that their callers are limited. */
  readonly limits: Pick<Limits, 'admit' | 'fieldsOf' | 'reportOf'>
  readonly content: Content
  readonly openSite: OpenSite
  /** For charts of longer than an hour. Null: none is configured. */
  readonly prometheus: Pick<Prometheus, 'read' | 'close'> | null
  readonly siteSecrets: SiteSecrets
  readonly auditSegments: Pick<AuditSegments, 'open' | 'walk'>
  readonly writesInProgress: WritesInProgress
  readonly replicaCounter: Pick<ReplicaCounter, 'look'>
  /** Depend only on the master keys and the label, so every node has the same. For seals such as paging tokens. */
  readonly signing: Pick<MasterKey, 'signingKey' | 'verifyingKeys'>
  /** Their names, without any key. */
  readonly masterKeys: MasterKeyReport
  /** Where backups lie, and the keys that open their manifests. */
  readonly backups: {
    readonly openTarget: OpenTarget
    /** For new places of targets; a dry run marks none. */
    readonly book: Pick<TargetBook, 'mark' | 'probe' | 'secretOf'>
    readonly masterKey: Pick<MasterKey, 'open' | 'seal'>
  }
  /** Aborted when the node begins to stop, for callers that wait. */
  readonly stopping: AbortSignal
  /** For the edge: operations do not know that they are audited. */
  readonly audit: AuditTrail
  readonly logger: Logger
}
