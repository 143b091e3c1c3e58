/**
 * The limits of callers on one node, and how it shares their use with the others.
 *
 * Owns: the wiring of src/limits/ and the gossip of the cluster. Knows nothing of: what is limited.
 */
import { getHeapStatistics } from 'node:v8'
import type { Cluster, Logger, MetricSample } from '../../cluster/index.ts'
import type { NativeAccess } from '../access/native-access.ts'
import type { Config } from '../config/types.ts'
import type { ObjectContent } from '../content/object-content.ts'
import { limitSamples } from '../limits/limit-samples.ts'
import { Limits } from '../limits/limits.ts'
import type { MemoryLevel, MemoryUse } from '../limits/memory-gate.ts'
import { SharedUse } from '../limits/shared-use.ts'
import type { View } from '../state-machine/base/view.ts'
import { memoryOfProcess } from '../store/rows/level-sizes.ts'

/** Of the memory of the machine or the container; the rest is for caches of LevelDB, code, and the system. */
const MEMORY_SHARE = 0.6

const now = (): number => performance.now()

export interface NodeLimits {
  readonly limits: Limits
  readonly samples: () => readonly MetricSample[]
}

function measureMemory({ heldBytes }: Pick<ObjectContent, 'heldBytes'>): MemoryUse {
  const { heapUsed: heap, external } = process.memoryUsage()
  return { heap, heapMax: getHeapStatistics().heap_size_limit, external: external + heldBytes }
}

export function openLimits(
  { callers: settings, metrics, limits: { memoryBytesMax } }: Pick<Config, 'callers' | 'metrics' | 'limits'>,
  parts: {
    readonly cluster: Pick<Cluster, 'gossip'>
    readonly access: Pick<NativeAccess, 'adminRequests'>
    readonly state: View
    readonly content: Pick<ObjectContent, 'heldBytes'>
    readonly logger: Logger
  },
): NodeLimits {
  const { cluster, access, state, content, logger } = parts
  const bytesMax = memoryBytesMax === 0 ? MEMORY_SHARE * memoryOfProcess() : memoryBytesMax
  const onLevel = (level: MemoryLevel, use: MemoryUse): void =>
    logger.warn({ level, ...use, bytesMax }, 'memory for requests')
  const measure = (): MemoryUse => measureMemory(content)
  const limits = new Limits({ settings, state, memory: { bytesMax, measure, onLevel }, now })
  const callers = [limits.tenants, limits.accessKeys, limits.addresses]
  const onReport = (): void => limits.turns.advance()
  cluster.gossip.open(new SharedUse({ callers, tokens: access.adminRequests, onReport, now }))
  const samples = (): readonly MetricSample[] =>
    limitSamples(limits, { isPerTenant: metrics.perTenant, nowMs: now() })
  return { limits, samples }
}
