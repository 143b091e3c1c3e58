/**
 * An entry that no node can apply, committed as a leader would have left it: at the same place of the log of every stopped node.
 *
 * Owns: reading and writing the logs with the product's own code. Rule: entries that one node has and another does not have are copied first, so that the
 * logs are such as replication could have left them.
 */
import { join } from 'node:path'
import { findIdentity, type Identity } from '../../cluster/directory/identity.ts'
import type { Entry } from '../../cluster/raft/types.ts'
import { nodeFileOps } from '../../cluster/wal/file-ops.ts'
import { recoverLog } from '../../cluster/wal/recovery.ts'
import { SegmentedLog } from '../../cluster/wal/segmented-log.ts'
import type { WalContent } from '../../cluster/wal/wal.ts'

interface StoppedLog {
  readonly dataDir: string
  readonly identity: Identity
  readonly content: WalContent
}

async function logIn(dataDir: string): Promise<StoppedLog> {
  const identity = await findIdentity(dataDir)
  if (identity === null) throw new Error(`no node has used ${dataDir}`)
  return {
    dataDir,
    identity,
    content: recoverLog(nodeFileOps, { ...identity, dir: join(dataDir, 'raft') }).content,
  }
}

function lastOf({ content }: StoppedLog): { readonly index: number; readonly term: number } {
  return content.entries.at(-1) ?? content.base
}

/** The entry as it is in the logs now. `behind`: the nodes that have not received it. */
export async function poison(
  dataDirs: readonly string[],
  data: Uint8Array,
  { behind = [] }: { readonly behind?: readonly string[] } = {},
): Promise<Entry> {
  const logs = await Promise.all(dataDirs.map(logIn))
  const longest = logs.reduce((best, log) => (lastOf(log).index > lastOf(best).index ? log : best))
  const term = Math.max(...logs.map(({ content }) => content.hardState.currentTerm)) + 1
  const entry: Entry = { index: lastOf(longest).index + 1, term, kind: 'command', data }
  for (const log of logs.filter(({ dataDir }) => !behind.includes(dataDir))) {
    const missing = longest.content.entries.filter(({ index }) => index > lastOf(log).index)
    append(log, [...missing, entry])
  }
  return entry
}

/** All of them voted for the node whose log is the first. */
function append({ dataDir, identity, content }: StoppedLog, entries: readonly Entry[]): void {
  const { clusterId, nodeId, incarnation } = identity
  const log = new SegmentedLog({ dir: join(dataDir, 'raft'), clusterId, nodeId, incarnation, now: () => 0 })
  log.open()
  const term = entries.at(-1)?.term ?? content.hardState.currentTerm
  log.append([{ sequence: 1, hardState: { currentTerm: term, votedFor: 'n1' }, base: null, entries }])
  log.close()
}
