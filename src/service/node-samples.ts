/**
 * The figures of all components of one node, for /metrics. Knows nothing of: how they are served.
 */
import type { Cluster, MetricSample } from '../../cluster/index.ts'
import type { NativeAccess } from '../access/native-access.ts'
import type { CountingTrail } from '../audit/counting-trail.ts'
import { approvalSamples } from '../operations/approvals/approval-samples.ts'
import type { Services } from '../operations/base/services.ts'
import { valueSamples } from '../store/reads/value-samples.ts'
import type { Work } from '../workers/all-workers.ts'
import type { KeyKeeper } from '../workers/key-keeper.ts'
import type { KeyProviderWatch } from '../workers/key-provider-watch.ts'
import type { NodeLimits } from './node-limits.ts'

export interface SampledParts {
  readonly cluster: Cluster
  readonly work: Work
  readonly keyKeeper: KeyKeeper
  readonly keyWatch: KeyProviderWatch
  readonly audit: CountingTrail
  readonly limits: NodeLimits
  readonly access: NativeAccess
  readonly state: Services['state']
}

export function samplesOf(parts: SampledParts): () => Promise<readonly MetricSample[]> {
  const { cluster, work, keyKeeper, keyWatch, audit, limits, access, state } = parts
  return async () => [
    ...[
      await cluster.metrics(),
      work.samples(),
      keyKeeper.samples(),
      keyWatch.samples(),
      limits.samples(),
      access.samples(),
    ].flat(),
    ...audit.samples(cluster.time.now()),
    ...approvalSamples(state, cluster.time.now()),
    ...valueSamples(state),
  ]
}
