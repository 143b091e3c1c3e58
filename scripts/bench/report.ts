/**
 * The figures of one run, and those computed from them.
 *
 * Rule: the durability mode belongs to every figure; a figure that could not be measured is null, never 0.
 */
import type { Anchor, Bounds } from './anchor.ts'
import type { FailoverFigures } from './failover.ts'
import type { LoadResult } from './load.ts'
import type { Row } from './matrix.ts'
import type { ProcessUse } from './processes.ts'
import type { RaftFigures } from './raft.ts'
import { percentile } from './statistics.ts'

/** [architecture: blobs] and [architecture: log]: no request is answered before. */
export const DURABILITY = 'fdatasync on two nodes before the answer'

export interface RowFigures {
  readonly name: string
  readonly durability: string
  readonly clients: number
  readonly seconds: number
  readonly operations: number
  readonly operationsPerSecond: number | null
  readonly megabytesPerSecond: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly errors: number
  readonly firstError: string | null
  readonly nodeCpuSecondsPer1000: number | null
  readonly clientCpuSecondsPer1000: number | null
  readonly peakResidentBytes: readonly number[] | null
  readonly writtenPerStored: number | null
}

export interface Report {
  readonly version: string
  readonly startedAt: string
  readonly node: string
  readonly cores: number
  readonly memoryBytes: number
  /** Load of the last minute, just before the first row: other programs on this machine. Null: unknown. */
  readonly loadBefore: number | null
  readonly durability: string
  readonly syncBefore: Anchor | null
  readonly syncAfter: Anchor | null
  /** The bounds for large objects on this machine. Null: the nodes run elsewhere. */
  readonly bounds: Bounds | null
  readonly rows: readonly RowFigures[]
  readonly failovers: readonly FailoverFigures[]
  /** Null: not chosen. */
  readonly raft: RaftFigures | null
}

export interface Measured {
  readonly load: LoadResult
  readonly nodes: ProcessUse | null
  readonly clientCpuSeconds: number
}

export function figuresOf(row: Row, { load, nodes, clientCpuSeconds }: Measured): RowFigures {
  const sorted = load.latencies.sorted()
  const operations = sorted.length
  const perSecond = operations / load.seconds
  const per1000 = (value: number): number | null => (operations === 0 ? null : (1000 * value) / operations)
  const stored = row.writes ? operations * row.bytes : 0
  return {
    name: row.name,
    durability: DURABILITY,
    clients: row.clients,
    seconds: load.seconds,
    operations,
    operationsPerSecond: perSecond,
    megabytesPerSecond: row.bytes === 0 ? null : (perSecond * row.bytes) / 1e6,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    errors: load.errors,
    firstError: load.firstError,
    nodeCpuSecondsPer1000: nodes === null ? null : per1000(nodes.cpuSeconds),
    clientCpuSecondsPer1000: per1000(clientCpuSeconds),
    peakResidentBytes: nodes?.peakResidentBytes ?? null,
    writtenPerStored: nodes === null || stored === 0 ? null : nodes.writtenBytes / stored,
  }
}
