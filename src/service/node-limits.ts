/**
 * The limits of callers on one node, and how it shares their use with the others.
 *
 * Owns: the wiring of src/limits/ and the gossip of the cluster. Knows nothing of: what is limited.
 */
import type { Cluster, MetricSample } from '../../cluster/index.ts'
import type { NativeAccess } from '../access/native-access.ts'
import type { Config } from '../config/types.ts'
import { limitSamples } from '../limits/limit-samples.ts'
import { Limits } from '../limits/limits.ts'
import { SharedUse } from '../limits/shared-use.ts'
import type { View } from '../state-machine/base/view.ts'

const now = (): number => performance.now()

export interface NodeLimits {
  readonly limits: Limits
  readonly samples: () => readonly MetricSample[]
}

export function openLimits(
  { callers: settings, metrics }: Pick<Config, 'callers' | 'metrics'>,
  parts: {
    readonly cluster: Pick<Cluster, 'gossip'>
    readonly access: Pick<NativeAccess, 'adminRequests'>
    readonly state: View
  },
): NodeLimits {
  const { cluster, access, state } = parts
  const limits = new Limits({ settings, state, now })
  const callers = [limits.tenants, limits.accessKeys, limits.addresses]
  const onReport = (): void => limits.turns.advance()
  cluster.gossip.open(new SharedUse({ callers, tokens: access.adminRequests, onReport, now }))
  const samples = (): readonly MetricSample[] =>
    limitSamples(limits, { isPerTenant: metrics.perTenant, nowMs: now() })
  return { limits, samples }
}
