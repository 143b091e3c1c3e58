/**
 * Checks of a removed node whose process still runs, and of the log of any node.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../helpers/async.ts'
import type { ProcessCluster } from '../../helpers/process-cluster.ts'
import { objectPath } from './ledger-work.ts'
import { alarmingLines, type LogLine } from './log-alarms.ts'

/** `key`: of an object that there is. */
export async function removedNodeFaults(
  cluster: ProcessCluster,
  nodeId: string,
  key: string,
): Promise<readonly string[]> {
  if (!cluster.isRunning(nodeId)) return [`${nodeId} has ended`]
  await until(`${nodeId} knows that it has left`, async () =>
    /removed from the cluster|[Aa]nother data directory/.test((await cluster.unreadiness(nodeId)) ?? ''),
  )
  const { status } = await cluster.call(nodeId, 'GET', objectPath(key))
  const parts = ['state', 'blobs'].filter((part) => !existsSync(join(cluster.node(nodeId).dataDir, part)))
  return [
    ...(status === 503 ? [] : [`${nodeId} answers ${status} to a read`]),
    ...parts.map((part) => `${nodeId} has no ${part} any more`),
  ]
}

interface Logs {
  readonly cluster: ProcessCluster
  readonly isExpected: (nodeId: string, line: LogLine) => boolean
}

export function logFaults({ cluster, isExpected }: Logs, nodeId: string): readonly string[] {
  const log = readFileSync(cluster.node(nodeId).logFile, 'utf8')
  return alarmingLines(log, (line) => isExpected(nodeId, line)).map((line) => `${nodeId}: ${line}`)
}
