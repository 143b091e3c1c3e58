/** What the settings of a node mean for the machine under it. */
import type { createCluster } from '../../cluster/index.ts'
import type { KeyNames } from '../access/provided-keys.ts'
import { VERSION } from '../base/version.ts'
import type { Config } from '../config/types.ts'

export function clusterOptions(
  config: Config,
  keys: KeyNames & { readonly metadataKey?: Uint8Array | null },
  isJoining: boolean,
): Parameters<typeof createCluster>[0] {
  const { directIoFromBytes } = config.node
  return {
    clusterId: config.cluster.id,
    nodeId: config.node.id,
    dataDir: config.node.dataDir,
    blobDirectories: config.node.blobDirectories,
    directIoFromBytes: directIoFromBytes === 0 ? Number.POSITIVE_INFINITY : directIoFromBytes,
    witnessDir: config.node.witnessDir,
    raftThread: config.node.raftThread,
    metadataKey: keys.metadataKey ?? null,
    listen: config.listeners.peer,
    members: config.cluster.members,
    isJoining,
    version: VERSION,
    tls: config.peerTls,
    fingerprint: keys.fingerprint,
    olderFingerprints: keys.fingerprints.slice(1),
    heartbeatMs: config.cluster.heartbeatMs,
    electionTimeoutMs: config.cluster.electionTimeoutMs,
    clockSkewMaxMs: config.cluster.clockSkewMaxMs,
    logKeepEntries: config.cluster.logKeepEntries,
    logKeepBytes: config.cluster.logKeepBytes,
    logPinBytes: config.cluster.logPinBytes,
    diskThresholds: config.disk,
    scrubEveryMs: config.repair.scrubEveryMs,
    timesEntries: config.tracing !== null,
  }
}
